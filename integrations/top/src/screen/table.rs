//! The rows, in the columns that a width has room for, as lines.

use std::fmt::Write;

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Theme;
use super::texts::{cut, width};
use super::words::{Moments, sentence};
use crate::format::{Unit, clock, percent, rate, short, sparkline};
use crate::model::{Health, Model, Row, health_of};
use crate::view::{Column, View};

/// The columns beside the series, the most needed first, with their widths.
const WANTED: [(Column, usize); 9] = [
    (Column::Rate, 7),
    (Column::Since, 6),
    (Column::Failing, 7),
    (Column::P99, 7),
    (Column::Refused, 7),
    (Column::Now, 7),
    (Column::Total, 7),
    (Column::P50, 7),
    (Column::Max, 7),
];

/// The widths of the line of the last minute.
const LEAST_SPARK: usize = 12;

const MOST_SPARK: usize = 60;

/// The columns that a width has room for.
pub(crate) struct Columns {
    series: usize,
    others: Vec<(Column, usize)>,
    /// The width of the line of the last minute; zero in a narrow terminal.
    spark: usize,
}

/// Returns the columns for a width.
pub(crate) fn columns(width: u16, model: &Model) -> Columns {
    let width = usize::from(width);
    // Columns that are empty anyway stay away.
    let is_used = |column: Column| {
        matches!(column, Column::Rate | Column::Since)
            || model.rows.values().any(|row| column.number(row).is_some())
    };
    let mut left = width.saturating_sub(14.max(width * 3 / 10));
    let (mut chosen, mut spark) = (Vec::new(), 0);
    for (place, (column, wide)) in WANTED.into_iter().enumerate() {
        if place == 5 && left > LEAST_SPARK {
            spark = LEAST_SPARK;
            left -= LEAST_SPARK + 1;
        }
        if is_used(column) && left > wide {
            chosen.push((column, wide));
            left -= wide + 1;
        }
    }
    if spark > 0 {
        spark += (left / 2).min(MOST_SPARK - LEAST_SPARK);
    }
    let order = |(column, _): &(Column, usize)| Column::ALL.iter().position(|of| of == column);
    chosen.sort_by_key(order);
    let beside = chosen.iter().map(|(_, wide)| *wide).chain((spark > 0).then_some(spark));
    let taken: usize = beside.map(|wide| wide + 1).sum();
    Columns { series: width.saturating_sub(taken), others: chosen, spark }
}

/// Returns the sums of the listed rows, by metric. Means and extremes do not add up.
pub(crate) fn sums(model: &Model, listed: &[&Row], theme: Theme) -> Vec<Line<'static>> {
    let mut sums = vec![None; model.metrics.len()];
    for row in listed {
        if let (Some(sum), Some(own)) = (sums.get_mut(row.metric), row.now) {
            let (now, all, failed, blocked) = sum.get_or_insert((0.0, 0.0, 0.0, 0.0));
            *now += own;
            *all += row.cells.operations;
            *failed += row.cells.failed;
            *blocked += row.cells.blocked;
        }
    }
    let mut spans = Vec::new();
    for (metric, sum) in model.metrics.iter().zip(sums) {
        let Some((now, all, failed, blocked)) = sum else { continue };
        let name = format!("{} ", metric.name.as_str());
        spans.extend([Span::styled(name, theme.soft()), Span::raw(format!("{}/s now", rate(now)))]);
        if all > 0.0 {
            let style = style_of(health_of(Some(failed / all)), theme);
            spans.extend([Span::raw(" "), Span::styled(percent(failed / all), style)]);
            spans.push(Span::raw(" failing"));
            if metric.block.is_some() {
                spans.push(Span::raw(format!(" {} refused", percent(blocked / all))));
            }
        }
        spans.push(Span::raw("  "));
    }
    if spans.is_empty() { vec![] } else { vec![Line::from(spans)] }
}

/// Returns the titles of the columns; the one that the rows are sorted by has an arrow.
pub(crate) fn titles(columns: &Columns, view: &View, theme: Theme) -> Line<'static> {
    let arrow = if view.rises { '\u{2191}' } else { '\u{2193}' };
    let title = |column: Column| {
        let sorted = if column == view.sort { String::from(arrow) } else { String::new() };
        sorted + column.title()
    };
    // Writing to a `String` cannot fail.
    let mut text = pad(&title(Column::Series), columns.series);
    for (column, wide) in &columns.others {
        let _ = write!(text, " {:>wide$}", cut(&title(*column), *wide));
    }
    if columns.spark > 0 {
        let _ = write!(text, " {}", pad("last minute", columns.spark));
    }
    Line::styled(text, if theme.has_colours { Theme::reversed() } else { Theme::bold() })
}

fn pad(text: &str, wide: usize) -> String {
    let cut = cut(text, wide);
    let blank = wide.saturating_sub(width(&cut));
    cut + &" ".repeat(blank)
}

fn style_of(health: Health, theme: Theme) -> Style {
    match health {
        Health::None => theme.soft(),
        Health::Good => theme.good(),
        Health::Warn => theme.warn(),
        Health::Bad => theme.bad(),
    }
}

/// Returns a row.
pub(crate) fn row(
    row: &Row,
    columns: &Columns,
    model: &Model,
    is_selected: bool,
    theme: Theme,
) -> Line<'static> {
    let health = row.health();
    let mark = match health {
        Health::None | Health::Good => '\u{25cf}',
        Health::Warn => '\u{25b2}',
        Health::Bad => '\u{25a0}',
    };
    let left = columns.series.saturating_sub(2);
    let name = cut(row.name.as_str(), left);
    let metric = model.metrics.get(row.metric).map_or("", |metric| metric.name.as_str());
    let beside = left.saturating_sub(width(&name) + 1);
    let metric = if name == metric || beside < 4 { String::new() } else { cut(metric, beside) };
    let blank = left.saturating_sub(width(&name) + 1 + width(&metric));
    let mut spans = vec![
        Span::styled(format!("{mark} "), style_of(health, theme)),
        Span::raw(name),
        Span::styled(format!(" {metric}{}", " ".repeat(blank)), theme.soft()),
    ];
    for (column, wide) in &columns.others {
        let text = format!(" {:>wide$}", cut(&cell(*column, row, model), *wide));
        let style = match column {
            Column::Failing | Column::Since => style_of(health, theme),
            _ => Style::new(),
        };
        spans.push(Span::styled(text, style));
    }
    if columns.spark > 0 {
        let points = row.points.iter().map(|(at, level)| (model.last.age - at, *level));
        let line = format!(" {}", sparkline(points, columns.spark));
        spans.push(Span::styled(line, theme.mark()));
    }
    let line = Line::from(spans);
    if is_selected { line.style(Theme::reversed()) } else { line }
}

/// Returns a number of a row as text.
fn cell(column: Column, row: &Row, model: &Model) -> String {
    let unit = model.metrics.get(row.metric).map_or(Unit::None, |metric| metric.unit);
    let number = match column {
        // A counter has no closed buckets.
        Column::Rate => column.number(row).or(row.now),
        _ => column.number(row),
    };
    let Some(number) = number else { return String::new() };
    match column {
        Column::Since => row.changes.first().map_or(String::new(), |change| clock(change.since)),
        Column::Now | Column::Rate => rate(number),
        Column::Failing => percent(number),
        Column::P50 | Column::P99 | Column::Max => short(number, unit),
        Column::Series | Column::Refused | Column::Total => short(number, Unit::None),
    }
}

/// Returns all of the selected row: its key, and its changes or its numbers.
pub(crate) fn detail(
    row: &Row,
    model: &Model,
    moments: Moments,
    theme: Theme,
) -> Vec<Line<'static>> {
    let changes: Vec<String> = row.changes.iter().map(|change| sentence(change, moments)).collect();
    let number = |column: &Column| {
        let text = cell(*column, row, model);
        (!text.is_empty()).then(|| format!("{} {text}", column.title()))
    };
    let says = if changes.is_empty() {
        let numbers: Vec<String> = Column::ALL.iter().filter_map(number).collect();
        numbers.join(", ")
    } else {
        changes.join("; ")
    };
    vec![Line::styled(row.key.as_str().to_owned(), theme.soft()), Line::raw(says)]
}

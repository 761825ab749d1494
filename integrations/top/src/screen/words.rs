//! The sentences of the screen, as lines.

use std::fmt::Write;
use std::time::{Duration, Instant};

use ratatui::text::{Line, Span};

use super::Theme;
use super::texts::{cut, wrap};
use crate::app::{Lost, State};
use crate::format::{Unit, between, clock, percent, short, span};
use crate::frame::{Change, Heavy, HeavySpan, Owners};
use crate::model::{MOST_LEFT_OUT, Model, News};
use crate::view::{Mode, View};

/// The number of changes that are said in words; the others are the next rows.
const SAID: usize = 3;

/// The time in milliseconds without an add that is worth a sentence.
const STILL: f64 = 3_000.0;

/// Returns the first line: the service, the state of the connection, the process.
pub(crate) fn head(model: &Model, state: Option<&State>, theme: Theme) -> Line<'static> {
    let mut spans = vec![Span::styled(model.about.service.as_str().to_owned(), Theme::bold())];
    if let Some(state) = state {
        let millis = |age: &Duration| span(age.as_secs_f64() * 1e3);
        let (says, style) = match state {
            State::Connecting => ("connecting".to_owned(), theme.warn()),
            State::Live => ("live".to_owned(), theme.good()),
            State::Paused(age) => (format!("paused, {} old", millis(age)), theme.warn()),
            State::Lost(Some(age), _) => (format!("lost, {} old", millis(age)), theme.bad()),
            State::Lost(None, _) => ("lost".to_owned(), theme.bad()),
        };
        spans.extend([Span::raw("  "), Span::styled(says, style)]);
    }
    // Writing to a `String` cannot fail.
    let since = if model.about.is_of_files { "watched for" } else { "up" };
    let mut about = format!("  {since} {}{}", span(model.last.age), processes(model.last.owners));
    let covered = model.rows.values().map(|row| row.span).fold(0.0, f64::max);
    if covered > 0.0 {
        let _ = write!(about, ", windows of {}", span(covered / 1e6));
    }
    for (what, name) in [("version ", &model.about.version), ("", &model.about.instance)] {
        if !name.as_str().is_empty() {
            let _ = write!(about, ", {what}{}", name.as_str());
        }
    }
    spans.push(Span::styled(about, theme.soft()));
    Line::from(spans)
}

/// Returns the processes of files, if any has a slot.
fn processes(Owners { live, ended }: Owners) -> String {
    let live = match (live, ended) {
        (0, 0) => return String::new(),
        (0, _) => ", no process lives".to_owned(),
        (1, _) => ", 1 process lives".to_owned(),
        _ => format!(", {live} processes live"),
    };
    match ended {
        0 => live,
        1 => live + ", 1 has ended",
        _ => format!("{live}, {ended} have ended"),
    }
}

/// Returns why nothing is added to files, as far as their slots tell.
fn reason(Owners { live, ended }: Owners) -> String {
    match (live, ended) {
        (0, 0) => "all processes rest, hang or have ended".to_owned(),
        (0, _) => "all processes that had a slot have ended".to_owned(),
        (1, _) => "the process that has a slot lives, and rests or hangs".to_owned(),
        _ => format!("{live} processes that have slots live, and rest or hang"),
    }
}

/// Returns what is to be known about the numbers themselves.
pub(crate) fn news(model: &Model, theme: Theme) -> Vec<Line<'static>> {
    let mut all = Vec::new();
    if model.last.still >= STILL {
        let long = span(model.last.still);
        all.push(format!("Nothing was added for {long}: {}.", reason(model.last.owners)));
    }
    match model.news {
        Some((News::Restarted(at), _)) => {
            let of_files = model.about.is_of_files;
            let what = if of_files { "A file was replaced" } else { "The service was restarted" };
            all.push(format!("{what} at {} UTC: its counters began at zero.", clock(at)));
        }
        Some((News::TwoProcesses, _)) => {
            let says =
                "Two processes answer at this address: the numbers are those of one of them.";
            all.push(says.to_owned());
        }
        None => {}
    }
    let left_out = model.left_out.len();
    if left_out > 0 {
        let or_more = if left_out < MOST_LEFT_OUT { "" } else { " or more" };
        let says = "further series are not shown: there are too many.";
        all.push(format!("{left_out}{or_more} {says}"));
    }
    let failing = model.failing.map(|(id, by)| {
        let key = model.rows.get(&id).map_or("", |row| row.key.as_str());
        Line::styled(format!("Readings disagree by {by}: {key}."), theme.bad())
    });
    let others = all.into_iter().map(|says| Line::styled(says, theme.warn()));
    failing.into_iter().chain(others).collect()
}

/// Returns why there are no new numbers.
pub(crate) fn waiting(state: &State, now: Instant, theme: Theme) -> Option<Line<'static>> {
    let says = match state {
        State::Connecting => "connecting".to_owned(),
        State::Lost(_, Some(Lost { why, next })) => {
            let left = next.saturating_duration_since(now).as_secs_f64().ceil();
            let next = format!("next attempt in {left} s");
            let what = if left > 0.0 { &*next } else { "connecting again" };
            format!("{what}: {}", why.as_str())
        }
        State::Lost(_, None) => "no frame comes".to_owned(),
        State::Live | State::Paused(_) => return None,
    };
    Some(Line::styled(says, theme.warn()))
}

/// The moment of the numbers that are shown, and the present one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moments {
    /// In milliseconds since 1970.
    then: f64,
    now: f64,
    is_live: bool,
}

impl Moments {
    /// Returns the moments of a model whose numbers have an age, if no newer ones come.
    pub(crate) fn of(model: &Model, age: Option<Duration>) -> Moments {
        let passed = age.unwrap_or_default().as_secs_f64() * 1e3;
        Moments { then: model.last.time, now: model.last.time + passed, is_live: age.is_none() }
    }

    /// Returns the words that something was so when the numbers came, if that is not now.
    fn as_of(self) -> String {
        let ago = span(self.now - self.then);
        if self.is_live { String::new() } else { format!(", as of {ago} ago") }
    }
}

/// Returns what is unusual, in words.
pub(crate) fn unusual(
    model: &Model,
    moments: Moments,
    width: u16,
    theme: Theme,
) -> Vec<Line<'static>> {
    let unusual = &model.last.unusual;
    let known = |change: &&Change| model.rows.contains_key(&change.row);
    let shown: Vec<&Change> = unusual.list.iter().filter(known).take(SAID).collect();
    let mut lines = Vec::new();
    for change in &shown {
        let style = match change.what.as_str() {
            "failing" => theme.bad(),
            "slow" | "quiet" => theme.warn(),
            _ => theme.mark(),
        };
        let name = model.rows.get(&change.row).map_or("", |row| row.name.as_str());
        let says = format!("{} {}", cut(name, 60), sentence(change, moments));
        let wrapped = wrap(&says, usize::from(width).saturating_sub(2), 3);
        lines.extend(wrapped.into_iter().enumerate().map(|(at, text)| {
            let mark = if at == 0 { "! " } else { "  " };
            Line::from(vec![Span::styled(mark, style), Span::styled(text, style)])
        }));
    }
    let partly = if unusual.compared > 0 && unusual.compared < unusual.windows {
        format!(
            " ({} of {} windows have a past to compare with)",
            unusual.compared, unusual.windows
        )
    } else {
        String::new()
    };
    let said = shown.len() as u64;
    let rest = match unusual.calm {
        _ if unusual.changes > said => format!("and {} more{partly}", unusual.changes - said),
        _ if unusual.changes > 0 => partly.trim_start().to_owned(),
        _ if unusual.windows == 0 => String::new(),
        Some(calm) if unusual.compared > 0 => {
            let since = moment(calm, moments.now);
            format!("Nothing unusual since {since}{}{partly}.", moments.as_of())
        }
        _ => "Nothing to compare with yet: that takes a quarter of an hour.".to_owned(),
    };
    if !rest.is_empty() {
        let wrapped = wrap(&rest, usize::from(width), 2);
        lines.extend(wrapped.into_iter().map(|text| Line::styled(text, theme.soft())));
    }
    lines
}

/// Returns a change in words, without its row: its beginning, the time that it had lasted when the
/// numbers came, and, if that is not now, their age.
pub(super) fn sentence(change: &Change, moments: Moments) -> String {
    let course = match change.course.as_str() {
        "worse" => ", getting worse",
        "better" => ", getting better",
        _ => "",
    };
    let long = span(f64::max(moments.then - change.since, 0.0));
    let (says, since) = (change.says.as_str(), moment(change.since, moments.now));
    format!("{says} since {since} ({long}{}){course}", moments.as_of())
}

/// Returns a time of today, of yesterday, or of a day before that.
fn moment(time: f64, now: f64) -> String {
    let day = |time: f64| (time / 86_400e3).floor();
    let at = clock(time);
    match day(now) - day(time) {
        days if days < 1.0 => format!("{at} UTC"),
        days if days < 2.0 => format!("yesterday {at} UTC"),
        days => format!("{at} UTC, {days} days ago"),
    }
}

/// Returns the heavy keys of the shortest span of each name.
pub(crate) fn heavy(model: &Model, theme: Theme) -> Vec<Line<'static>> {
    let horizon = |of: &HeavySpan| match of.millis {
        60e3 => "last minute".to_owned(),
        3_600e3 => "last hour".to_owned(),
        86_400e3 => "last day".to_owned(),
        other => format!("last {}", span(other)),
    };
    let key = |total: f64, (key, least, most): &(crate::legible::Legible, f64, f64)| {
        let weight = |weight: f64| short(weight, Unit::None);
        let share =
            |weight: f64| percent(if total > 0.0 { (weight / total).min(1.0) } else { 0.0 });
        let name = if key.as_str().is_empty() { "(empty)" } else { key.as_str() };
        let weights = between(weight(*least), &weight(*most));
        format!("{} {weights} ({})", cut(name, 40), between(share(*least), &share(*most)))
    };
    let line = |heavy: &Heavy| {
        let span = heavy.spans.first()?;
        let total = short(span.total, Unit::None);
        let head = format!("{}, {}, {total} in all: ", heavy.name.as_str(), horizon(span));
        let keys: Vec<String> = span.keys.iter().map(|of| key(span.total, of)).collect();
        Some(Line::from(vec![Span::styled(head, theme.soft()), Span::raw(keys.join(", "))]))
    };
    model.last.heavy.iter().filter_map(line).collect()
}

/// Returns the last line: the keys, or what is typed.
pub(crate) fn foot(view: &View, listed: usize, all: usize, theme: Theme) -> Line<'static> {
    let keys = "F1 help  F3 search  / filter  F6 sort  Space pause  q quit";
    let filter = &view.filter;
    match view.mode {
        Mode::Filter => Line::raw(format!("filter: {filter}_  ({listed} of {all})")),
        Mode::Search => Line::raw(format!("search: {}_  (F3 finds the next one)", view.search)),
        Mode::Table | Mode::Help if filter.is_empty() => Line::styled(keys, theme.soft()),
        Mode::Table | Mode::Help => Line::from(vec![
            Span::styled(format!("filter: {filter} ({listed} of {all})  "), theme.warn()),
            Span::styled(keys, theme.soft()),
        ]),
    }
}

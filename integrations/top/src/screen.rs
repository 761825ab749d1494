//! The screen: the changes in words, the rows, the heavy keys.

mod help;
pub(crate) mod table;
#[cfg(test)]
mod tests;
pub(crate) mod texts;
pub(crate) mod words;

use std::time::Instant;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;

use crate::app::App;
use crate::view::Mode;

/// The least heights at which sums and further sentences, the selected row, and heavy keys are
/// shown.
const FOR_SUMS: u16 = 12;
const FOR_DETAIL: u16 = 16;
const FOR_HEAVY: u16 = 20;

/// The greatest number of lines of heavy keys.
const MOST_HEAVY: usize = 4;

/// The styles, with or without colours.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Theme {
    has_colours: bool,
}

impl Theme {
    /// Returns the theme without colours.
    pub(crate) fn plain() -> Theme {
        Theme { has_colours: false }
    }

    /// Returns the theme for a value of `NO_COLOR`; an empty one counts as none.
    pub(crate) fn of(no_color: Option<&str>) -> Theme {
        Theme { has_colours: no_color.is_none_or(str::is_empty) }
    }

    fn colour(self, colour: Color) -> Style {
        if self.has_colours { Style::new().fg(colour) } else { Style::new() }
    }

    fn good(self) -> Style {
        self.colour(Color::Green)
    }

    fn warn(self) -> Style {
        self.colour(Color::Yellow)
    }

    fn bad(self) -> Style {
        self.colour(Color::Red).add_modifier(Modifier::BOLD)
    }

    fn mark(self) -> Style {
        self.colour(Color::Cyan)
    }

    fn soft(self) -> Style {
        self.colour(Color::DarkGray)
    }

    fn bold() -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    fn reversed() -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }
}

/// Draws the screen.
pub(crate) fn draw(buffer: &mut Buffer, area: Rect, app: &mut App, theme: Theme, now: Instant) {
    if area.is_empty() {
        return;
    }
    let mut lines = Lines { buffer, area, next: area.y };
    if app.view.mode == Mode::Help {
        lines.all(&help::lines());
        return;
    }
    let state = app.state(now);
    let mut view = app.view.clone();
    if let Some(model) = app.model() {
        let listed = view.listed(model);
        let place = view.place(&listed);
        lines.push(&words::head(model, Some(&state), theme));
        lines.all(words::waiting(&state, now, theme).as_slice());
        lines.all(&words::news(model, theme));
        let moments = words::Moments::of(model, state.age());
        let unusual = words::unusual(model, moments, area.width, theme);
        let said = if area.height >= FOR_SUMS { unusual.len() } else { unusual.len().min(1) };
        lines.all(&unusual[..said]);
        if area.height >= FOR_SUMS {
            lines.all(&table::sums(model, &listed, theme));
        }
        let mut below = Vec::new();
        if area.height >= FOR_HEAVY {
            below.extend(words::heavy(model, theme).into_iter().take(MOST_HEAVY));
        }
        if area.height >= FOR_DETAIL {
            let row = listed.get(place);
            below.extend(row.map_or(vec![], |row| table::detail(row, model, moments, theme)));
        }
        below.push(words::foot(&view, listed.len(), model.rows.len(), theme));
        let columns = table::columns(area.width, model);
        lines.push(&table::titles(&columns, &view, theme));
        let page = usize::from(lines.left()).saturating_sub(below.len());
        view.scroll(place, listed.len(), page);
        for (at, row) in listed.iter().enumerate().skip(view.top).take(page) {
            lines.push(&table::row(row, &columns, model, at == place, theme));
        }
        let below_at = area.bottom().saturating_sub(u16::try_from(below.len()).unwrap_or(0));
        lines.next = lines.next.max(below_at);
        lines.all(&below);
    } else {
        lines.push(&Line::styled(format!("windrow-top {}", app.address), Theme::bold()));
        lines.all(words::waiting(&state, now, theme).as_slice());
    }
    app.view = view;
}

/// The lines of a screen, from the top.
struct Lines<'b> {
    buffer: &'b mut Buffer,
    area: Rect,
    next: u16,
}

impl Lines<'_> {
    fn push(&mut self, line: &Line<'_>) {
        if self.left() > 0 {
            let (x, width) = (self.area.x, self.area.width);
            let (end, _) = self.buffer.set_line(x, self.next, line, width);
            // To the end of the line, for selected rows.
            let rest = Rect::new(end, self.next, self.area.right().saturating_sub(end), 1);
            self.buffer.set_style(rest, line.style);
            self.next += 1;
        }
    }

    fn all(&mut self, lines: &[Line<'_>]) {
        for line in lines {
            self.push(line);
        }
    }

    fn left(&self) -> u16 {
        self.area.bottom().saturating_sub(self.next)
    }
}

//! The help.

use ratatui::text::Line;

use super::Theme;

const KEYS: [(&str, &str); 11] = [
    ("F6 > <", "sort by the next column, or the one before"),
    ("I", "reverse the order"),
    ("/ F4", "filter: all words must be in the name"),
    ("F3", "search; n finds the next one"),
    ("Esc", "end the filter"),
    ("arrows j k", "select a row"),
    ("PgUp PgDn", "a page up, or down"),
    ("Home End", "the first row, or the last"),
    ("Space", "pause, or go on"),
    ("F1 h", "this help"),
    ("F10 q", "quit"),
];

/// Returns the lines of the help.
pub(super) fn lines() -> Vec<Line<'static>> {
    let key = |(keys, says): &(&str, &str)| Line::raw(format!("{keys:>11}  {says}"));
    let mut lines = vec![Line::styled("Keys", Theme::bold()), Line::default()];
    lines.extend(KEYS.iter().map(key));
    lines.extend(
        [
            "",
            "\u{25a0} fails, 5 % or more; \u{25b2} 1 %, or worse than its past; \u{25cf} less.",
            "The first lines say what is unlike its own past.",
            "Times are UTC. Percentiles are of the interval.",
            "",
            "Any key goes back.",
        ]
        .map(Line::raw),
    );
    lines
}

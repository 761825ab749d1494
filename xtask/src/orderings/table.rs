//! The table in `docs/orderings.md`, and the list of reasons below it: between two marks, written
//! by a run, read by the next.

use std::fmt::Write;
use std::path::Path;

use crate::sources;

const PAGE: &str = "docs/orderings.md";
const MARKS: [&str; 2] = [
    "<!-- what `cargo xtask orderings` has found: begin -->\n",
    "<!-- what `cargo xtask orderings` has found: end -->",
];

/// The columns of a page.
const WIDTH: usize = 100;

/// The result of a run for one order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) site: String,
    /// The weaker order.
    pub(super) order: String,
    /// The model that has noticed, or the number of the reason why none does.
    pub(super) shown_by: String,
}

/// Returns the rows of the last run.
pub(super) fn read(root: &Path) -> Result<Vec<Row>, String> {
    let page = sources::read(&root.join(PAGE))?;
    Ok(rows(sources::cut(&page, MARKS)?[1]))
}

/// Returns whether the list below the table has these reasons.
pub(super) fn has_reasons(root: &Path, reasons: &[String]) -> Result<bool, String> {
    let page = sources::read(&root.join(PAGE))?;
    Ok(sources::cut(&page, MARKS)?[1].ends_with(&list(reasons)))
}

/// Puts `rows` in the place of those of the last run.
pub(super) fn write(root: &Path, rows: &[Row], reasons: &[String]) -> Result<(), String> {
    let page = sources::read(&root.join(PAGE))?;
    let [before, _, after] = sources::cut(&page, MARKS)?;
    sources::write(&root.join(PAGE), &[before, &text(rows), &list(reasons), after].concat())
}

fn text(rows: &[Row]) -> String {
    let mut text = String::from("\n| site | weakened to | shown by |\n|---|---|---|\n");
    for Row { site, order, shown_by } in rows {
        let _ = writeln!(text, "| `{site}` | {order} | {shown_by} |"); // a string refuses nothing
    }
    text + "\n"
}

/// Returns the list of reasons, wrapped as pages are.
fn list(reasons: &[String]) -> String {
    let mut lines = vec!["The reasons why no model notices, each with another witness:".to_owned()];
    lines.push(String::new());
    for (at, reason) in reasons.iter().enumerate() {
        let number = format!("{}.", at + 1);
        let indent = " ".repeat(number.len());
        let mut line = number;
        for word in reason.split_whitespace() {
            if line.len() + 1 + word.len() > WIDTH {
                lines.push(std::mem::replace(&mut line, indent.clone()));
            }
            line.push(' ');
            line.push_str(word);
        }
        lines.push(line);
    }
    lines.join("\n") + "\n\n"
}

fn rows(table: &str) -> Vec<Row> {
    let cells = |line: &str| {
        let line = line.strip_prefix("| `")?.strip_suffix(" |")?;
        let (site, rest) = line.split_once("` | ")?;
        let (order, shown_by) = rest.split_once(" | ")?;
        let [site, order, shown_by] = [site, order, shown_by].map(str::to_owned);
        Some(Row { site, order, shown_by })
    };
    table.lines().filter_map(cells).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let row = |site: &str, shown_by: &str| Row {
            site: site.to_owned(),
            order: "none".to_owned(),
            shown_by: shown_by.to_owned(),
        };
        let written = [row("a.rs: b: c: Acquire #2", "`d::e`"), row("f", "not needed | at all")];
        assert_eq!(rows(&text(&written)), written);
    }

    #[test]
    fn reasons_are_a_list_of_wrapped_lines() {
        let long = "word ".repeat(20) + "end.";
        let text = list(&["One.".to_owned(), long]);
        let lines: Vec<_> = text.lines().skip(2).collect();
        let full = format!("2. {}", ["word"; 19].join(" "));
        assert_eq!(lines, ["1. One.", &full, "   word end.", ""]);
    }
}

//! The table in `docs/orderings.md`: between two marks, written by a run, read by the next. The
//! list of reasons below it is written by hand.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::sources;

const PAGE: &str = "docs/orderings.md";
const MARKS: [&str; 2] = [
    "<!-- what `cargo xtask orderings` has found: begin -->\n",
    "<!-- what `cargo xtask orderings` has found: end -->",
];

/// A site, and the weaker order.
pub(super) type Key = (String, String);

/// The results of a run: of each weaker order the model that has noticed, or the number of the
/// reason why none does.
pub(super) type Table = BTreeMap<Key, String>;

/// Returns the rows of the last run.
pub(super) fn read(root: &Path) -> Result<Table, String> {
    let page = sources::read(&root.join(PAGE))?;
    Ok(rows(sources::cut(&page, MARKS)?[1]).collect())
}

/// Returns the number of reasons in the list below the table.
pub(super) fn reasons(root: &Path) -> Result<usize, String> {
    let page = sources::read(&root.join(PAGE))?;
    Ok(numbered(sources::cut(&page, MARKS)?[2]))
}

/// Puts `rows` in the place of those of the last run.
pub(super) fn write(root: &Path, rows: &[(Key, String)]) -> Result<(), String> {
    let page = sources::read(&root.join(PAGE))?;
    let [before, _, after] = sources::cut(&page, MARKS)?;
    sources::write(&root.join(PAGE), &[before, &text(rows), after].concat())
}

/// Returns the number of points in a list that counts them: `1.`, `2.` and so on.
fn numbered(list: &str) -> usize {
    let is_next = |next: usize, line: &str| line.starts_with(&format!("{next}. "));
    list.lines().fold(0, |count, line| count + usize::from(is_next(count + 1, line)))
}

fn text(rows: &[(Key, String)]) -> String {
    let mut text = String::from("\n| site | weakened to | shown by |\n|---|---|---|\n");
    for ((site, order), shown_by) in rows {
        let _ = writeln!(text, "| `{site}` | {order} | {shown_by} |"); // a string refuses nothing
    }
    text + "\n"
}

fn rows(table: &str) -> impl Iterator<Item = (Key, String)> {
    table.lines().filter_map(|line| {
        let line = line.strip_prefix("| `")?.strip_suffix(" |")?;
        let (site, rest) = line.split_once("` | ")?;
        let (order, shown_by) = rest.split_once(" | ")?;
        Some(((site.to_owned(), order.to_owned()), shown_by.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let row = |site: &str, shown_by: &str| {
            ((site.to_owned(), "none".to_owned()), shown_by.to_owned())
        };
        let written = [row("a.rs: b: c: Acquire #2", "`d::e`"), row("f", "not needed | at all")];
        assert!(rows(&text(&written)).eq(written));
    }

    #[test]
    fn the_points_of_a_list_are_counted() {
        assert_eq!(numbered("Reasons:\n\n1. One.\n   2. and so on\n2. Two.\n\n[a]: b\n"), 2);
    }
}

//! Tables, in comments and pages. A wrapped row is a table's end, and shows as loose signs.

use super::prose::Source;

/// The most columns of a table.
const COLUMNS: usize = 5;

/// The most words of a cell, unless it is a list of names.
const WORDS: usize = 17;

/// Returns the lines of tables that are not as their head says, and what is wrong there.
pub(super) fn broken(source: &Source<'_>) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let (mut head, mut is_program, mut before) = (None, false, None);
    for (at, line) in source.lines.iter().enumerate() {
        let kind = line.comment.map(|comment| comment.kind);
        if kind != before {
            (head, is_program, before) = (None, false, kind);
        }
        let text = line.comment.map_or("", |comment| comment.text.trim());
        is_program ^= text.starts_with("```");
        if is_program || text.is_empty() || text.starts_with("<!--") {
            head = None;
        } else if text.starts_with('|') {
            let is_head = head.is_none();
            let columns = *head.get_or_insert_with(|| cells(text).len());
            if cells(text).len() != columns || !text.ends_with('|') {
                found.push((at + 1, format!("the head has {columns} cells")));
            } else if is_head && columns > COLUMNS {
                found.push((at + 1, format!("{columns} columns; at most {COLUMNS}")));
            }
            let long = cells(text).iter().filter(|cell| is_long(cell)).count();
            found.extend((0..long).map(|_| (at + 1, format!("a cell is a phrase: {WORDS} words"))));
        } else if head.take().is_some() {
            found.push((at + 1, "a row is one line, and an empty line ends a table".to_owned()));
        }
    }
    found
}

/// Returns whether a cell has more than a phrase: many words, or two sentences.
fn is_long(cell: &str) -> bool {
    let is_names = cell.split(", ").all(|name| !name.contains(' '));
    let mut ends = cell.split(". ").skip(1).filter(|next| next.starts_with(char::is_uppercase));
    ends.next().is_some() || cell.split_whitespace().count() > WORDS && !is_names
}

/// Returns a row's cells. A `\|` is text, also in `code`.
fn cells(row: &str) -> Vec<String> {
    let row = row.replace("\\|", " ");
    let row = row.strip_prefix('|').unwrap_or(&row);
    row.strip_suffix('|').unwrap_or(row).split('|').map(|cell| cell.trim().to_owned()).collect()
}

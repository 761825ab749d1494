//! The first words of the documentation of modules and items.

use super::prose::{self, Source};
use crate::lines::{Kind, Line};

/// The beginning of the documentation of a module or an item.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Summary {
    /// The line on which the documentation begins.
    pub(super) line: usize,
    /// Its first line's words and signs.
    pub(super) words: Vec<String>,
    pub(super) is_function: bool,
    /// True if it is declared `pub`, belongs to a `pub` trait or enumeration, or is an exported
    /// macro.
    pub(super) is_public: bool,
}

impl Summary {
    /// The documentation that begins at a line, of something private.
    fn at(source: &Source<'_>, line: usize) -> Summary {
        let comment = source.lines[line].comment.map_or("", |comment| comment.text);
        let words = prose::words(comment);
        Summary { line: line + 1, words, is_function: false, is_public: false }
    }
}

/// Returns the summaries of a source.
pub(super) fn of(source: &Source<'_>) -> Vec<Summary> {
    let mut found = Vec::new();
    if source.is_page {
        return found;
    }
    if source.lines.first().is_some_and(|line| is_of(line, Kind::Module)) {
        found.push(Summary::at(source, 0));
    }
    // Where the documentation of the next item begins, and whether an attribute exports it.
    let (mut begin, mut is_exported, mut attribute) = (None, false, 0);
    // How deep the public trait or enumeration stands that the line is in.
    let mut container: Option<usize> = None;
    for (at, line) in source.lines.iter().enumerate() {
        let code = line.code.trim();
        if code.is_empty() {
            if is_of(line, Kind::Item) {
                begin.get_or_insert(at);
            } else if line.comment.is_none() {
                (begin, is_exported) = (None, false);
            }
            continue;
        }
        if attribute > 0 || code.starts_with("#[") {
            is_exported |= code.contains("macro_export");
            let open = code.matches('[').count() + attribute;
            attribute = open.saturating_sub(code.matches(']').count());
            continue;
        }
        let depth = line.code.len() - line.code.trim_start().len();
        container = container.filter(|outer| depth > *outer);
        let is_member = container.is_some_and(|outer| depth == outer + 4);
        let is_public = code.starts_with("pub ") && !code.starts_with("pub use");
        if let Some(begin) = begin {
            let is_function = code.split_whitespace().take(5).any(|word| word == "fn");
            let is_public = is_public || is_member || is_exported;
            found.push(Summary { is_function, is_public, ..Summary::at(source, begin) });
        }
        if is_public && [" trait ", " enum "].iter().any(|word| code.contains(word)) {
            container = Some(depth);
        }
        (begin, is_exported) = (None, false);
    }
    found
}

fn is_of(line: &Line<'_>, kind: Kind) -> bool {
    line.comment.is_some_and(|comment| comment.kind == kind)
}

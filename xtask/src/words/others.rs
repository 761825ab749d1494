//! The comments of files that are not Rust: manifests, workflows, scripts, models, the console's
//! page.

use crate::lines::{Comment, Kind, Line};

/// The signs of comments in a language.
pub(super) struct Signs {
    /// Begins a comment that ends with the line.
    line: &'static str,
    /// Begin and end of a comment.
    blocks: &'static [(&'static str, &'static str)],
}

const HASH: Signs = Signs { line: "#", blocks: &[] };
const STARS: Signs = Signs { line: "//", blocks: &[("/*", "*/")] };
const PAGE: Signs = Signs { line: "//", blocks: &[("/*", "*/"), ("<!--", "-->")] };

/// Returns the signs by a file's name; `None` for Rust and pages.
pub(super) fn signs(path: &str) -> Option<&'static Signs> {
    match path.rsplit(['.', '/']).next()? {
        "toml" | "yml" | "run" => Some(&HASH),
        "pml" | "java" => Some(&STARS),
        "html" => Some(&PAGE),
        _ => None,
    }
}

/// Returns a file's lines, each with its first comment.
pub(super) fn lines<'t>(text: &'t str, signs: &Signs) -> Vec<Line<'t>> {
    let mut open = None;
    text.lines().map(|line| split(line, signs, &mut open)).collect()
}

/// Takes a line apart. `open` is the end of the comment that the line begins in.
fn split<'t>(text: &'t str, signs: &Signs, open: &mut Option<&'static str>) -> Line<'t> {
    let (code, comment) = if open.is_some() {
        ("", Some(text))
    } else if let Some((at, sign, end)) = begin(text, signs) {
        *open = end;
        (&text[..at], Some(&text[at + sign.len()..]))
    } else {
        (text, None)
    };
    let comment = comment.map(|comment| {
        let end = open.and_then(|end| comment.find(end));
        if end.is_some() {
            *open = None;
        }
        let comment = &comment[..end.unwrap_or(comment.len())];
        let comment = comment.trim_start();
        Comment { kind: Kind::Plain, text: comment.strip_prefix("* ").unwrap_or(comment) }
    });
    Line { text, code: code.to_owned(), comment }
}

/// Returns where a comment begins, its sign, and its end if that is not the line's.
fn begin<'s>(text: &str, signs: &Signs) -> Option<(usize, &'s str, Option<&'s str>)> {
    let line = std::iter::once((signs.line, None));
    let signs = line.chain(signs.blocks.iter().map(|(sign, end)| (*sign, Some(*end))));
    let found = signs.filter_map(|(sign, end)| {
        let is_begin = |at: usize| at == 0 || text[..at].ends_with(char::is_whitespace);
        let at = text.match_indices(sign).map(|(at, _)| at).find(|at| is_begin(*at))?;
        Some((at, sign, end))
    });
    found.min_by_key(|(at, ..)| *at)
}

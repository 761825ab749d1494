//! The lines of a source or a page, each taken apart into code and comment.

use proc_macro2::{TokenStream, TokenTree};

/// A line, taken apart.
pub(crate) struct Line<'t> {
    /// All of it.
    pub(crate) text: &'t str,
    /// The part before its comment, with spaces in the place of strings.
    pub(crate) code: String,
    pub(crate) comment: Option<Comment<'t>>,
}

/// A comment, without its signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Comment<'t> {
    pub(crate) kind: Kind,
    pub(crate) text: &'t str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `//`
    Plain,
    /// `///`
    Item,
    /// `//!`, and a page.
    Module,
}

/// A page's lines: all of them are text.
pub(crate) fn of_page(text: &str) -> Vec<Line<'_>> {
    let line = |text| Line {
        text,
        code: String::new(),
        comment: Some(Comment { kind: Kind::Module, text }),
    };
    text.lines().map(line).collect()
}

/// A source's lines.
pub(crate) fn of_source<'t>(text: &'t str) -> Vec<Line<'t>> {
    let code = without_strings(text);
    let line = |(text, code): (&'t str, &str)| {
        let (code, rest) = code.split_at(code.find("//").unwrap_or(code.len()));
        let comment = (!rest.is_empty()).then(|| comment(&text[code.len()..]));
        Line { text, code: code.to_owned(), comment }
    };
    text.lines().zip(code.lines()).map(line).collect()
}

/// Returns a source with spaces in the place of its strings and characters.
fn without_strings(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    if let Ok(tokens) = text.parse() {
        blank_strings(tokens, &mut bytes);
    }
    String::from_utf8(bytes).expect("spaces take the places of whole signs")
}

fn blank_strings(tokens: TokenStream, bytes: &mut [u8]) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => blank_strings(group.stream(), bytes),
            TokenTree::Literal(literal) => {
                let literal = &mut bytes[literal.span().byte_range()];
                let is_text = literal.iter().any(|sign| [b'"', b'\''].contains(sign));
                // A doc comment is a literal as well.
                if is_text && literal[0] != b'/' {
                    let signs = literal.iter_mut().filter(|sign| **sign != b'\n');
                    signs.for_each(|sign| *sign = b' ');
                }
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

fn comment(text: &str) -> Comment<'_> {
    let is_item = text.starts_with("///") && !text.starts_with("////");
    let (kind, text) = if let Some(text) = text.strip_prefix("//!") {
        (Kind::Module, text)
    } else if is_item {
        (Kind::Item, &text[3..])
    } else {
        (Kind::Plain, text.trim_start_matches('/'))
    };
    Comment { kind, text }
}

//! The lines of a source or a page, each taken apart into code and comment.

/// A line, taken apart.
pub(crate) struct Line<'t> {
    /// All of it.
    pub(crate) text: &'t str,
    /// The part before its comment, with empty strings.
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

/// The state of a source at the end of a line.
#[derive(Clone, Copy)]
enum State {
    Code,
    /// A string, with the number of `#` that end it; without any, a backslash may stand in it.
    String {
        is_raw: bool,
        hashes: usize,
    },
}

/// A source's lines.
pub(crate) fn of_source(text: &str) -> Vec<Line<'_>> {
    let mut state = State::Code;
    text.lines().map(|line| split(line, &mut state)).collect()
}

/// Takes a line apart into code and comment.
fn split<'t>(text: &'t str, state: &mut State) -> Line<'t> {
    if matches!(state, State::Code) && !text.contains(['"', '\'']) {
        let comment_at = text.find("//").unwrap_or(text.len());
        let (code, rest) = text.split_at(comment_at);
        let comment = (!rest.is_empty()).then(|| comment(rest));
        return Line { text, code: code.to_owned(), comment };
    }
    let mut code = String::new();
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        let mut step = sign.len_utf8();
        match *state {
            State::String { is_raw, hashes } => {
                let end = rest[step..].chars().take_while(|sign| *sign == '#').count();
                if sign == '\\' && !is_raw {
                    step += rest[step..].chars().next().map_or(0, char::len_utf8);
                } else if sign == '"' && end >= hashes {
                    step += hashes;
                    *state = State::Code;
                    code.push('"');
                }
            }
            State::Code if rest.starts_with("//") => {
                return Line { text, code, comment: Some(comment(rest)) };
            }
            State::Code => {
                if let Some(hashes) = raw(rest, &code) {
                    step = 2 + hashes;
                    *state = State::String { is_raw: true, hashes };
                    code.push('"');
                } else {
                    code.push(sign);
                    if sign == '"' {
                        *state = State::String { is_raw: false, hashes: 0 };
                    } else if sign == '\'' {
                        step = character(rest);
                    }
                }
            }
        }
        rest = &rest[step..];
    }
    Line { text, code, comment: None }
}

/// The number of `#` of a raw string that begins here.
fn raw(rest: &str, before: &str) -> Option<usize> {
    let is_word = before.ends_with(|sign: char| sign.is_alphanumeric() && sign != 'b');
    let hashes = rest.strip_prefix('r').filter(|_| !is_word)?;
    let count = hashes.chars().take_while(|sign| *sign == '#').count();
    hashes[count..].starts_with('"').then_some(count)
}

/// The length of a character's literal, or of the sign that begins a lifetime.
fn character(rest: &str) -> usize {
    let mut signs = rest.char_indices().skip(1);
    match signs.next() {
        Some((_, '\\')) => {
            signs.next();
            signs.find(|(_, sign)| *sign == '\'').map_or(1, |(at, _)| at + 1)
        }
        Some(_) => signs.next().filter(|(_, sign)| *sign == '\'').map_or(1, |(at, _)| at + 1),
        None => 1,
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

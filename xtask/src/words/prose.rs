//! The text of a file for readers: the comments of a source, the text of a page.

use super::others;

/// A file.
pub(super) struct Source<'t> {
    pub(super) path: &'t str,
    /// Its lines; those of a page are comments.
    pub(super) lines: Vec<Line<'t>>,
    pub(super) is_page: bool,
}

/// A line, taken apart.
pub(super) struct Line<'t> {
    /// All of it.
    pub(super) text: &'t str,
    /// The part before its comment, with empty strings.
    pub(super) code: String,
    pub(super) comment: Option<Comment<'t>>,
}

/// A comment, without its signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Comment<'t> {
    pub(super) kind: Kind,
    pub(super) text: &'t str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `//`
    Plain,
    /// `///`
    Item,
    /// `//!`, and a page.
    Module,
}

/// A word in lower case, or a sign, and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) line: usize,
    pub(super) text: String,
    /// True if a sentence begins with it.
    pub(super) is_first: bool,
}

impl Word {
    pub(super) fn into_text(self) -> String {
        self.text
    }
}

impl<'t> Source<'t> {
    pub(super) fn new(path: &'t str, text: &'t str) -> Source<'t> {
        let is_page = path.rsplit('.').next() == Some("md");
        let lines = match others::signs(path) {
            Some(signs) => others::lines(text, signs),
            None if is_page => page(text),
            None => source(text),
        };
        Source { path, lines, is_page }
    }

    /// The words of each paragraph. A phrase does not reach from one into the next.
    pub(super) fn paragraphs(&self) -> Vec<Vec<Word>> {
        let (mut paragraphs, mut open) = (Vec::new(), Paragraph::default());
        let mut fence: Option<bool> = None;
        let mut before = None;
        for (at, line) in self.lines.iter().enumerate() {
            let kind = line.comment.map(|comment| comment.kind);
            if kind != before {
                (before, fence) = (kind, None);
                open.close(&mut paragraphs);
            }
            let Some(comment) = line.comment else { continue };
            let text = comment.text.trim();
            if let Some(language) = text.strip_prefix("```") {
                fence = if fence.is_some() { None } else { Some(language.starts_with("text")) };
                open.close(&mut paragraphs);
                continue;
            }
            // In a program only comments are prose.
            let text = match fence {
                Some(false) => text.split_once("// ").map_or("", |(_, text)| text),
                _ => text,
            };
            let is_definition = text.starts_with('[') && text.contains("]: ");
            if text.is_empty() || is_definition || text.starts_with(['#', '|']) {
                open.close(&mut paragraphs);
            }
            if !is_definition {
                open.add(at + 1, text);
                // A heading is no sentence.
                let heading = text.starts_with('#').then_some(&mut open.words);
                heading.into_iter().flatten().for_each(|word| word.is_first = false);
            }
        }
        open.close(&mut paragraphs);
        paragraphs
    }
}

/// Words of one paragraph, and whether a span of `code` is open at its end.
#[derive(Default)]
struct Paragraph {
    words: Vec<Word>,
    is_code: bool,
    is_address: bool,
}

impl Paragraph {
    fn close(&mut self, into: &mut Vec<Vec<Word>>) {
        if !self.words.is_empty() {
            into.push(std::mem::take(&mut self.words));
        }
        *self = Paragraph::default();
    }

    /// Adds a line's words. A span of code is one sign, and the address of a link is none.
    fn add(&mut self, line: usize, text: &str) {
        let begins = text.starts_with("- ") || text.starts_with("* ") || is_numbered(text);
        let mut word = String::new();
        let mut is_first = begins;
        let mut last = ' ';
        for sign in text.chars().chain([' ']) {
            if self.is_address {
                self.is_address = sign != ')';
            } else if sign == '`' {
                self.push(line, &mut word, &mut is_first);
                if !self.is_code {
                    self.push(line, &mut "`".to_owned(), &mut is_first);
                }
                self.is_code = !self.is_code;
            } else if self.is_code {
            } else if last == ']' && sign == '(' {
                self.is_address = true;
            } else if sign.is_alphanumeric() || (['\'', '-'].contains(&sign) && !word.is_empty()) {
                word.extend(sign.to_lowercase());
            } else {
                self.push(line, &mut word, &mut is_first);
                match sign {
                    '.' | ':' | '|' | '?' | '!' => {
                        self.push(line, &mut sign.to_string(), &mut is_first);
                        is_first = true;
                    }
                    ',' | ';' | '(' | ')' => {
                        self.push(line, &mut sign.to_string(), &mut is_first);
                    }
                    _ => {}
                }
            }
            last = sign;
        }
    }

    fn push(&mut self, line: usize, word: &mut String, is_first: &mut bool) {
        if !word.is_empty() {
            let is_end = |word: &Word| [".", ":", "|", "?", "!"].contains(&word.text.as_str());
            let is_first = std::mem::take(is_first) || self.words.last().is_none_or(is_end);
            self.words.push(Word { line, text: std::mem::take(word), is_first });
        }
    }
}

/// Returns whether a line is a point of a list that has numbers.
fn is_numbered(text: &str) -> bool {
    let rest = text.trim_start_matches(|sign: char| sign.is_ascii_digit());
    rest.len() < text.len() && rest.starts_with(". ")
}

/// The words of a phrase.
pub(super) fn words(phrase: &str) -> Vec<Word> {
    let mut paragraph = Paragraph::default();
    paragraph.add(1, phrase);
    paragraph.words
}

/// The names in a line of code or text.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|sign: char| !sign.is_alphanumeric() && sign != '_')
}

/// A page's lines: all of them are text.
fn page(text: &str) -> Vec<Line<'_>> {
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
fn source(text: &str) -> Vec<Line<'_>> {
    let mut state = State::Code;
    text.lines().map(|line| split(line, &mut state)).collect()
}

/// Takes a line apart into code and comment.
fn split<'t>(text: &'t str, state: &mut State) -> Line<'t> {
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

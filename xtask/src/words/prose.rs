//! The text of a file for readers: the comments of a source, the text of a page.

use crate::lines::{self, Line};

/// A file.
pub(super) struct Source<'t> {
    pub(super) path: &'t str,
    /// Its lines; those of a page are comments.
    pub(super) lines: Vec<Line<'t>>,
    pub(super) is_page: bool,
}

/// Signs behind which a sentence begins.
const ENDS: &str = ".:|?!";

/// A word in lower case, or a sign, and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) line: usize,
    pub(super) text: String,
    /// True if a sentence begins with it.
    pub(super) is_first: bool,
}

impl<'t> Source<'t> {
    pub(super) fn new(path: &'t str, text: &'t str) -> Source<'t> {
        let is_page = path.rsplit('.').next() == Some("md");
        let lines = if is_page { lines::of_page(text) } else { lines::of_source(text) };
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
                let is_end = ENDS.contains(sign);
                if is_end || ",;()".contains(sign) {
                    self.push(line, &mut sign.to_string(), &mut is_first);
                }
                is_first |= is_end;
            }
            last = sign;
        }
    }

    fn push(&mut self, line: usize, word: &mut String, is_first: &mut bool) {
        if !word.is_empty() {
            let is_end = |word: &Word| ENDS.contains(&word.text);
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
pub(super) fn words(phrase: &str) -> Vec<String> {
    let mut paragraph = Paragraph::default();
    paragraph.add(1, phrase);
    paragraph.words.into_iter().map(|word| word.text).collect()
}

/// The names in a line of code or text.
pub(super) fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|sign: char| !sign.is_alphanumeric() && sign != '_')
}

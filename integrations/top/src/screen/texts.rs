//! Texts in columns of a terminal.

use ratatui::text::Span;
use unicode_truncate::UnicodeTruncateStr;

/// Returns the columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    Span::raw(text).width()
}

/// Returns the beginning of a text that fits, with an ellipsis if something is left out.
pub(crate) fn cut(text: &str, most: usize) -> String {
    if width(text) <= most {
        return text.to_owned();
    }
    let (kept, _) = text.unicode_truncate(most.saturating_sub(1));
    kept.to_owned() + if most > 0 { "\u{2026}" } else { "" }
}

/// Returns the text in at most `lines` lines, broken at spaces where possible.
pub(super) fn wrap(text: &str, most: usize, lines: usize) -> Vec<String> {
    let (mut wrapped, mut line): (Vec<String>, String) = (Vec::new(), String::new());
    let mut words = text.split(' ');
    while let Some(word) = words.next() {
        let with = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        if width(&with) <= most || line.is_empty() {
            line = with;
        } else if wrapped.len() + 1 < lines {
            wrapped.push(cut(&line, most));
            word.clone_into(&mut line);
        } else {
            line = words.by_ref().fold(with, |all, word| all + " " + word);
        }
    }
    wrapped.push(cut(&line, most));
    wrapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_by_columns_and_not_by_characters() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdef", 4), "abc\u{2026}");
        assert_eq!(cut("\u{4e2d}\u{6587}\u{5b57}", 4), "\u{4e2d}\u{2026}");
        assert_eq!((cut("ab", 1), cut("ab", 0)), ("\u{2026}".into(), String::new()));
    }

    #[test]
    fn a_sentence_is_broken_at_spaces() {
        assert_eq!(wrap("one two three four", 9, 9), ["one two", "three", "four"]);
        assert_eq!(wrap("one two three four", 9, 2), ["one two", "three fo\u{2026}"]);
        assert_eq!(wrap("abcdefghij k", 5, 3), ["abcd\u{2026}", "k"]);
        assert_eq!(wrap("", 5, 3), [""]);
    }
}

//! Texts of a server, as they may be written to a terminal.
//!
//! Labels and keys come from strangers. A terminal obeys control characters, and a direction mark
//! or a zero-width character makes a text look like another one.

use std::fmt::Write;

/// A text in which each character that is invisible, that a terminal obeys, or that changes the
/// direction of a text, is escaped; and that has a greatest length.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Legible(String);

impl Legible {
    /// Escapes the first `longest` characters of a text.
    pub(crate) fn of(text: &str, longest: usize) -> Legible {
        let mut legible = String::new();
        for (count, character) in text.chars().enumerate() {
            if count == longest {
                legible.push('\u{2026}');
                break;
            }
            match character {
                '"' | '\\' | '\'' => legible.push(character),
                // Spaces of other widths, as they stand between numbers and units.
                '\u{a0}' | '\u{2009}' | '\u{202f}' => legible.push(' '),
                // `escape_debug` has `\0` in two characters.
                '\0' => legible.push_str("\\u{0}"),
                _ => write!(legible, "{}", character.escape_debug()).unwrap_or_default(),
            }
        }
        Legible(legible)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Legible> for String {
    fn from(legible: Legible) -> String {
        legible.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_obeys_is_left() {
        let hostile = "a\x1b[2J\x1b]0;x\x07\u{9b}31m\r\n\t\0\u{7f}\u{202e}\u{200d}\u{301}z";
        let legible = Legible::of(hostile, 100);
        assert!(legible.as_str().starts_with("a\\u{1b}[2J\\u{1b}]0;x\\u{7}\\u{9b}31m\\r\\n\\t"));
        assert!(legible.as_str().is_ascii(), "{legible:?}");
        for code in 0..0x11_0000_u32 {
            let Some(character) = char::from_u32(code) else { continue };
            let legible = Legible::of(&character.to_string(), 1);
            assert!(!legible.as_str().chars().any(char::is_control), "{code:x}");
        }
    }

    #[test]
    fn legible_texts_stay_and_long_ones_are_cut() {
        let of = |text| Legible::of(text, 10).as_str().to_owned();
        assert_eq!(of("p99 \u{d7}40"), "p99 \u{d7}40");
        assert_eq!(of("90\u{202f}%"), "90 %");
        assert_eq!(of("\u{e9}\u{4e2d}\"\\"), "\u{e9}\u{4e2d}\"\\");
        assert_eq!(of(&"x".repeat(1_000)), "xxxxxxxxxx\u{2026}");
    }
}

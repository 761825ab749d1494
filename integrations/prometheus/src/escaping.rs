//! Names of UTF-8, for scrapers that take them and for others.

use std::borrow::Cow;
use std::fmt::Write;

/// The way in which names are written that have other characters than Prometheus' own: ASCII
/// letters, digits and `_`, in a metric's name also `:`, without a digit at the beginning.
///
/// Prometheus 3 takes any name of UTF-8, in quotes
/// ([its guide](https://prometheus.io/docs/guides/utf8/)). Other scrapers get an escaped name. A
/// scraper chooses by the parameter `escaping` of `Accept`; without it, names are escaped by
/// `underscores`.
///
/// | | `http.requests_total` | `a_b` |
/// |---|---|---|
/// | `AllowUtf8` | `http.requests_total` | `a_b` |
/// | `Underscores` | `http_requests_total` | `a_b` |
/// | `Dots` | `http_dot_requests__total` | `a__b` |
/// | `Values` | `U__http_2e_requests__total` | `a_b` |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Escaping {
    /// Names stay as they are.
    AllowUtf8,
    /// Each other character is `_`.
    #[default]
    Underscores,
    /// A dot is `_dot_`, `_` and each other character is `__`.
    Dots,
    /// A name with another character begins with `U__`, has `__` for `_`, and for each other
    /// character its number, in hexadecimal digits between two `_`.
    Values,
}

impl Escaping {
    /// Returns the scheme that the parameter `escaping` names.
    pub(crate) fn of(name: &str) -> Option<Escaping> {
        match name {
            "allow-utf-8" => Some(Escaping::AllowUtf8),
            "underscores" => Some(Escaping::Underscores),
            "dots" => Some(Escaping::Dots),
            "values" => Some(Escaping::Values),
            _ => None,
        }
    }

    /// Returns a name of this kind under the scheme.
    pub(crate) fn name(self, kind: NameKind, name: &str) -> Cow<'_, str> {
        let stays = self == Escaping::AllowUtf8 || self.keeps(kind, name);
        if stays { Cow::Borrowed(name) } else { Cow::Owned(self.escaped(kind, name)) }
    }

    /// Returns whether a name of this kind is plain, and the same under the scheme.
    pub(crate) fn keeps(self, kind: NameKind, name: &str) -> bool {
        kind.is_plain(name) && !(self == Escaping::Dots && name.contains('_'))
    }

    fn escaped(self, kind: NameKind, name: &str) -> String {
        let mut escaped = String::with_capacity(name.len() + 8);
        if self == Escaping::Values {
            escaped.push_str("U__");
        }
        for (index, character) in name.chars().enumerate() {
            let is_plain = kind.has(index, character);
            match (self, character) {
                (Escaping::Dots | Escaping::Values, '_') => escaped.push_str("__"),
                (Escaping::Dots, '.') => escaped.push_str("_dot_"),
                _ if is_plain => escaped.push(character),
                (Escaping::Dots, _) => escaped.push_str("__"),
                (Escaping::Values, _) => {
                    let _ = write!(escaped, "_{:x}_", u32::from(character)); // a `String` takes all
                }
                _ => escaped.push('_'),
            }
        }
        escaped
    }
}

/// The kind of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameKind {
    Metric,
    Label,
}

impl NameKind {
    /// Returns whether a name is made of Prometheus' own characters.
    pub(crate) fn is_plain(self, name: &str) -> bool {
        let mut bytes = name.bytes().enumerate();
        !name.is_empty() && bytes.all(|(index, byte)| self.has(index, byte.into()))
    }

    /// Returns whether a character is one of Prometheus' own where it stands.
    pub(crate) fn has(self, index: usize, character: char) -> bool {
        character.is_ascii_alphabetic()
            || character == '_'
            || (character == ':' && self == NameKind::Metric)
            || (index > 0 && character.is_ascii_digit())
    }
}

/// Appends a text as it stands between quotes.
#[inline]
pub(crate) fn push_quoted(text: &mut Vec<u8>, raw: &str) {
    if stands_as_it_is(raw.as_bytes()) {
        text.extend_from_slice(raw.as_bytes());
    } else {
        push_escaped(text, raw.as_bytes());
    }
}

fn push_escaped(text: &mut Vec<u8>, mut rest: &[u8]) {
    while let Some(at) = rest.iter().position(|byte| is_escaped(*byte)) {
        text.extend_from_slice(&rest[..at]);
        text.extend_from_slice(match rest[at] {
            b'\\' => b"\\\\",
            b'"' => b"\\\"",
            _ => b"\\n",
        });
        rest = &rest[at + 1..];
    }
    text.extend_from_slice(rest);
}

/// Returns whether a text has none of the three characters that are escaped between quotes. It
/// looks at sixteen bytes at a time, or at two to eight, some of which may be looked at twice.
#[inline]
fn stands_as_it_is(raw: &[u8]) -> bool {
    if let Some(last) = raw.last_chunk() {
        return !found::<16>(raw.as_chunks().0, last);
    }
    if let Some(last) = raw.last_chunk() {
        return !found::<8>(raw.as_chunks().0, last);
    }
    if let Some(last) = raw.last_chunk() {
        return !found::<2>(raw.as_chunks().0, last);
    }
    !raw.iter().any(|byte| is_escaped(*byte))
}

/// Returns whether a byte that is escaped is in one of these chunks, or in the last one.
#[inline]
fn found<const N: usize>(chunks: &[[u8; N]], last: &[u8; N]) -> bool {
    // The compiler makes one comparison of all bytes of a chunk.
    let mut found = last.map(is_escaped);
    for chunk in chunks {
        (0..N).for_each(|index| found[index] |= is_escaped(chunk[index]));
    }
    found != [false; N]
}

#[inline]
#[allow(clippy::needless_bitwise_bool)] // without branches, so that many bytes are compared at once
fn is_escaped(byte: u8) -> bool {
    (byte == b'\\') | (byte == b'"') | (byte == b'\n')
}

#[cfg(test)]
mod tests {
    use super::Escaping::{AllowUtf8, Dots, Underscores, Values};
    use super::NameKind::{Label, Metric};
    use super::*;

    #[test]
    fn names_are_escaped_as_the_scheme_says() {
        let table = [
            ("a_b", Metric, ["a_b", "a__b", "a_b"]),
            ("ab:c", Metric, ["ab:c", "ab:c", "ab:c"]),
            ("ab:c", Label, ["ab_c", "ab__c", "U__ab_3a_c"]),
            ("http.rt_s", Metric, ["http_rt_s", "http_dot_rt__s", "U__http_2e_rt__s"]),
            ("1st", Metric, ["_st", "__st", "U___31_st"]),
            ("é\u{1F600}", Label, ["__", "____", "U___e9__1f600_"]),
            ("a-b", Label, ["a_b", "a__b", "U__a_2d_b"]),
        ];
        for (name, kind, expected) in table {
            let escaped = [Underscores, Dots, Values].map(|scheme| scheme.name(kind, name));
            assert_eq!(escaped, expected);
            assert_eq!(AllowUtf8.name(kind, name), name);
        }
    }

    #[test]
    fn three_characters_are_escaped_between_quotes() {
        let shown = |raw: &str| {
            let mut text = Vec::new();
            push_quoted(&mut text, raw);
            String::from_utf8(text).unwrap()
        };
        assert_eq!(shown("\\a\"\n\té\r\\"), "\\\\a\\\"\\n\té\r\\\\");
        let plain: String = ('\0'..='ÿ').filter(|one| !"\\\"\n".contains(*one)).collect();
        assert_eq!(shown(&plain), plain);
        // Wherever it stands among others, in texts of each length.
        for length in 0..40 {
            assert_eq!(shown(&"é".repeat(length)), "é".repeat(length));
            for at in 0..length {
                for (one, escaped) in [("\\", "\\\\"), ("\"", "\\\""), ("\n", "\\n")] {
                    let around = |middle| ["]#\u{b}!"; 10].concat()[..at].to_owned() + middle;
                    let behind = "[\t".repeat(length - at);
                    assert_eq!(shown(&(around(one) + &behind)), around(escaped) + &behind);
                }
            }
        }
    }
}

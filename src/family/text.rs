//! A stored text of a label: 16 bytes, in which a text of at most 15 bytes stands itself.
//!
//! A lookup makes two [words](Words) of each text that it is given. It hashes these words, and
//! compares them with a stored text's: so each text is read once, and a short one is equal if both
//! words are.
//!
//! # Why the words tell texts apart
//!
//! A short text's words are its bytes, zeros behind them, and its length in the last byte. A longer
//! text has its length there too, below a last byte that no short one has.

use std::fmt::{self, Debug, Formatter};
use std::ptr::{
    from_ref, slice_from_raw_parts_mut, with_exposed_provenance, with_exposed_provenance_mut,
};
use std::slice::from_raw_parts;

/// The length of the longest text that a [`Text`] has within itself.
const SHORT: usize = 15;

/// The bits that are set in the last word of a long text, above its length.
const LONG: u64 = 0xFF << 56;

/// The two words of a text in a lookup: its bytes, zeros behind them, and its length in the last
/// byte. Those of a text of more than 15 bytes are a hash, and the length below [`LONG`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Words {
    pub(super) first: u64,
    pub(super) last: u64,
}

impl Words {
    /// Returns the words of a text, with the `hash` of one that is long.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub(super) fn of(text: &[u8], hash: impl FnOnce(&[u8]) -> u64) -> Words {
        let length = text.len();
        if length > 8 {
            let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) else {
                return Words::default(); // never: it has eight bytes
            };
            if length > SHORT {
                return Words { first: hash(text), last: length as u64 | LONG };
            }
            // The last eight bytes, from the eighth byte of the text on.
            let last = u64::from_le_bytes(*last) >> (128 - 8 * length);
            return Words { first: u64::from_le_bytes(*first), last: last | (length as u64) << 56 };
        }
        let first = match *text {
            // The two halves overlap, and are equal where they do.
            [_, _, _, _, ..] => match (text.first_chunk(), text.last_chunk()) {
                (Some(first), Some(last)) => {
                    let last = u64::from(u32::from_le_bytes(*last));
                    u64::from(u32::from_le_bytes(*first)) | last << (8 * length - 32)
                }
                _ => 0, // never
            },
            [one, two, ref more @ ..] if length > 2 => {
                let three = more.first().copied().unwrap_or_default();
                u64::from(u32::from_le_bytes([one, two, three, 0]))
            }
            [one, two, ..] => u64::from(u16::from_le_bytes([one, two])),
            [one] => u64::from(one),
            [] => 0,
        };
        Words { first, last: (length as u64) << 56 }
    }

    /// Returns the words of a text, for a comparison alone.
    #[inline]
    pub(super) fn without_hash(text: &str) -> Words {
        Words::of(text.as_bytes(), |_| 0)
    }

    /// Returns whether the text is too long to stand in the words.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub(super) fn are_long(self) -> bool {
        self.last.cast_signed() < 0
    }
}

/// A stored text.
pub struct Text {
    /// The first eight bytes of a short text; the address of a long one.
    first: u64,
    /// The other bytes of a short text, and its length; the length of a long one.
    last: u64,
}

impl Text {
    /// Copies a text.
    pub(super) fn new(text: &str) -> Text {
        let words = Words::without_hash(text);
        let first = if words.are_long() {
            let copy = Box::into_raw(Box::<str>::from(text));
            copy.cast::<u8>().expose_provenance() as u64
        } else {
            words.first.to_le()
        };
        Text { first, last: words.last.to_le() }
    }

    /// Returns the length of a long text.
    #[inline]
    fn long(&self) -> Option<usize> {
        let last = u64::from_le(self.last);
        (last.cast_signed() < 0).then_some((last & !LONG) as usize)
    }

    /// Returns the text.
    #[inline]
    pub(super) fn as_str(&self) -> &str {
        let (begin, length) = match self.long() {
            Some(length) => (with_exposed_provenance(self.first as usize), length),
            None => (from_ref(self).cast::<u8>(), (u64::from_le(self.last) >> 56) as usize),
        };
        // SAFETY: `new` has put a text of this length here: into the 16 bytes of `self`, or into a
        // box that only the drop frees. It does not change.
        unsafe { str::from_utf8_unchecked(from_raw_parts(begin, length)) }
    }

    /// Returns the bits by which a text that has these words, and is short, differs.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub(super) fn differs(&self, words: Words) -> u64 {
        (u64::from_le(self.first) ^ words.first) | (u64::from_le(self.last) ^ words.last)
    }

    /// Returns whether this is the text that has these words.
    #[inline]
    pub(super) fn is(&self, text: &[u8], words: Words) -> bool {
        if words.are_long() {
            // Not the words' length: a set that a program has made by hand may hash one text, and
            // compare another.
            return u64::from_le(self.last) == text.len() as u64 | LONG && self.is_long(text);
        }
        self.differs(words) == 0
    }

    /// Returns whether this long text is equal to another one of the same length.
    #[inline]
    fn is_long(&self, text: &[u8]) -> bool {
        // Most are of at most 32 bytes: for these it avoids a call of `memcmp`.
        let begin = with_exposed_provenance(self.first as usize);
        // SAFETY: as in `as_str`: this one is long, and as long as the other.
        let own: &[u8] = unsafe { from_raw_parts(begin, text.len()) };
        if text.len() > 32 {
            return own == text;
        }
        own.first_chunk::<16>() == text.first_chunk() && own.last_chunk::<16>() == text.last_chunk()
    }
}

impl Drop for Text {
    #[inline]
    fn drop(&mut self) {
        if let Some(length) = self.long() {
            let begin = with_exposed_provenance_mut::<u8>(self.first as usize);
            let whole = slice_from_raw_parts_mut(begin, length) as *mut str;
            // SAFETY: `new` has made it of a box of this length.
            drop(unsafe { Box::from_raw(whole) });
        }
    }
}

impl Debug for Text {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_text_is_itself_alone() {
        let all: String = "a\0é\u{1}bcdefgh\u{F}ijklmnopq\u{7f}rstuvwxyz0123456789".into();
        let ends = || all.char_indices().map(|(end, _)| &all[..end]).chain([all.as_str()]);
        for text in ends() {
            let stored = Text::new(text);
            assert_eq!(stored.as_str(), text);
            for other in ends() {
                for other in [other.to_owned(), format!("{other}\0"), format!("\0{other}")] {
                    let words = Words::without_hash(&other);
                    assert_eq!(stored.is(other.as_bytes(), words), text == other, "{other:?}");
                }
            }
        }
    }

    /// Safe code may bring words and a text that do not belong together.
    #[test]
    fn a_stored_text_is_read_within_its_own_length() {
        let long = "y".repeat(40);
        let (stored, words) = (Text::new(&long), Words::without_hash(&long));
        for length in [0, 15, 16, 32, 33, 39, 41, 1 << 20] {
            assert!(!stored.is("y".repeat(length).as_bytes(), words), "{length} bytes");
        }
        assert!(stored.is(long.as_bytes(), words));
    }

    #[test]
    fn a_text_takes_what_a_reference_takes() {
        assert_eq!(size_of::<Text>(), 16);
    }
}

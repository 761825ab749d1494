//! A stored text of a label: 16 bytes, in which a text of at most 15 bytes stands itself.
//!
//! A lookup makes two [words](Words) of each text that it is given. It hashes these words, and
//! compares them with a stored text's: so each text is read once, and a short one is equal if both
//! words are.
//!
//! # Why the words tell texts apart
//!
//! Bytes behind a text's end are 0xFF, and no UTF-8 text has that byte. So texts of at most 15 bytes
//! with the same 16 bytes are the same text, and the last byte is 0xFF. A longer text's last byte is
//! zero, since it is the highest one of its length.
//!
//! [`Words`] have each bit reversed: then it is zeros that a shift moves in, and zeros that lie
//! behind the end.

use std::fmt::{self, Debug, Formatter};
use std::ptr::{slice_from_raw_parts_mut, with_exposed_provenance, with_exposed_provenance_mut};

/// The length of the longest text that a [`Text`] has within itself.
const SHORT: usize = 15;

/// The bits that are those of a text's last byte.
const LAST_BYTE: u64 = 0xFF << 56;

/// The two words of a text in a lookup: its bytes, reversed bit by bit, and zeros behind them. Those
/// of a text of more than 15 bytes are a hash, and the length, reversed.
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
                return Words { first: hash(text), last: !(length as u64) };
            }
            // The last eight bytes, from the eighth byte of the text on.
            let last = !u64::from_le_bytes(*last) >> (128 - 8 * length);
            return Words { first: !u64::from_le_bytes(*first), last };
        }
        let first = match *text {
            // The two halves overlap, and are equal where they do.
            [_, _, _, _, ..] => match (text.first_chunk(), text.last_chunk()) {
                (Some(first), Some(last)) => {
                    let last = u64::from(!u32::from_le_bytes(*last));
                    u64::from(!u32::from_le_bytes(*first)) | (last << (8 * length - 32))
                }
                _ => 0, // never
            },
            [one, two, ..] => {
                let more = text.get(2).map_or(0, |three| u64::from(!*three) << 16);
                u64::from(!u16::from_le_bytes([one, two])) | more
            }
            [one] => u64::from(!one),
            [] => 0,
        };
        Words { first, last: 0 }
    }

    /// Returns the words of a text, for a comparison alone.
    #[inline]
    pub(super) fn without_hash(text: &str) -> Words {
        Words::of(text.as_bytes(), |_| 0)
    }

    /// Returns whether the text is too long to stand in the words.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    fn are_long(self) -> bool {
        self.last >= LAST_BYTE
    }
}

/// A stored text.
pub struct Text {
    /// The first eight bytes of a short text; the address of a long one.
    first: u64,
    /// The other bytes of a short text; the length of a long one.
    last: u64,
}

impl Text {
    /// Copies a text.
    pub(super) fn new(text: &str) -> Text {
        let words = Words::without_hash(text);
        if !words.are_long() {
            return Text { first: (!words.first).to_le(), last: (!words.last).to_le() };
        }
        let copy = Box::into_raw(Box::<str>::from(text));
        Text { first: copy.cast::<u8>().expose_provenance() as u64, last: (text.len() as u64).to_le() }
    }

    /// Returns the text.
    #[inline]
    pub(super) fn as_str(&self) -> &str {
        let last = u64::from_le(self.last);
        let (begin, length) = if last >= LAST_BYTE {
            let padding = if last == u64::MAX {
                8 + u64::from_le(self.first).leading_ones() / 8
            } else {
                last.leading_ones() / 8
            };
            (std::ptr::from_ref(self).cast::<u8>(), 16 - padding as usize)
        } else {
            (with_exposed_provenance(self.first as usize), last as usize)
        };
        // SAFETY: `new` has put a text of this length here: into the 16 bytes of `self`, or into a
        // box that only the drop frees. Nobody changes it.
        unsafe { str::from_utf8_unchecked(std::slice::from_raw_parts(begin, length)) }
    }

    /// Returns whether this is the text that has these words.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub(super) fn is(&self, text: &[u8], words: Words) -> bool {
        if words.are_long() {
            return u64::from_le(self.last) == !words.last && self.is_long(text);
        }
        let first = u64::from_le(self.first) ^ words.first;
        let last = u64::from_le(self.last) ^ words.last;
        first & last == u64::MAX
    }

    /// Returns whether this long text is equal to another one of the same length.
    #[inline]
    fn is_long(&self, text: &[u8]) -> bool {
        // Most are of at most 32 bytes: for these it avoids a call of `memcmp`.
        let own = self.as_str().as_bytes();
        if text.len() > 32 {
            return own == text;
        }
        own.first_chunk::<16>() == text.first_chunk() && own.last_chunk::<16>() == text.last_chunk()
    }
}

impl Drop for Text {
    #[inline]
    fn drop(&mut self) {
        let length = u64::from_le(self.last);
        if length < LAST_BYTE {
            let begin = with_exposed_provenance_mut::<u8>(self.first as usize);
            let whole = slice_from_raw_parts_mut(begin, length as usize) as *mut str;
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

//! Keys: the types that can be keys, and the memory in which a table keeps them.

use std::hash::Hash;
use std::ops::Range;

/// The maximum length of a text, in bytes: texts are told apart by their first 256 bytes.
///
/// A longer text counts as the key that it begins with: all whole characters in its first 256
/// bytes. So no text takes more memory, and the bounds hold for that key: the sum of all texts that
/// begin so. (To tell longer texts apart, use a hash of them as the key, such as a `u128`.)
///
/// ```
/// use windrow::HeavyKeys;
/// use windrow::heavy::MAX_TEXT_BYTES;
///
/// let paths = HeavyKeys::<str>::builder(10).build()?;
/// let long = "/".repeat(MAX_TEXT_BYTES);
/// paths.increment(&format!("{long}one"));
/// paths.increment(&format!("{long}two"));
/// assert_eq!(paths.top(1)[0].key, long);
/// assert_eq!(paths.bounds(&long).at_least, 2);
/// # Ok::<(), windrow::BuildError>(())
/// ```
pub const MAX_TEXT_BYTES: usize = 256;

/// A type of keys for [`HeavyKeys`](crate::HeavyKeys): `str`, `[u8]`, or any type that is `Copy`,
/// `Eq` and `Hash`, such as an integer, an IP or socket address, a tuple or an array of these, a
/// [`ShortText`](crate::labels::ShortText), or an enum of your own.
///
/// Texts are told apart by their first [`MAX_TEXT_BYTES`]. For a key that has a text and something
/// else, use a tuple with a [`ShortText`](crate::labels::ShortText).
///
/// No other type can implement this trait, so no key allocates, and none has to be dropped.
///
/// ```
/// use std::net::IpAddr;
/// use windrow::{HeavyKeys, labels::ShortText};
///
/// let clients = HeavyKeys::<(IpAddr, ShortText)>::builder(100).build()?;
/// clients.increment(&([192, 0, 2, 7].into(), ShortText::of("acme")));
/// assert_eq!(clients.total(), 1);
/// # Ok::<(), windrow::BuildError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a key",
    label = "not a key",
    note = "a key is `str`, `[u8]`, or a type that is `Copy`, `Eq` and `Hash`",
    note = "for a text and something else, use a tuple with a `windrow::labels::ShortText`"
)]
pub trait Key: sealed::Kept {}

impl<K: sealed::Kept + ?Sized> Key for K {}

pub(super) mod sealed {
    use std::hash::Hash;

    /// A key, and how a table keeps it.
    pub trait Kept: Hash + Eq + ToOwned {
        /// The part of a key that stands in its entry of a table: the key itself, or the way to it.
        type Stored: Copy;
        /// The memory beside the entries for all keys of a table.
        type Room: Room<Self>;

        /// Returns the part of a key by which it is told apart.
        fn kept(&self) -> &Self;
    }

    /// The memory beside the entries for the keys of a table. A room is asked about the stored
    /// parts that it has made itself.
    pub trait Room<K: Kept + ?Sized>: Default {
        /// The bytes that a key takes here at most.
        const BYTES: usize;

        /// Returns room for `keys` keys of any length.
        fn with_capacity(keys: usize) -> Self;

        /// Returns whether a stored key is `key`.
        fn is(&self, stored: &K::Stored, key: &K) -> bool;

        /// Returns whether a stored key is that of another room.
        fn is_of(&self, stored: &K::Stored, other: &Self, others: &K::Stored) -> bool;

        /// Returns a copy of a stored key.
        fn owned(&self, stored: &K::Stored) -> K::Owned;

        /// Puts a key behind the others.
        fn put(&mut self, key: &K) -> K::Stored;

        /// Puts another room's key behind the others.
        fn put_from(&mut self, other: &Self, stored: &K::Stored) -> K::Stored;

        /// Forgets all keys except these, which come in the order in which they were put, and whose
        /// stored parts may change.
        fn keep<'p>(&mut self, stored: impl Iterator<Item = &'p mut K::Stored>)
        where
            K::Stored: 'p;

        /// Removes all keys, and keeps the memory.
        fn clear(&mut self);
    }
}

use sealed::{Kept, Room};

impl<T: Copy + Eq + Hash> Kept for T {
    type Stored = T;
    type Room = NoRoom;

    #[inline]
    fn kept(&self) -> &T {
        self
    }
}

/// The room of keys that stand in the entries.
#[derive(Debug, Default)]
pub struct NoRoom;

impl<T: Copy + Eq + Hash> Room<T> for NoRoom {
    const BYTES: usize = 0;

    fn with_capacity(_keys: usize) -> NoRoom {
        NoRoom
    }

    #[inline]
    fn is(&self, stored: &T, key: &T) -> bool {
        stored == key
    }

    fn is_of(&self, stored: &T, _other: &NoRoom, others: &T) -> bool {
        stored == others
    }

    fn owned(&self, stored: &T) -> T {
        *stored
    }

    fn put(&mut self, key: &T) -> T {
        *key
    }

    fn put_from(&mut self, _other: &NoRoom, stored: &T) -> T {
        *stored
    }

    fn keep<'p>(&mut self, _stored: impl Iterator<Item = &'p mut T>)
    where
        T: 'p,
    {
    }

    fn clear(&mut self) {}
}

impl Kept for str {
    type Stored = Text;
    type Room = Texts;

    #[inline]
    fn kept(&self) -> &str {
        // (`floor_char_boundary` needs Rust 1.91.)
        let whole = |end: &usize| self.is_char_boundary(*end);
        match self.len() {
            0..=MAX_TEXT_BYTES => self,
            _ => &self[..(0..=MAX_TEXT_BYTES).rev().find(whole).unwrap_or(0)],
        }
    }
}

impl Kept for [u8] {
    type Stored = Text;
    type Room = Texts;

    #[inline]
    fn kept(&self) -> &[u8] {
        &self[..self.len().min(MAX_TEXT_BYTES)]
    }
}

/// The bits of a text's length.
const LENGTH_BITS: u32 = MAX_TEXT_BYTES.ilog2() + 1;

/// The way to a text: the number of its first byte, and its length, in one word.
#[derive(Clone, Copy, Debug)]
pub struct Text(u64);

impl Text {
    #[inline]
    fn at(bytes: Range<usize>) -> Text {
        Text((bytes.start as u64) << LENGTH_BITS | bytes.len() as u64)
    }

    #[inline]
    fn bytes(self) -> Range<usize> {
        let (begin, length) = (self.0 >> LENGTH_BITS, self.0 & ((1 << LENGTH_BITS) - 1));
        begin as usize..(begin + length) as usize
    }
}

/// Texts, one behind the other.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    bytes: Vec<u8>,
}

impl Texts {
    #[inline]
    fn text(&self, stored: Text) -> &[u8] {
        &self.bytes[stored.bytes()]
    }

    #[inline]
    fn put(&mut self, text: &[u8]) -> Text {
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(text);
        Text::at(begin..self.bytes.len())
    }

    fn keep<'p>(&mut self, stored: impl Iterator<Item = &'p mut Text>) {
        let mut end = 0;
        for text in stored {
            let bytes = text.bytes();
            *text = Text::at(end..end + bytes.len());
            end += bytes.len();
            self.bytes.copy_within(bytes, text.bytes().start);
        }
        self.bytes.truncate(end);
    }
}

/// A room of texts for a type of keys: its texts are the bytes of these keys.
macro_rules! room {
    ($type:ty, $bytes:expr, $owned:expr) => {
        impl Room<$type> for Texts {
            const BYTES: usize = MAX_TEXT_BYTES;

            #[inline]
            fn with_capacity(keys: usize) -> Texts {
                Texts { bytes: Vec::with_capacity(keys.saturating_mul(MAX_TEXT_BYTES)) }
            }

            #[inline]
            fn is(&self, stored: &Text, key: &$type) -> bool {
                self.text(*stored) == $bytes(key)
            }

            #[inline]
            fn is_of(&self, stored: &Text, other: &Texts, others: &Text) -> bool {
                self.text(*stored) == other.text(*others)
            }

            #[inline]
            fn owned(&self, stored: &Text) -> <$type as ToOwned>::Owned {
                $owned(self.text(*stored))
            }

            #[inline]
            fn put(&mut self, key: &$type) -> Text {
                self.put($bytes(key))
            }

            #[inline]
            fn put_from(&mut self, other: &Texts, stored: &Text) -> Text {
                self.put(other.text(*stored))
            }

            fn keep<'p>(&mut self, stored: impl Iterator<Item = &'p mut Text>) {
                self.keep(stored);
            }

            fn clear(&mut self) {
                self.bytes.clear();
            }
        }
    };
}

room!(str, str::as_bytes, |text: &[u8]| {
    str::from_utf8(text).unwrap_or_default().to_owned() // only whole `str`s were put
});
room!([u8], std::convert::identity::<&[u8]>, <[u8]>::to_vec);

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_at_the_end_of_a_character() {
        let text = format!("{}é", "x".repeat(MAX_TEXT_BYTES - 1));
        assert_eq!(text.kept().len(), MAX_TEXT_BYTES - 1);
        assert_eq!(text[1..].kept(), &text[1..]);
        assert_eq!(text.as_bytes().kept().len(), MAX_TEXT_BYTES);
        assert_eq!("".kept(), "");
    }

    #[test]
    fn texts_keep_their_order_and_their_bytes() {
        let mut texts = <Texts as Room<str>>::with_capacity(5);
        let all = ["", "one", "é", "", "three"];
        let mut stored: Vec<Text> =
            all.iter().map(|text| Room::<str>::put(&mut texts, text)).collect();
        stored.remove(1);
        Room::<str>::keep(&mut texts, stored.iter_mut());
        let all: Vec<String> =
            stored.iter().map(|stored| Room::<str>::owned(&texts, stored)).collect();
        assert_eq!(all, ["", "é", "", "three"]);
        assert_eq!(texts.bytes.len(), "éthree".len());
        let [.., last] = &stored[..] else { panic!("there are four") };
        assert!(Room::<str>::is(&texts, last, "three") && !Room::<str>::is(&texts, last, "thre"));
        assert!(Room::<[u8]>::is(&texts, &stored[1], "é".as_bytes()));
    }

    #[test]
    fn a_stored_text_has_the_longest_text() {
        let range = (1 << 40)..(1 << 40) + MAX_TEXT_BYTES;
        assert_eq!(Text::at(range.clone()).bytes(), range);
    }
}

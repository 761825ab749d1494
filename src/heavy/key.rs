//! Keys: the types that can be keys, and the memory in which a table keeps them.

use std::hash::Hash;

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
/// # Ok::<(), windrow::heavy::HeavyKeysError>(())
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
/// # Ok::<(), windrow::heavy::HeavyKeysError>(())
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
        /// The memory for all keys of a table.
        type Room: Room<Self>;

        /// Returns the part of a key by which it is told apart.
        fn kept(&self) -> &Self;
    }

    /// The memory for the keys of a table, by number.
    pub trait Room<K: ToOwned + ?Sized>: Default {
        /// The bytes that a key takes at most.
        const BYTES: usize;

        /// Returns room for `keys` keys of any length.
        fn with_capacity(keys: usize) -> Self;

        /// Returns whether the key with this number is `key`.
        fn is(&self, number: usize, key: &K) -> bool;

        /// Returns whether a key is that of another room.
        fn is_of(&self, number: usize, other: &Self, others: usize) -> bool;

        /// Returns a copy of the key with this number.
        fn owned(&self, number: usize) -> K::Owned;

        /// Puts a key behind the others.
        fn push(&mut self, key: &K);

        /// Puts another room's key behind the others.
        fn push_from(&mut self, other: &Self, number: usize);

        /// Removes all keys except those to keep, by their numbers, and keeps their order.
        fn retain(&mut self, keep: impl FnMut(usize) -> bool);

        /// Removes all keys, and keeps the memory.
        fn clear(&mut self);
    }
}

use sealed::{Kept, Room};

impl<T: Copy + Eq + Hash> Kept for T {
    type Room = Vec<T>;

    #[inline]
    fn kept(&self) -> &T {
        self
    }
}

impl<T: Copy + Eq + Hash> Room<T> for Vec<T> {
    const BYTES: usize = size_of::<T>();

    fn with_capacity(keys: usize) -> Vec<T> {
        Vec::with_capacity(keys)
    }

    #[inline]
    fn is(&self, number: usize, key: &T) -> bool {
        self[number] == *key
    }

    fn is_of(&self, number: usize, other: &Vec<T>, others: usize) -> bool {
        self[number] == other[others]
    }

    fn owned(&self, number: usize) -> T {
        self[number]
    }

    fn push(&mut self, key: &T) {
        self.push(*key);
    }

    fn push_from(&mut self, other: &Vec<T>, number: usize) {
        self.push(other[number]);
    }

    fn retain(&mut self, mut keep: impl FnMut(usize) -> bool) {
        let mut numbers = 0..;
        self.retain(|_| numbers.next().is_some_and(&mut keep));
    }

    fn clear(&mut self) {
        self.clear();
    }
}

impl Kept for str {
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
    type Room = Texts;

    #[inline]
    fn kept(&self) -> &[u8] {
        &self[..self.len().min(MAX_TEXT_BYTES)]
    }
}

/// Texts, one behind the other.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    bytes: Vec<u8>,
    /// The end of each text; each begins at the end of the one before.
    ends: Vec<usize>,
}

impl Texts {
    fn text(&self, number: usize) -> &[u8] {
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[begin..self.ends[number]]
    }

    fn put(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }

    fn with_capacity(keys: usize) -> Texts {
        Texts {
            bytes: Vec::with_capacity(keys.saturating_mul(MAX_TEXT_BYTES)),
            ends: Vec::with_capacity(keys),
        }
    }

    fn retain(&mut self, mut keep: impl FnMut(usize) -> bool) {
        let (mut begin, mut kept, mut end) = (0, 0, 0);
        for number in 0..self.ends.len() {
            let text = begin..self.ends[number];
            begin = text.end;
            if keep(number) {
                self.bytes.copy_within(text.clone(), end);
                end += text.len();
                self.ends[kept] = end;
                kept += 1;
            }
        }
        self.bytes.truncate(end);
        self.ends.truncate(kept);
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

/// A room of texts for a type of keys: its texts are the bytes of these keys.
macro_rules! room {
    ($type:ty, $bytes:expr, $owned:expr) => {
        impl Room<$type> for Texts {
            const BYTES: usize = MAX_TEXT_BYTES + size_of::<usize>();

            fn with_capacity(keys: usize) -> Texts {
                Texts::with_capacity(keys)
            }

            #[inline]
            fn is(&self, number: usize, key: &$type) -> bool {
                self.text(number) == $bytes(key)
            }

            fn is_of(&self, number: usize, other: &Texts, others: usize) -> bool {
                self.text(number) == other.text(others)
            }

            fn owned(&self, number: usize) -> <$type as ToOwned>::Owned {
                $owned(self.text(number))
            }

            fn push(&mut self, key: &$type) {
                self.put($bytes(key));
            }

            fn push_from(&mut self, other: &Texts, number: usize) {
                self.put(other.text(number));
            }

            fn retain(&mut self, keep: impl FnMut(usize) -> bool) {
                self.retain(keep);
            }

            fn clear(&mut self) {
                self.clear();
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
        for text in ["", "one", "é", "", "three"] {
            Room::<str>::push(&mut texts, text);
        }
        Texts::retain(&mut texts, |number| number != 1);
        let all: Vec<String> = (0..4).map(|number| Room::<str>::owned(&texts, number)).collect();
        assert_eq!(all, ["", "é", "", "three"]);
        assert!(Room::<str>::is(&texts, 3, "three") && !Room::<str>::is(&texts, 3, "thre"));
        assert!(Room::<[u8]>::is(&texts, 1, "é".as_bytes()));
    }
}

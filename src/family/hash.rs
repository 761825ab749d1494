//! The hash of a set of labels.
//!
//! # Promise
//!
//! A table's hash has two secret words of its own. A client that chooses texts and does not know
//! the words finds two sets of one hash only by chance: for two given sets, one time in about 2^64.
//! It is no cryptographic hash: a client that sees hashes may compute the words. No hash leaves the
//! library.
//!
//! # How
//!
//! The set is a sequence of pairs of words. Each pair is mixed into the hash by one multiplication
//! of 64 by 64 bits, of which both halves are kept: `high ^ low` of `(hash ^ one) * (secret ^
//! other)`. (It is the step of foldhash and wyhash.) A short text is one pair, by
//! [`Words`](crate::family::text::Words), which differs for each text. A longer text is a pair of
//! its own hash and its length. Numbers are packed, one after the other, until a pair is full. The
//! secrets are those that std gives to its hash maps, from the system's source of randomness.
//!
//! # Spread
//!
//! One multiplication by a secret takes consecutive numbers to points at an equal distance. For one
//! secret in forty these points fall into few lists. So numbers that end a set, and bytes, are
//! mixed once more. Texts are not: it would cost each lookup a multiplication, and for one secret
//! in five hundred, one list of a thousand is four times as long as the others.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use crate::family::text::Words;
/// The secret words of a table.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Secrets {
    begin: u64,
    other: u64,
}

impl Secrets {
    /// Returns new ones.
    #[inline]
    pub(super) fn new() -> Secrets {
        let random = RandomState::new();
        Secrets { begin: random.hash_one(0), other: random.hash_one(1) }
    }

    /// Returns the hash of nothing.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub fn begin(self) -> Mixer {
        Mixer { secrets: self, hash: self.begin, numbers: 0, bits: 0 }
    }
}

/// The hash of the labels of a set that were mixed in so far.
#[derive(Debug)]
#[doc(hidden)]
pub struct Mixer {
    secrets: Secrets,
    hash: u64,
    /// Numbers that are not mixed in yet, and the number of their bits.
    numbers: u128,
    bits: u32,
}

impl Mixer {
    /// Mixes in a text, and returns its words.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub fn text(&mut self, text: &str) -> Words {
        let words = Words::of(text.as_bytes(), |long| self.of_long(long));
        self.pair(words.first, words.last);
        words
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    fn pair(&mut self, one: u64, other: u64) {
        if self.bits > 0 {
            self.mix_numbers();
        }
        self.hash = fold(self.hash ^ one, self.secrets.other ^ other);
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    fn mix_numbers(&mut self) {
        let (one, other) = (self.numbers as u64, (self.numbers >> 64) as u64);
        self.hash = fold(self.hash ^ one, self.secrets.other ^ other);
        (self.numbers, self.bits) = (0, 0);
    }

    /// Packs a number of `bits` bits.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    fn number(&mut self, number: u128, bits: u32) {
        if self.bits + bits > u128::BITS {
            self.mix_numbers();
        }
        self.numbers |= number << self.bits;
        self.bits += bits;
    }

    /// Mixes a hash once more: see [the spread](self#spread).
    #[inline]
    fn spread(&self, hash: u64) -> u64 {
        fold(hash ^ self.secrets.begin, self.secrets.other)
    }

    /// Returns the hash of a text of at least 16 bytes.
    #[inline]
    fn of_long(&self, text: &[u8]) -> u64 {
        let mut hash = self.secrets.begin;
        let mut mix = |[one, other]: [u64; 2]| hash = fold(hash ^ one, self.secrets.other ^ other);
        let mut rest = text;
        while let Some((chunk, behind)) = rest.split_first_chunk::<16>()
            && !behind.is_empty()
        {
            mix(halves(chunk));
            rest = behind;
        }
        // The last 16 bytes, some of which may be mixed in already: the length tells them apart.
        if let Some(last) = text.last_chunk::<16>() {
            mix(halves(last));
        }
        hash
    }
}

fn halves(bytes: &[u8; 16]) -> [u64; 2] {
    let both = u128::from_le_bytes(*bytes);
    [both as u64, (both >> 64) as u64]
}

/// Multiplies, and folds the two halves of the product onto each other.
#[inline(always)]
#[allow(clippy::inline_always)] // the path of a family's lookup
fn fold(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

/// For keys of labels that are not texts.
impl Hasher for Mixer {
    #[inline]
    fn finish(&self) -> u64 {
        if self.bits == 0 {
            return self.hash;
        }
        let (one, other) = (self.numbers as u64, (self.numbers >> 64) as u64);
        self.spread(fold(self.hash ^ one, self.secrets.other ^ other))
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let words = Words::of(bytes, |long| self.of_long(long));
        self.pair(words.first, words.last);
        self.hash = self.spread(self.hash);
    }

    #[inline]
    fn write_u8(&mut self, number: u8) {
        self.number(number.into(), u8::BITS);
    }

    #[inline]
    fn write_u16(&mut self, number: u16) {
        self.number(number.into(), u16::BITS);
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.number(number.into(), u32::BITS);
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.number(number.into(), u64::BITS);
    }

    #[inline]
    fn write_u128(&mut self, number: u128) {
        self.number(number, u128::BITS);
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.number(number as u128, usize::BITS);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const LISTS: usize = 1 << 10;

    /// Returns secrets, the same in each run.
    fn secrets() -> impl Iterator<Item = Secrets> {
        let mut state = 0_u64;
        let mut next = move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ mixed >> 31
        };
        std::iter::repeat_with(move || Secrets { begin: next(), other: next() })
    }

    /// Returns the length of the longest list of 16 384 sets, 16 for each list, and checks that
    /// they have different hashes and tags.
    fn longest(secrets: Secrets, mix: impl Fn(&mut Mixer, usize)) -> usize {
        let (mut lists, mut hashes, mut tags) = ([0; LISTS], HashSet::new(), HashSet::new());
        for number in 0..16 * LISTS {
            let mut mixer = secrets.begin();
            mix(&mut mixer, number);
            let hash = mixer.finish();
            lists[hash as usize % LISTS] += 1;
            hashes.insert(hash);
            tags.insert(hash >> 40);
        }
        assert_eq!(hashes.len(), 16 * LISTS);
        assert!(tags.len() > 15 * LISTS, "{} tags", tags.len());
        lists.into_iter().max().unwrap_or(0)
    }

    /// By chance, a list has 16, and none has 60 in ages.
    #[test]
    fn numbers_and_bytes_in_a_row_are_spread_as_by_chance_with_all_secrets() {
        for secrets in secrets().take(200) {
            for shift in [0, 8, 40] {
                let number = |mixer: &mut Mixer, number: usize| {
                    mixer.write_u64((number as u64) << shift);
                };
                let behind = |mixer: &mut Mixer, number: usize| {
                    mixer.text("GET");
                    mixer.write_u32((number as u32) << (shift % 17));
                    mixer.write_u8(3);
                };
                let bytes = |mixer: &mut Mixer, number: usize| {
                    mixer.write(&(number << shift).to_be_bytes());
                };
                let all =
                    [longest(secrets, number), longest(secrets, behind), longest(secrets, bytes)];
                assert!(all.iter().all(|longest| *longest < 60), "{all:?}, {secrets:?}");
            }
        }
    }

    #[test]
    fn texts_that_differ_in_a_digit_are_spread_with_nearly_all_secrets() {
        let short = |mixer: &mut Mixer, number: usize| _ = mixer.text(&format!("/{number}"));
        let long = |mixer: &mut Mixer, number: usize| {
            mixer.text("GET");
            mixer.text(&format!("/api/v1/resources/{number}/items"));
        };
        let mut crowded = 0;
        for secrets in secrets().take(200) {
            for longest in [longest(secrets, short), longest(secrets, long)] {
                assert!(longest < 100, "{longest}, {secrets:?}");
                crowded += u32::from(longest >= 60);
            }
        }
        assert!(crowded <= 2, "{crowded} of 400");
    }

    /// Neither the length of a text is lost, nor where it ends and the next one begins.
    #[test]
    fn texts_of_one_byte_have_a_hash_for_each_length_and_each_cut() {
        let secrets = Secrets::new();
        let of = |texts: &[&str]| {
            let mut mixer = secrets.begin();
            for text in texts {
                mixer.text(text);
            }
            mixer.finish()
        };
        let run = "a".repeat(80);
        let runs: HashSet<u64> = (0..=80).map(|length| of(&[&run[..length]])).collect();
        assert_eq!(runs.len(), 81);
        let cuts: HashSet<u64> = (0..=80).map(|at| of(&[&run[..at], &run[at..]])).collect();
        assert_eq!(cuts.len(), 81);
    }

    #[test]
    fn a_number_that_does_not_fit_begins_a_new_pair() {
        let secrets = Secrets::new();
        let of = |numbers: [u64; 3]| {
            let mut mixer = secrets.begin();
            for number in numbers {
                mixer.write_u64(number);
            }
            mixer.finish()
        };
        assert_ne!(of([1, 2, 3]), of([1, 2, 4]));
        assert_ne!(of([1, 2, 3]), of([2, 1, 3]));
        assert_ne!(of([0, 0, 0]), of([0, 0, 1]));
    }
}

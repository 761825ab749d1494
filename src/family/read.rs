//! What a lookup has read of a set of labels: the words of its texts.
//!
//! A lookup goes through the fields of the set twice: it mixes each into the hash ([`Mixing`]), and
//! compares each with the stored one of the series that it has found ([`Comparing`]). It reads the
//! bytes of a short text only the first time.

use std::hash::Hasher;
use std::mem::MaybeUninit;

use crate::family::field::Field;
use crate::family::hash::{Mixer, Secrets};
use crate::family::text::Words;

/// The number of fields whose words are kept. Texts of others are read once more.
const FIELDS: usize = 8;

/// The words of a set's first fields.
#[doc(hidden)]
#[derive(Debug)]
pub struct Read {
    words: [MaybeUninit<Words>; FIELDS],
    /// The number of these that are initialised.
    noted: usize,
    /// The last words of all fields, bit by bit.
    lasts: u64,
}

/// Nothing was read.
impl Default for Read {
    #[inline]
    fn default() -> Read {
        Read { words: [const { MaybeUninit::uninit() }; FIELDS], noted: 0, lasts: 0 }
    }
}

impl Read {
    /// Begins to mix fields into a hash.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub fn mix(&mut self, secrets: Secrets) -> Mixing<'_> {
        Mixing { read: self, position: 0, lasts: 0, mixer: secrets.begin() }
    }

    /// Returns whether one of so many fields is a long text, or has no words here.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub fn any_long(&self, fields: usize) -> bool {
        fields > self.noted || self.lasts.cast_signed() < 0
    }

    /// Returns the words of the field at a position, if they are noted.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    fn words(&self, position: usize) -> Option<Words> {
        // SAFETY: `Mixing::next` has written as many.
        (position < self.noted).then(|| unsafe { self.words[position].assume_init() })
    }

    /// Begins to compare fields with stored ones.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub fn fields(&self) -> Comparing<'_> {
        Comparing { read: self, position: 0 }
    }
}

/// The fields of a set, one after the other, on the way into a hash.
#[doc(hidden)]
#[derive(Debug)]
pub struct Mixing<'r> {
    read: &'r mut Read,
    position: usize,
    lasts: u64,
    mixer: Mixer,
}

impl Mixing<'_> {
    /// Mixes in the next field.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub fn next<F: Field + ?Sized>(&mut self, value: F::Borrowed<'_>) {
        let words = F::mix(value, &mut self.mixer);
        self.lasts |= words.last;
        if let Some(place) = self.read.words.get_mut(self.position) {
            place.write(words);
        }
        self.position += 1;
    }

    /// Returns the hash of all fields.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub fn hash(self) -> u64 {
        (self.read.noted, self.read.lasts) = (self.position.min(FIELDS), self.lasts);
        self.mixer.finish()
    }
}

/// The fields of a set, one after the other, beside stored ones.
#[doc(hidden)]
#[derive(Debug)]
pub struct Comparing<'r> {
    read: &'r Read,
    position: usize,
}

impl Comparing<'_> {
    /// Returns whether the next field is equal to a stored one.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub fn next_is<F: Field + ?Sized>(
        &mut self,
        stored: &F::Stored,
        value: F::Borrowed<'_>,
    ) -> bool {
        let words = self.read.words(self.position);
        self.position += 1;
        match words {
            Some(words) => F::is_mixed(stored, value, words),
            None => F::is(stored, value),
        }
    }

    /// Returns zero if the next field, which has words here and is no long text, is equal to a stored one.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub fn next_differs<F: Field + ?Sized>(
        &mut self,
        stored: &F::Stored,
        value: F::Borrowed<'_>,
    ) -> u64 {
        let words = self.read.words(self.position);
        self.position += 1;
        words.map_or(1, |words| F::differs(stored, value, words))
    }
}

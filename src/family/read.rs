//! What a lookup has read of a set of labels: the words of its texts.
//!
//! A lookup goes through the fields of the set twice: it mixes each into the hash ([`Mixing`]), and
//! compares each with the stored one of the series that it has found ([`Comparing`]). It reads the
//! bytes of a short text only the first time.

use std::hash::Hasher;

use crate::family::field::Field;
use crate::family::hash::{Mixer, Secrets};
use crate::family::text::Words;

/// The number of fields whose words are kept. Texts of others are read once more.
const FIELDS: usize = 8;

/// The words of a set's first fields.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Read {
    words: [Words; FIELDS],
    /// The last words of all fields, bit by bit.
    lasts: u64,
}

impl Read {
    /// Begins to mix fields into a hash.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub fn mix(&mut self, secrets: Secrets) -> Mixing<'_> {
        Mixing { read: self, position: 0, mixer: secrets.begin() }
    }

    /// Returns whether one of so many fields is a long text, or has no words here.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub fn any_long(&self, fields: usize) -> bool {
        fields > FIELDS || self.lasts.cast_signed() < 0
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
    mixer: Mixer,
}

impl Mixing<'_> {
    /// Mixes in the next field.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub fn next<F: Field + ?Sized>(&mut self, value: F::Borrowed<'_>) {
        let words = F::mix(value, &mut self.mixer);
        self.read.lasts |= words.last;
        if let Some(place) = self.read.words.get_mut(self.position) {
            *place = words;
        }
        self.position += 1;
    }

    /// Returns the hash of all fields.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub fn hash(self) -> u64 {
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
        let words = self.read.words.get(self.position).copied();
        self.position += 1;
        match words {
            Some(words) => F::is_mixed(stored, value, words),
            None => F::is(stored, value),
        }
    }

    /// Returns zero if the next field, which is no long text, is equal to a stored one.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub fn next_differs<F: Field + ?Sized>(
        &mut self,
        stored: &F::Stored,
        value: F::Borrowed<'_>,
    ) -> u64 {
        let words = self.read.words[self.position];
        self.position += 1;
        F::differs(stored, value, words)
    }
}

//! The two passes of a lookup over the fields of a set.
//!
//! A lookup mixes each field into the hash ([`Mixing`]), and compares each with the stored one of
//! the series that it has found ([`Comparing`]). It reads the bytes of a short text only in the
//! first pass, which notes the words.

use std::hash::Hasher;

use crate::family::field::Field;
use crate::family::hash::{Mixer, Secrets};
use crate::family::read::Read;

/// The fields of a set, one after the other, on the way into a hash.
#[doc(hidden)]
#[derive(Debug)]
pub struct Mixing<'r> {
    read: &'r mut Read,
    mixer: Mixer,
}

impl Mixing<'_> {
    /// Begins with the first field.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub fn new(secrets: Secrets, read: &mut Read) -> Mixing<'_> {
        Mixing { read, mixer: secrets.begin() }
    }

    /// Mixes in the next field.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub fn next<F: Field + ?Sized>(&mut self, value: F::Borrowed<'_>) {
        let words = F::mix(value, &mut self.mixer);
        self.read.note(words);
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
    /// Begins with the first field.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub fn new(read: &Read) -> Comparing<'_> {
        Comparing { read, position: 0 }
    }

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

    /// Returns zero if the next field is equal to a stored one. It has noted words, and is no long
    /// text.
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

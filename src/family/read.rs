//! The words of a set's texts that a lookup has read.

use std::mem::MaybeUninit;
use std::slice::from_raw_parts;

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

/// The words before the first pass.
impl Default for Read {
    #[inline]
    fn default() -> Read {
        Read { words: [const { MaybeUninit::uninit() }; FIELDS], noted: 0, lasts: 0 }
    }
}

impl Read {
    /// Notes the words of the next field.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub(super) fn note(&mut self, words: Words) {
        self.lasts |= words.last;
        if let Some(place) = self.words.get_mut(self.noted) {
            place.write(words);
            self.noted += 1;
        }
    }

    /// Returns the words of the field at a position, if they are noted.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub(super) fn words(&self, position: usize) -> Option<Words> {
        // SAFETY: `note` has written this number of them.
        (position < self.noted).then(|| unsafe { self.words[position].assume_init() })
    }

    /// Returns whether the words of a number of fields are all noted, and none is a long text's.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub fn are_short(&self, fields: usize) -> bool {
        fields <= self.noted && self.lasts.cast_signed() >= 0
    }

    /// Notes the words of texts, which `of` returns of each, as those of the first fields. Counts
    /// them once, and not at each step.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub(super) fn note_all(&mut self, texts: &[&str], mut of: impl FnMut(&str) -> Words) {
        let (first, others) = texts.split_at(texts.len().min(FIELDS));
        let mut lasts = 0;
        for (place, text) in self.words.iter_mut().zip(first) {
            let words = of(text);
            lasts |= words.last;
            place.write(words);
        }
        for text in others {
            _ = of(text);
        }
        (self.noted, self.lasts) = (first.len(), lasts);
    }

    /// Returns the words of the first fields, of those that are noted.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    pub(super) fn all(&self) -> &[Words] {
        // SAFETY: `note` and `note_all` have written this number of them.
        unsafe { from_raw_parts(self.words.as_ptr().cast(), self.noted) }
    }
}

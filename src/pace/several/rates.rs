//! The rates of several limits, which each exchange of the ends names.
//!
//! The first word of the ends is a **name**: [`BUILT`], for the rates that the limits were built
//! with; or a count of changes and the number of a [sheet](crate::wide::Sheets) with other rates.
//! A change fills a free sheet, and exchanges the ends with the new name; the sheet of the former
//! rates is then free. So a call is decided by ends and rates that belong together, if the version
//! of the ends is the same behind its look at the rates, or at its exchange.

use super::rate::{MOST_LIMITS, RATE_WORDS, Rate};
use crate::once::Once;
use crate::wide::{Sheet, Sheets};

/// The name of the rates that the limits were built with.
pub(super) const BUILT: u64 = 0;

/// The name of no rates: that of retired limits.
pub(super) const NONE: u64 = u64::MAX;

/// The number of bits of a name that hold a sheet's number.
const NUMBER: u32 = 16;

/// The words of all rates.
const WORDS: usize = RATE_WORDS * MOST_LIMITS;

/// The rates of a limiter.
#[derive(Debug)]
pub(super) struct Rates {
    pub(super) built: [Rate; MOST_LIMITS],
    changed: Once<Sheets<WORDS>>,
}

/// Rates that no exchange has published yet.
pub(super) struct Unpublished<'a> {
    pub(super) name: u64,
    sheet: &'a Sheet<WORDS>,
}

impl Rates {
    pub(super) fn new(built: [Rate; MOST_LIMITS]) -> Rates {
        Rates { built, changed: Once::new() }
    }

    /// Returns the rates of a name; any rates, if the version of the ends is another one by now.
    #[cold]
    #[inline]
    pub(super) fn of(&self, name: u64) -> [Rate; MOST_LIMITS] {
        match self.changed.get() {
            Some(sheets) if name != BUILT && name != NONE => {
                let words = sheets.at(name as u16).words();
                let (rates, _) = words.as_chunks::<RATE_WORDS>();
                let mut all = self.built;
                for (rate, words) in all.iter_mut().zip(rates) {
                    *rate = Rate::from_words(*words);
                }
                all
            }
            _ => self.built,
        }
    }

    /// Prepares rates for an exchange that changes those of a name.
    #[inline]
    pub(super) fn prepare(&self, rates: &[Rate; MOST_LIMITS], before: u64) -> Unpublished<'_> {
        let sheets = self.changed.get().unwrap_or_else(|| self.changed.set(Sheets::free()));
        let (number, sheet) = sheets.take();
        let mut words = [0; WORDS];
        for (words, rate) in words.as_chunks_mut::<RATE_WORDS>().0.iter_mut().zip(rates) {
            *words = rate.words();
        }
        sheet.fill(words);
        let changes = (before >> NUMBER) + 1;
        Unpublished { name: changes << NUMBER | u64::from(number), sheet }
    }

    /// Frees the rates of a name that an exchange has replaced.
    #[inline]
    pub(super) fn free(&self, replaced: u64) {
        if let Some(sheets) = self.changed.get().filter(|_| replaced != BUILT) {
            sheets.at(replaced as u16).give_back();
        }
    }
}

impl Unpublished<'_> {
    /// Frees the rates, which no exchange has published.
    #[inline]
    pub(super) fn free(self) {
        self.sheet.give_back();
    }
}

#[cfg(all(test, target_pointer_width = "64", not(any(loom, shuttle))))]
mod tests {
    use super::{Sheets, WORDS};

    /// The documentation of `Paces::set_limit` says so.
    #[test]
    fn the_first_change_takes_0_8_kilobytes() {
        assert!((750..850).contains(&size_of::<Sheets<WORDS>>()));
    }
}

//! The paces of an open file: their words, and how a pace is registered.
//!
//! A pace's terms are written before its entry is published, and never change. Its end is a time of
//! one boot of the machine, so the words say which: in a file that has outlived a boot, the end is
//! set to zero before the first process of the new boot uses the pace. That process has the lock,
//! and says the new boot only then.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use windrow::pace::Terms;

use super::{Seen, Shared};
use crate::error::MappedError;
use crate::kind::Kind;
use crate::layout::{PACE, PAGE};
use crate::system::claim::claim;
use crate::system::time::Boot;
use crate::text;

/// The paces in a page.
const PAGE_PACES: u32 = (PAGE / PACE) as u32;

impl Shared {
    /// Returns the end of the pace with these terms, which is registered if it is not there.
    pub(crate) fn pace(
        &'static self,
        text: &str,
        terms: Terms,
        boot: Boot,
    ) -> Result<&'static AtomicU64, MappedError> {
        let boot = boot.word();
        let found = |seen: &mut Seen| self.found_pace(seen, text, terms);
        let number = self.registered(text, Kind::Pace, found, |seen, _| {
            let number = seen.entries.paces();
            self.claim_pace(seen, number)?;
            let words = [0, terms.period(), terms.span(), boot];
            for (at, word) in self.pace_words(number).into_iter().zip(words) {
                at.store(word, Ordering::Relaxed); // published with the entry
            }
            Ok(number)
        })?;
        let [end, _, _, of_boot] = self.pace_words(number);
        self.begin(boot, of_boot, || end.store(0, Ordering::Relaxed))?; // published with the boot
        Ok(end)
    }

    /// Lets the first process of a boot clear the ends, which are of an earlier one.
    pub(super) fn begin(
        &self,
        boot: u64,
        of_boot: &AtomicU64,
        clear: impl FnOnce(),
    ) -> Result<(), MappedError> {
        // Acquire: pairs with the store below. The ends are those of this boot then.
        if of_boot.load(Ordering::Acquire) != boot {
            let mut lock_file = self.locked(&self.lock_file)?;
            let _lock = lock_file.lock(&self.file, &self.path, self.timeout)?;
            // Acquire: as above, where another process was first.
            if of_boot.load(Ordering::Acquire) != boot {
                clear();
                // Release: pairs with the loads above.
                of_boot.store(boot, Ordering::Release);
            }
        }
        Ok(())
    }

    /// Demands that a limit whose period stands at a place has these terms.
    pub(super) fn check_terms(
        &self,
        text: &str,
        place: u64,
        [period, span]: [u64; 2],
        wanted: Terms,
    ) -> Result<(), MappedError> {
        if [period, span] == [wanted.period(), wanted.span()] {
            return Ok(());
        }
        if period == 0 || !span.is_multiple_of(period) {
            return Err(MappedError::Damaged {
                path: self.path.clone(),
                offset: place,
                value: period,
                rule: "a pace's burst must be a number of its periods",
            });
        }
        Err(MappedError::OtherTerms {
            name: text::name(text).to_owned(),
            found: (Duration::from_nanos(period), span / period),
            wanted: (Duration::from_nanos(wanted.period()), wanted.burst()),
        })
    }

    /// Returns the number of a pace that this process knows.
    fn found_pace(
        &'static self,
        seen: &mut Seen,
        text: &str,
        terms: Terms,
    ) -> Result<Option<u32>, MappedError> {
        seen.entries.check_kind(text, Kind::Pace)?;
        let Some(number) = seen.entries.pace(text) else { return Ok(None) };
        self.claim_pace(seen, number)?;
        let [_, period, span, _] = self.pace_words(number);
        // Relaxed: written before the entry was published.
        let [period, span] = [period, span].map(|word| word.load(Ordering::Relaxed));
        self.check_terms(text, self.shape.pace_place(number) + 8, [period, span], terms)?;
        Ok(Some(number))
    }

    /// Claims the memory of a pace, by the page, once in a process.
    fn claim_pace(&self, seen: &mut Seen, number: u32) -> Result<(), MappedError> {
        self.claim_pace_page(seen, number / PAGE_PACES)
    }

    /// Claims a page of paces, once in a process.
    pub(super) fn claim_pace_page(&self, seen: &mut Seen, page: u32) -> Result<(), MappedError> {
        let place = self.shape.pace_place(page * PAGE_PACES);
        seen.paces.once(page, || claim(self.file.get(&self.path)?, &self.path, place, PAGE))
    }

    /// Returns the end, the period, the burst's periods, and the boot of a pace.
    fn pace_words(&'static self, number: u32) -> [&'static AtomicU64; 4] {
        let place = self.shape.pace_place(number);
        [0, 8, 16, 24].map(|at| self.mapping.at(place + at))
    }
}

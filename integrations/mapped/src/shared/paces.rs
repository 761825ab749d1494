//! The paces of an open file: their words, and how a pace is registered.
//!
//! A pace's terms are written before its entry is published, and never change. Its end is a time of
//! one boot of the machine, so the words say which: in a file that has outlived a boot, the end is
//! set to zero before the first process of the new boot uses the pace. That process has the lock,
//! and says the new boot only then.

use std::sync::atomic::Ordering;
use std::time::Duration;

use windrow::pace::Terms;

use super::{Seen, Shared};
use crate::error::MappedError;
use crate::kind::Kind;
use crate::layout::PAGE;
use crate::limit::word::Word;
use crate::system::time::Boot;
use crate::text;

/// The places in a pace's words: the end, the period and the burst's periods, and the boot.
const END: u64 = 0;
const TERMS: u64 = 8;
const BOOT: u64 = 24;

impl Shared {
    /// Returns the word of the pace with these terms, which is registered if it is not there.
    pub(crate) fn pace(
        &'static self,
        text: &str,
        terms: Terms,
        boot: Boot,
    ) -> Result<Word<'static>, MappedError> {
        let write = |place| {
            self.store(place + END, 0);
            self.store_terms(place + TERMS, terms);
            self.store(place + BOOT, boot.0);
        };
        let check = |place| self.check_terms(text, [place + TERMS].into_iter(), &[terms]);
        let place = self.limit(text, Kind::Pace, write, check)?;
        self.begin(boot, place + BOOT, || self.store(place + END, 0))?; // published with the boot
        Ok(Word { end: self.mapping.at(place + END), terms })
    }

    /// Returns the place of a limit's words. If the limit is not there, it is registered, and its
    /// words are written before its entry is published; otherwise they are checked.
    pub(super) fn limit(
        &self,
        text: &str,
        kind: Kind,
        write: impl FnOnce(u64),
        check: impl Fn(u64) -> Result<(), MappedError>,
    ) -> Result<u64, MappedError> {
        let found = |seen: &mut Seen| {
            let Some(number) = seen.entries.limit(kind, text) else { return Ok(None) };
            let place = self.claim_limit(seen, kind, number)?;
            check(place)?;
            Ok(Some(place))
        };
        self.registered(text, kind, found, |seen, _| {
            let place = self.claim_limit(seen, kind, seen.entries.next_limit(kind))?;
            write(place);
            Ok(place)
        })
    }

    /// Claims the memory of a limit, by the page, once in a process. Returns its place.
    fn claim_limit(&self, seen: &mut Seen, kind: Kind, number: u32) -> Result<u64, MappedError> {
        let place = match kind {
            Kind::Pace => self.shape.pace_place(number),
            _ => self.shape.several_place(number),
        };
        self.claim_once(&mut seen.claimed, place / PAGE * PAGE, 1)?;
        Ok(place)
    }

    /// Lets the first process of a boot clear the ends, which are of an earlier one.
    pub(super) fn begin(
        &self,
        Boot(boot): Boot,
        place: u64,
        clear: impl FnOnce(),
    ) -> Result<(), MappedError> {
        let of_boot = self.mapping.at(place);
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

    /// Demands that the terms that stand at these places are the wanted ones.
    pub(super) fn check_terms(
        &self,
        text: &str,
        places: impl Iterator<Item = u64> + Clone,
        wanted: &[Terms],
    ) -> Result<(), MappedError> {
        let found = places.map(|place| [place, self.load(place), self.load(place + 8)]);
        let words = wanted.iter().map(|terms| [terms.period(), terms.span()]);
        if found.clone().map(|[_, period, span]| [period, span]).eq(words) {
            return Ok(());
        }
        let found = found.map(|[place, period, span]| {
            if period == 0 || !span.is_multiple_of(period) {
                let rule = "a pace's burst must be a number of its periods";
                return Err(MappedError::damaged(&self.path, place, period, rule));
            }
            Ok((Duration::from_nanos(period), span / period))
        });
        let found = found.collect::<Result<_, _>>()?;
        let terms = |terms: &Terms| (Duration::from_nanos(terms.period()), terms.burst());
        let wanted = wanted.iter().map(terms).collect();
        Err(MappedError::OtherTerms { name: text::name(text).to_owned(), found, wanted })
    }

    /// Stores the period of terms at a place, and the burst's periods behind it.
    pub(super) fn store_terms(&self, place: u64, terms: Terms) {
        self.store(place, terms.period());
        self.store(place + 8, terms.span());
    }

    /// Stores a word that is published with the entry.
    pub(super) fn store(&self, place: u64, word: u64) {
        self.mapping.at(place).store(word, Ordering::Relaxed);
    }

    /// Loads a word that was written before the entry was published.
    pub(super) fn load(&self, place: u64) -> u64 {
        self.mapping.at(place).load(Ordering::Relaxed)
    }
}

//! Several limits of an open file, decided at once: their words, and how they are registered.
//!
//! As for a [pace](super::paces), the terms and their number are written before the entry is
//! published, and the ends are those of one boot of the machine.

use std::sync::atomic::Ordering;

use portable_atomic::AtomicU128;
use windrow::pace::Terms;

use super::{Seen, Shared};
use crate::error::MappedError;
use crate::kind::Kind;
use crate::layout::{MOST_PACES, PACE, PAGE, SEVERAL};
use crate::limit::ends::{Ends, MOST};
use crate::limit::wide::{self, Wide as _};
use crate::system::time::Boot;
use crate::text;

/// The entries of several limits in a page.
const PAGE_SEVERAL: u32 = (PAGE / PACE) as u32 / SEVERAL;

/// The places in their words: the head, the boot, the number of limits, and the first limit.
const HEAD: u64 = 0;
const BOOT: u64 = 16;
const COUNT: u64 = 24;
const FIRST: u64 = 64;

/// The places in a limit's words, and their bytes.
const CELL: u64 = 0;
const PERIOD: u64 = 16;
const SPAN: u64 = 24;
const LIMIT: u64 = 32;

impl Shared {
    /// Returns several limits with these terms, one to [`MOST`], which are registered if they are
    /// not there.
    pub(crate) fn several(
        &'static self,
        text: &str,
        terms: &[Terms],
        boot: Boot,
    ) -> Result<Ends<'static, AtomicU128>, MappedError> {
        if !wide::is_there() {
            return Err(MappedError::NoWideExchange { name: text::name(text).to_owned() });
        }
        let boot = boot.word();
        let found = |seen: &mut Seen| self.found_several(seen, text, terms);
        let place = self.registered(text, Kind::Paces, found, |seen, _| {
            let number = seen.entries.all_several();
            self.claim_several(seen, number)?;
            let place = self.shape.several_place(number);
            let store = |at, word| self.mapping.at(place + at).store(word, Ordering::Relaxed);
            for (at, terms) in terms.iter().enumerate() {
                let limit = FIRST + at as u64 * LIMIT;
                store(limit + PERIOD, terms.period());
                store(limit + SPAN, terms.span());
            }
            store(COUNT, terms.len() as u64);
            store(BOOT, boot); // all of them are published with the entry
            Ok(place)
        })?;
        let cell = |at| self.mapping.wide_at(place + FIRST + at as u64 * LIMIT + CELL);
        let head = self.mapping.wide_at(place + HEAD);
        let of_boot = self.mapping.at(place + BOOT);
        self.begin(boot, of_boot, || {
            for wide in (0..terms.len()).map(cell).chain([head]) {
                while !wide.exchange(wide.words(), [0; 2]) {}
            }
        })?;
        let limits: Vec<_> =
            terms.iter().enumerate().map(|(at, terms)| (cell(at), *terms)).collect();
        Ok(Ends::new(head, &limits))
    }

    /// Returns the place of several limits that this process knows.
    fn found_several(
        &'static self,
        seen: &mut Seen,
        text: &str,
        terms: &[Terms],
    ) -> Result<Option<u64>, MappedError> {
        seen.entries.check_kind(text, Kind::Paces)?;
        let Some(number) = seen.entries.several(text) else { return Ok(None) };
        self.claim_several(seen, number)?;
        let place = self.shape.several_place(number);
        // Relaxed: all were written before the entry was published.
        let load = |at| self.mapping.at(place + at).load(Ordering::Relaxed);
        let (found, wanted) = (load(COUNT), terms.len() as u64);
        if found == 0 || found > MOST as u64 {
            return Err(MappedError::Damaged {
                path: self.path.clone(),
                offset: place + COUNT,
                value: found,
                rule: "paces must have one to four limits",
            });
        }
        if found != wanted {
            let name = text::name(text).to_owned();
            return Err(MappedError::OtherLimits { name, found, wanted });
        }
        for (at, terms) in terms.iter().enumerate() {
            let limit = FIRST + at as u64 * LIMIT;
            let [period, span] = [PERIOD, SPAN].map(|word| load(limit + word));
            self.check_terms(text, place + limit + PERIOD, [period, span], *terms)?;
        }
        Ok(Some(place))
    }

    /// Claims the memory of several limits, by the page, once in a process.
    fn claim_several(&self, seen: &mut Seen, number: u32) -> Result<(), MappedError> {
        // Pages of paces are numbered from the first one; these are the last.
        let page = (MOST_PACES / SEVERAL - 1 - number) / PAGE_SEVERAL;
        self.claim_pace_page(seen, page)
    }
}

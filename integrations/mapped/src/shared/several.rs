//! Several limits of an open file, decided at once: their words, and how they are registered.
//!
//! As for a [pace](super::paces), the terms and their number are written before the entry is
//! published, and the ends are those of one boot of the machine.

use portable_atomic::AtomicU128;
use windrow::pace::Terms;

use super::Shared;
use crate::error::MappedError;
use crate::kind::Kind;
use crate::limit::ends::{Ends, MOST};
use crate::limit::wide::{self, Wide as _};
use crate::system::time::Boot;
use crate::text;

/// The places in their words: the head, the boot, the number of limits, and the first limit.
const HEAD: u64 = 0;
const BOOT: u64 = 16;
const COUNT: u64 = 24;
const FIRST: u64 = 64;

/// The places in a limit's words, and their bytes.
const CELL: u64 = 0;
const TERMS: u64 = 16;
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
        let places = |place: u64| (place + FIRST..).step_by(LIMIT as usize);
        let limits = |place| places(place).zip(terms.iter().copied());
        let write = |place| {
            for (limit, terms) in limits(place) {
                self.store_terms(limit + TERMS, terms);
            }
            self.store(place + COUNT, terms.len() as u64);
            self.store(place + BOOT, boot.0); // all of them are published with the entry
        };
        let check = |place| {
            let count = self.load(place + COUNT);
            if !(1..=MOST as u64).contains(&count) {
                let rule = "paces must have one to four limits";
                return Err(MappedError::damaged(&self.path, place + COUNT, count, rule));
            }
            let found = places(place).take(count as usize).map(|limit| limit + TERMS);
            self.check_terms(text, found, terms)
        };
        let place = self.limit(text, Kind::Paces, write, check)?;
        let cells = limits(place).map(|(at, terms)| (self.mapping.wide_at(at + CELL), terms));
        let cells: Vec<_> = cells.collect();
        let head = self.mapping.wide_at(place + HEAD);
        self.begin(boot, place + BOOT, || {
            for wide in cells.iter().map(|(cell, _)| *cell).chain([head]) {
                while !wide.exchange(wide.words(), [0; 2]) {}
            }
        })?;
        Ok(Ends::new(head, &cells))
    }
}

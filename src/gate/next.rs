//! What a sheet takes over from the one before: what was granted in each bucket, each so many buckets later.
//!
//! # Promise
//!
//! All that was granted in the last sheet's bucket, and in those before it of which that knows, counts in the next sheet as long as it
//! knows of so many buckets: where the geometry stays, in the very same bucket; where it changes, in the bucket of the latest time
//! at which it can have been granted, or can be if it is waited for. So it is forgotten a little later than it might, and not earlier.

use crate::gate::cells::load;
use crate::gate::terms::Terms;
use crate::stripe::ration::Ration;
use crate::sync::{AtomicU64, Ordering};

/// What the next sheet is to say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    /// Where its bucket begins: not before that of the last sheet.
    pub(super) start: u64,
    pub(super) terms: Terms,
    /// The time, if the geometry changes.
    pub(super) now: u64,
    /// Until when what was granted before may be used, if the geometry changes: now, or later.
    pub(super) until: u64,
    /// What is granted in it at once.
    pub(super) grant: u64,
}

/// The sheet before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Last {
    pub(super) start: u64,
    pub(super) terms: Terms,
    /// The last end of a wait that was granted under another geometry.
    pub(super) until: u64,
}

impl Next {
    /// Takes over from the last sheet, which is sealed, what was `granted` in its bucket and in each before, the latest first: stores
    /// what that is in each bucket `before` the next one, and returns what it is in the next one itself.
    pub(super) fn take_over(
        &self,
        last: Last,
        granted: impl Iterator<Item = u64>,
        before: &[AtomicU64],
    ) -> u64 {
        if self.keeps_geometry(last.terms) {
            self.shift(last, granted, before)
        } else {
            self.sort(last, granted, before)
        }
    }

    /// Whether buckets are as they were.
    pub(super) fn keeps_geometry(&self, last: Terms) -> bool {
        self.terms.length == last.length
    }

    fn shift(
        &self,
        last: Last,
        mut granted: impl Iterator<Item = u64>,
        before: &[AtomicU64],
    ) -> u64 {
        let steps = self.terms.steps(last.start, self.start);
        let own = if steps == 0 { granted.next() } else { None };
        let (none, rest) = before.split_at(before.len().min(steps.saturating_sub(1)));
        for cell in none {
            cell.store(0, Ordering::Relaxed);
        }
        for cell in rest {
            cell.store(granted.next().unwrap_or(0), Ordering::Relaxed);
        }
        own.unwrap_or(0)
    }

    fn sort(&self, last: Last, granted: impl Iterator<Item = u64>, before: &[AtomicU64]) -> u64 {
        for cell in before {
            cell.store(0, Ordering::Relaxed);
        }
        let mut own = 0_u64;
        for (index, granted) in granted.enumerate().filter(|(_, granted)| *granted > 0) {
            let age = self.age(last, index);
            if age == 0 {
                own = own.wrapping_add(granted);
            } else if let Some(cell) = before.get(age - 1) {
                cell.store(load(cell).wrapping_add(granted), Ordering::Relaxed);
            }
        }
        own
    }

    /// How many buckets before the next one that counts which was granted `index` buckets before the last.
    fn age(&self, last: Last, index: usize) -> usize {
        let Next { start, terms, now, until, .. } = *self;
        let Some(old) = last.start.checked_sub(last.terms.length.saturating_mul(index as u64))
        else {
            return usize::MAX;
        };
        let until = until.max(last.until);
        let latest = old.max(until.min(old.saturating_add(last.terms.length - 1)));
        let age = terms.steps(terms.start_of(latest), start);
        // What may be used from now on is not forgotten, also if the last wait ends far behind it: another change may have a longer
        // interval.
        if latest > now { age.min(terms.history()) } else { age }
    }

    /// Takes a ration off where it counts among the buckets before, and returns how much of it counts in the bucket itself. Nothing, if there
    /// is none, or if it is not known any more where that is.
    ///
    /// A ration's bucket is the one that contains its last nanosecond. So it is still after the first change of the length that
    /// it has seen, if that was as of this nanosecond; any other change has moved it to where only the change knew.
    pub(super) fn take_off(&self, back: Ration, since: u64, before: &[AtomicU64]) -> u64 {
        let start = self.terms.start_of(back.last);
        if back.is_none() || back.last < since || start > self.start {
            return 0;
        }
        let age = self.terms.steps(start, self.start);
        if age == 0 {
            return back.left;
        }
        if let Some(cell) = before.get(age - 1) {
            cell.store(load(cell).wrapping_sub(back.left), Ordering::Relaxed);
        }
        0
    }
}

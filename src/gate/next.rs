//! What a sheet takes over from the one before: what was granted in each bucket, each so many
//! buckets later.
//!
//! # Promise
//!
//! Each grant counts in a bucket that does not begin before the one in which its caller goes on. It
//! is forgotten only when an interval that ends at the gate's time does not contain that bucket, by
//! the geometry of that moment.
//!
//! # Why
//!
//! - Within a geometry a turn leaves each grant in its bucket ([`Next::shift`]). The next sheet
//!   knows two intervals before its end. It is no more than one interval ahead of the gate's time,
//!   unless it stays in the bucket that the head has: so it knows all of the interval that ends at
//!   that time.
//! - A change of the geometry puts each grant where it can count at the latest ([`Next::place`]):
//!   at the end of its bucket, but not after what was granted so far may be used. No caller goes on
//!   later than that. What an interval that ends at the gate's time, or later, contains, and the
//!   next sheet does not reach, counts in the oldest bucket that it does reach.
//! - There is one rule for all changes: of the length, of the number of buckets, and of both.
//!
//! So where a grant counts only ever becomes later, and no change forgets what the old and the new
//! geometry both remember.

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
    /// What is granted in it at once.
    pub(super) grant: u64,
    /// `None`, if the length and the number of buckets stay.
    pub(super) change: Option<Change>,
}

/// A change of the geometry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// The gate's time.
    pub(super) now: u64,
    /// Until when what was granted so far may be used, but for what is waited for: now, or later.
    pub(super) until: u64,
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
    /// A bucket under the same geometry, in which nothing is granted yet.
    pub(super) fn at(start: u64, terms: Terms) -> Next {
        Next { start, terms, grant: 0, change: None }
    }

    /// Takes over from the last sheet, which is sealed, what was `granted` in its bucket and in
    /// each before, the latest first: stores what that is in each bucket `before` the next one, and
    /// returns what it is in the next one itself.
    pub(super) fn take_over(
        &self,
        last: Last,
        granted: impl Iterator<Item = u64>,
        before: &[AtomicU64],
    ) -> u64 {
        match self.change {
            None => self.shift(last, granted, before),
            Some(change) => self.place(change, last, granted, before),
        }
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

    fn place(
        &self,
        change: Change,
        last: Last,
        granted: impl Iterator<Item = u64>,
        before: &[AtomicU64],
    ) -> u64 {
        for cell in before {
            cell.store(0, Ordering::Relaxed);
        }
        let mut own = 0_u64;
        for (index, granted) in granted.enumerate().filter(|(_, granted)| *granted > 0) {
            let age = self.age(change, last, index);
            if age == 0 {
                own = own.wrapping_add(granted);
            } else if let Some(cell) = before.get(age - 1) {
                cell.store(load(cell).wrapping_add(granted), Ordering::Relaxed);
            }
        }
        own
    }

    /// How many buckets before the next one that counts which was granted `index` buckets before
    /// the last.
    fn age(&self, change: Change, last: Last, index: usize) -> usize {
        let Next { start, terms, .. } = *self;
        let Some(old) = last.start.checked_sub(last.terms.length.saturating_mul(index as u64))
        else {
            return usize::MAX; // before time zero, where nothing is granted
        };
        let until = change.until.max(last.until);
        let latest = old.max(until.min(old.saturating_add(last.terms.length - 1)));
        let place = terms.start_of(latest);
        let age = terms.steps(place, start);
        let is_remembered = terms.steps(place, terms.start_of(change.now)) < terms.buckets;
        if is_remembered { age.min(terms.history()) } else { age }
    }

    /// Takes a ration off the bucket in which it counts, and returns how much of it counts in the
    /// next bucket itself. Nothing, if there is none, or if it was granted before the last change
    /// of the geometry, which was made as of `since`.
    ///
    /// What was granted before that was to be used until then at the latest, and counts where
    /// [`place`](Self::place) has put it. What was granted since counts in its own bucket, which
    /// has its last nanosecond. (So does what was to be used until `since` exactly: there it was
    /// put.)
    pub(super) fn take_off(&self, back: Ration, since: u64, before: &[AtomicU64]) -> u64 {
        if back.is_none() || back.last < since {
            return 0;
        }
        let age = self.terms.steps(self.terms.start_of(back.last), self.start);
        if age == 0 {
            return back.left;
        }
        if let Some(cell) = before.get(age - 1) {
            cell.store(load(cell).wrapping_sub(back.left), Ordering::Relaxed);
        }
        0
    }
}

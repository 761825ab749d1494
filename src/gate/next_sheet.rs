//! The next sheet: what it takes over from the last one, bucket by bucket.
//!
//! # Promise
//!
//! Each grant counts in a bucket that does not begin before the one in which its caller goes on. It
//! is forgotten only when that bucket lies outside the interval that ends at the gate's time, by
//! the geometry of that moment.
//!
//! # Why
//!
//! One rule places every grant: it counts in the bucket of the last moment at which its caller may
//! go on ([`Next::age`]).
//!
//! - Within a geometry that is the grant's own bucket. The next sheet knows two intervals before
//!   its end. It is no more than one interval ahead of the gate's time, unless it stays in the
//!   bucket that the head has: so it knows all of the interval that ends at that time.
//! - A change of the geometry cuts the old buckets anew. A grant then counts at the end of its old
//!   bucket, but not after the moment by which all earlier grants are to be used. A grant that an
//!   interval contains which ends at the gate's time or later, and that the next sheet does not
//!   reach, counts in the oldest bucket that it does reach.
//!
//! The rule is the same for a change of the length, of the number of buckets, and of both. So the
//! bucket of a grant only ever becomes later, and no change forgets what the old and the new
//! geometry both remember.
//!
//! A ration that is given back is subtracted from the bucket in which it counts
//! ([`Next::give_back`]).

use std::mem::take;

use crate::gate::cells::load;
use crate::gate::terms::Terms;
use crate::stripe::ration::Ration;
use crate::sync::{AtomicU64, Ordering};

/// The constants of the next sheet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    /// The start of its bucket: not before that of the last sheet.
    pub(super) start: u64,
    pub(super) terms: Terms,
    /// The weight that it grants at once.
    pub(super) grant: u64,
    /// A caller has changed the terms.
    pub(super) is_change: bool,
    /// `None`, if the length and the number of buckets stay.
    pub(super) change: Option<Change>,
}

/// A change of the geometry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// The gate's time: see [`Terms::time_of_change`].
    pub(super) now: u64,
    /// The time at which all earlier grants are used, except those that wait: now, or later.
    pub(super) used_by: u64,
}

/// The sheet before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Last {
    pub(super) start: u64,
    pub(super) terms: Terms,
    /// The end of the last wait that was granted under an earlier geometry.
    pub(super) waits_until: u64,
}

impl Next {
    /// Returns a bucket under the same geometry, in which nothing is granted yet.
    pub(super) fn at(start: u64, terms: Terms) -> Next {
        Next { start, terms, grant: 0, is_change: false, change: None }
    }

    /// Returns a bucket under other terms, in which nothing is granted yet.
    pub(super) fn changed(start: u64, terms: Terms) -> Next {
        Next { is_change: true, ..Next::at(start, terms) }
    }

    /// Takes over what the last sheet, which is sealed, `granted` in its bucket and in each bucket
    /// before it, the latest first. Stores the grants of each bucket `before` the next one, and
    /// returns those of the next one itself.
    #[inline]
    pub(super) fn take_over(
        &self,
        last: Last,
        granted: impl Iterator<Item = u64>,
        before: &[AtomicU64],
    ) -> u64 {
        let steps = self.terms.steps(last.start, self.start);
        let (mut own, mut at, mut sum) = (0, 0, 0_u64);
        let mut put = |age: usize, sum: u64| match age {
            0 => own = sum,
            _ => before[age - 1].store(sum, Ordering::Relaxed),
        };
        for (index, granted) in granted.enumerate() {
            // Ages never decrease: a bucket is complete when a greater one comes.
            let age = self
                .change
                .map_or(steps.saturating_add(index), |change| self.age(change, last, index));
            while at < age.min(before.len() + 1) {
                put(at, take(&mut sum));
                at += 1;
            }
            sum = sum.wrapping_add(granted);
        }
        while at <= before.len() {
            put(at, take(&mut sum));
            at += 1;
        }
        own
    }

    /// Returns the number of buckets from the one in which a grant counts to the next one; the
    /// grant stood `index` buckets before the last one.
    #[inline]
    fn age(&self, change: Change, last: Last, index: usize) -> usize {
        let Next { start, terms, .. } = *self;
        let Some(old) = last.start.checked_sub(last.terms.length.saturating_mul(index as u64))
        else {
            return usize::MAX; // before time zero, where nothing is granted
        };
        let used_by = change.used_by.max(last.waits_until);
        let latest = old.max(used_by.min(old.saturating_add(last.terms.length - 1)));
        let bucket = terms.start_of(latest);
        let age = terms.steps(bucket, start);
        let is_remembered = terms.steps(bucket, terms.start_of(change.now)) < terms.buckets;
        if is_remembered { age.min(terms.history()) } else { age }
    }

    /// Subtracts a ration from the bucket in which it counts; if that is the next bucket itself,
    /// returns the part for the caller to subtract. Subtracts nothing if there is no ration, or if
    /// it was granted before the last change of the geometry, whose `used_by` is given.
    ///
    /// An earlier ration was to be used by then, and [`age`](Self::age) has placed it there. A
    /// later one counts in its own bucket, which contains its last nanosecond. (A ration whose last
    /// nanosecond is `used_by` itself counts there, too: it was placed there.)
    #[inline]
    pub(super) fn give_back(&self, back: Ration, used_by: u64, before: &[AtomicU64]) -> u64 {
        if back.is_none() || back.last < used_by {
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

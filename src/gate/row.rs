//! The grants of a sheet's buckets, while a thread fills the sheet; and what is charged beyond
//! them.
//!
//! # Promise
//!
//! A *run* is the consecutive buckets of one interval. A bucket's own run is the one that ends with
//! it. The *head* is the newest sheet.
//!
//! A cost above its estimate is charged. Even so, no run counts more than the limit. The charge
//! counts in the bucket of its grant, as far as that has room. What remains counts in the head's
//! bucket and in those that follow, before any grant of a later caller.
//!
//! # Why
//!
//! - The room of a bucket is the least room of the runs that contain it. A sheet knows all of these
//!   runs for its own bucket, and for a number of buckets before it ([`Row::charge`]). What cannot
//!   be charged there is *owed*.
//! - A debt is paid in each bucket from the head's on, as far as the bucket's own run has room. The
//!   bucket pays when it is opened, before anything is granted in it. So while something is owed,
//!   the head's own run is full; and if a weight fits, nothing is owed.
//! - While something is owed, the own run of each new bucket is full. So a new bucket pays what was
//!   counted in the bucket that has just left the run, one interval earlier: **each interval
//!   repeats the buckets of the one before**. A turn over many intervals skips whole ones, each of
//!   which pays one limit ([`Row::open`]). And a look at one interval is enough to tell a call its
//!   bucket ([`fitting`]).
//!
//! So a debt of many limits is one number, however long it takes to be paid.

use crate::gate::cells::load;
use crate::gate::terms::Terms;
use crate::stripe::ration::Ration;
use crate::sync::{AtomicU64, Ordering};

/// A turn's change of earlier grants.
#[derive(Clone, Copy, Debug)]
pub(super) enum Amend {
    Nothing,
    /// A grant that is not used: it counts no longer.
    GiveBack(Ration),
    /// A weight is granted above what was asked for: in the bucket with this start, if that is
    /// known to count, as far as it has room.
    Charge {
        weight: u64,
        start: Option<u64>,
    },
}

/// The grants in the bucket of a sheet, and in those before it, the latest first.
///
/// They may be a mixture of two sheets, if the turn is going to fail: so no sum may panic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    pub(super) own: u64,
    pub(super) before: &'a [AtomicU64],
}

/// Returns the number of buckets behind the head's at which `n` fits, which is at most the limit,
/// behind what is `owed`. The grants are those of the head's bucket and of the ones before it; `n`
/// does not fit into the head's. `None` if that is too far.
#[inline]
pub(super) fn fitting(
    n: u64,
    owed: u64,
    terms: Terms,
    mut granted: impl Iterator<Item = u64>,
) -> Option<u64> {
    // Each interval makes room for a limit. What remains fits when the latest buckets that stay
    // hold no more than the rest of the limit.
    let needed = owed.checked_add(n)?;
    let intervals = (needed - 1) / terms.limit;
    let most = terms.limit - (needed - intervals * terms.limit);
    let mut sum = 0_u64;
    let staying = granted.position(|granted| {
        sum = sum.wrapping_add(granted);
        sum > most
    });
    let buckets = terms.buckets as u64;
    intervals.checked_mul(buckets)?.checked_add(buckets - staying.unwrap_or(0) as u64)
}

impl Row<'_> {
    #[inline]
    fn get(&self, age: usize) -> u64 {
        match age.checked_sub(1) {
            None => self.own,
            Some(before) => load(&self.before[before]),
        }
    }

    #[inline]
    fn set(&mut self, age: usize, weight: u64) {
        match age.checked_sub(1) {
            None => self.own = weight,
            Some(before) => self.before[before].store(weight, Ordering::Relaxed),
        }
    }

    /// Returns the sum of some buckets, from this age on.
    #[inline]
    fn sum(&self, age: usize, buckets: usize) -> u64 {
        (age..age + buckets).fold(0, |sum, age| sum.wrapping_add(self.get(age)))
    }

    /// Returns the rest of the limit in the interval that ends with the sheet's bucket.
    #[inline]
    pub(super) fn room(&self, terms: Terms) -> u64 {
        let others = self.before[..terms.buckets - 1].iter().map(load);
        terms.limit.saturating_sub(others.fold(self.own, u64::wrapping_add))
    }

    /// Pays what is owed in the sheet's bucket, as far as that has room. Returns the bucket's sum,
    /// and what is still owed.
    #[inline]
    pub(super) fn pay(&self, terms: Terms, owed: u64) -> (u64, u64) {
        if owed == 0 {
            return (self.own, 0);
        }
        let paid = owed.min(self.room(terms));
        (self.own.wrapping_add(paid), owed - paid)
    }

    /// Charges a weight in a bucket of this age, as far as it has room. Returns the rest.
    #[inline]
    pub(super) fn charge(&mut self, age: usize, weight: u64, terms: Terms) -> u64 {
        if age > terms.buckets {
            return weight; // the buckets before are not all known
        }
        let first = (age + 1).saturating_sub(terms.buckets);
        let mut sum = self.sum(first, terms.buckets);
        let mut most = sum;
        for last in first..age {
            let next = self.get(last + terms.buckets);
            sum = sum.wrapping_sub(self.get(last)).wrapping_add(next);
            most = most.max(sum);
        }
        let charged = weight.min(terms.limit.saturating_sub(most));
        self.set(age, self.get(age).wrapping_add(charged));
        weight - charged
    }

    /// Opens a number of buckets, one after the other, and pays in each what is `owed`, as far as
    /// it has room. Returns what is still owed.
    #[inline]
    pub(super) fn open(&mut self, steps: usize, terms: Terms, owed: u64) -> u64 {
        let first = steps.min(terms.buckets);
        let mut owed = self.open_some(first, terms, owed);
        let mut steps = steps - first;
        let same = (owed / terms.limit.max(1)).min((steps / terms.buckets) as u64);
        if same > 0 {
            owed -= same * terms.limit;
            steps -= same as usize * terms.buckets;
            for age in 0..terms.buckets {
                self.set(age + terms.buckets, self.get(age));
            }
        }
        let rest = steps.min(terms.buckets);
        owed = self.open_some(rest, terms, owed);
        self.shift(steps - rest); // all is paid
        owed
    }

    /// Opens as `open`, at most a number of buckets as long as the interval.
    #[inline]
    fn open_some(&mut self, count: usize, terms: Terms, mut owed: u64) -> u64 {
        self.shift(count);
        let mut sum = self.sum(count, terms.buckets - 1);
        for age in (0..count).rev() {
            let paid = owed.min(terms.limit.saturating_sub(sum));
            self.set(age, paid);
            owed -= paid;
            sum = sum.wrapping_add(paid).wrapping_sub(self.get(age + terms.buckets - 1));
        }
        owed
    }

    /// Opens a number of buckets in which nothing is granted.
    #[inline]
    fn shift(&mut self, count: usize) {
        if count > 0 {
            for age in (0..=self.before.len()).rev() {
                self.set(age, age.checked_sub(count).map_or(0, |age| self.get(age)));
            }
        }
    }
}

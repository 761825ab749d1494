//! A gate's rations: one in each row, in two neighbouring columns.
//!
//! [`ration_use`] takes from a row's ration. This file has the columns, which a gate owns from its
//! first refill until it is dropped. If the arena is full there are none, and each call asks the
//! gate.

use crate::arena::on_demand::OnDemand;
use crate::arena::rows;
use crate::stripe::ration::{Ration, Untaken};
use crate::stripe::ration_use;
use crate::sync::const_fn;

/// One column for the last nanosecond, one for the rest.
const COLUMNS: usize = 2;

/// A ration in each row.
pub(super) struct Rations {
    columns: OnDemand,
}

impl Rations {
    const_fn! {
        /// Makes empty rations, without columns yet.
        pub(super) const fn new() -> Rations {
            Rations { columns: OnDemand::new() }
        }
    }

    /// Claims the columns, unless that was tried.
    #[inline]
    pub(super) fn claim(&self) {
        self.columns.claim(COLUMNS);
    }

    /// Takes `n` of this thread's ration at `now`.
    #[inline(always)]
    #[allow(clippy::inline_always)] // no call on the path of a grant
    pub(super) fn take(&self, now: u64, n: u64) -> Result<(), Untaken> {
        // SAFETY: two columns are claimed together.
        unsafe { ration_use::take(self.columns.dependent_word(), now, n) }
    }

    /// Takes as [`take`](Self::take), where per-core adds are not in line.
    #[inline]
    pub(super) fn take_apart(&self, now: u64, n: u64) -> Result<(), Untaken> {
        ration_use::take_apart(self.columns.dependent_word(), now, n)
    }

    /// Replaces this thread's ration, and returns the old one; `None`, without an effect, if the
    /// thread can use no row.
    #[inline]
    pub(super) fn swap(&self, new: Ration) -> Option<Ration> {
        self.claim();
        // SAFETY: as in `take`.
        unsafe { ration_use::swap(self.columns.word(), new) }
    }

    /// Returns the rest in all rows together, whatever their buckets.
    #[inline]
    pub(super) fn left(&self) -> u64 {
        self.columns.column().map_or(0, |column| rows::sum(column.right(1)))
    }
}

impl Drop for Rations {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: `claim` claims this number of columns.
        unsafe { self.columns.free(COLUMNS) };
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    /// Other tests claim columns at the same time.
    #[test]
    fn columns_are_given_back() {
        let word = || {
            let rations = Rations::new();
            rations.claim();
            rations.columns.word()
        };
        let mut again = (0..1_000).map(|_| word() == word());
        assert!(again.any(|is_same| is_same));
    }
}

//! The ration of a leased row: taking from it, and replacing it. Not in a signal handler.

use super::Leased;
use crate::stripe::ration::{Ration, Untaken};
use crate::sync::{AtomicU64, Ordering};

impl Leased {
    /// Takes `n` from the ration, if at least `n` is left, and `now` is not after the ration's last
    /// nanosecond.
    #[inline]
    pub(crate) fn take(self, now: u64, n: u64) -> Result<(), Untaken> {
        let rest = self.ration().less(n, now)?;
        self.left().store(rest.left, Ordering::Relaxed); // this thread's, as in `ration`
        Ok(())
    }

    /// Replaces the ration, and returns the old one.
    #[inline]
    pub(crate) fn swap(self, new: Ration) -> Ration {
        let there = self.ration();
        self.right(0).store(new.last, Ordering::Relaxed); // as in `ration`
        self.left().store(new.left, Ordering::Relaxed);
        there
    }

    /// Returns the ration.
    #[inline]
    fn ration(self) -> Ration {
        // Relaxed, as are all accesses in this file: only this thread writes the row, and the
        // writes of the thread that had it before came before this thread's lease.
        let last = self.right(0).load(Ordering::Relaxed);
        Ration { last, left: self.left().load(Ordering::Relaxed) }
    }

    #[inline]
    fn left(self) -> &'static AtomicU64 {
        self.right(1)
    }
}

//! The ration of a leased row: taking of it, and putting another in its place. Not in a signal
//! handler.

use super::Leased;
use crate::stripe::ration::{Ration, Untaken};
use crate::sync::{AtomicU64, Ordering};

impl Leased {
    /// Takes `n` of the ration, if there is so much, and `now` is not after its last nanosecond.
    #[inline]
    pub(crate) fn take(self, now: u64, n: u64) -> Result<(), Untaken> {
        let rest = self.ration().less(n, now)?;
        self.left().store(rest.left, Ordering::Relaxed); // this thread's, as in `ration`
        Ok(())
    }

    /// Puts a ration in the place of what is there, and returns that.
    pub(crate) fn swap(self, new: Ration) -> Ration {
        let there = self.ration();
        self.right(0).store(new.last, Ordering::Relaxed); // as in `ration`
        self.left().store(new.left, Ordering::Relaxed);
        there
    }

    /// What is there.
    #[inline]
    fn ration(self) -> Ration {
        // Relaxed, as all in this file: this thread alone writes the row, and what the last one
        // that had it has written there came before its lease.
        let last = self.right(0).load(Ordering::Relaxed);
        Ration { last, left: self.left().load(Ordering::Relaxed) }
    }

    #[inline]
    fn left(self) -> &'static AtomicU64 {
        self.right(1)
    }
}

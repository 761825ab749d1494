//! A ticket that is taken once: the number of a grace period or of a barrier.

use crate::sync::{AtomicU64, Ordering};

/// The number of the first grace period, or barrier, after which something is over; none at first.
///
/// Relaxed throughout: a ticket is a number, and valid whichever thread took it. A thread that does
/// not see it takes another one, which is valid too, and later.
#[derive(Debug, Default)]
pub(in crate::ring) struct Ticket(AtomicU64);

impl Ticket {
    /// Returns the ticket, if one was taken.
    pub(in crate::ring) fn get(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|ticket| *ticket != 0)
    }

    /// Returns the ticket; `take` makes one if none was taken. The caller has seen that what the
    /// ticket is about has come to its end.
    pub(in crate::ring) fn get_or(&self, take: impl FnOnce() -> u64) -> u64 {
        self.get().unwrap_or_else(|| {
            let new = take();
            let first = self.0.compare_exchange(0, new, Ordering::Relaxed, Ordering::Relaxed);
            first.err().unwrap_or(new)
        })
    }

    /// Makes this a ticket that was not taken. Called by the one thread that reuses its owner.
    pub(in crate::ring) fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

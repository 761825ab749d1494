//! A ticket that is taken once: the number of a grace period or of a barrier to wait for.

use crate::sync::{AtomicU64, Ordering};

/// The number of the first grace period, or barrier, after which something is over; none at first.
///
/// Relaxed throughout: a ticket is a number, right whichever thread has taken it. A thread that does not see
/// it takes another, which is as right, and later.
#[derive(Debug, Default)]
pub(in crate::ring) struct Ticket(AtomicU64);

impl Ticket {
    /// The ticket, if one was taken.
    pub(in crate::ring) fn get(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|ticket| *ticket != 0)
    }

    /// The ticket; `take` gives one if none was taken. For a caller that has seen that the time has come.
    pub(in crate::ring) fn get_or(&self, take: impl FnOnce() -> u64) -> u64 {
        self.get().unwrap_or_else(|| {
            let new = take();
            let first = self.0.compare_exchange(0, new, Ordering::Relaxed, Ordering::Relaxed);
            first.err().unwrap_or(new)
        })
    }

    /// Makes it a ticket that was not taken. For the one thread that reuses what it belongs to.
    pub(in crate::ring) fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

//! Which thread closes buckets: one at a time asks for barriers, and one may do nothing else.

use crate::clock::forks::process;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// A lock that is only ever tried. A thread that finds it held asks its holder to look once more.
#[derive(Debug)]
pub(in crate::ring) struct MembarrierLock(AtomicU64);

/// No thread holds the lock. Else: the number of the holder's process.
const FREE: u64 = 0;
/// Added to that when another thread has retired a bucket meanwhile.
const ASKED: u64 = 1 << 32;

impl MembarrierLock {
    pub(in crate::ring) fn new() -> MembarrierLock {
        MembarrierLock(AtomicU64::new(FREE))
    }

    /// Takes the lock, or asks its holder to look once more.
    ///
    /// A holder of another process is not there: this process was forked while it held the lock.
    pub(in crate::ring) fn try_lock(&self) -> bool {
        let process = u64::from(process());
        // Either the holder finds that it was asked, or we find the lock free. Release: pairs with the
        // Acquire in `try_unlock`: a holder that finds it was asked sees what was retired before.
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        let mut seen = self.0.load(Ordering::Relaxed);
        loop {
            let is_held = seen & !ASKED == process;
            let new = if is_held { seen | ASKED } else { process };
            match self.0.compare_exchange(seen, new, order, failed) {
                Ok(_) => return !is_held,
                Err(now) => seen = now,
            }
        }
    }

    /// Unlocks; false if the holder was asked to look once more, and still holds the lock.
    pub(in crate::ring) fn try_unlock(&self) -> bool {
        let process = u64::from(process());
        // Relaxed: it publishes nothing.
        let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        if self.0.compare_exchange(process, FREE, order, failed).is_ok() {
            return true;
        }
        // Acquire: pairs with the Release in `try_lock`. A swap, not a store: it is the only word of threads
        // that have asked since the exchange failed.
        self.0.swap(process, Ordering::Acquire);
        false
    }

    /// Unlocks although the holder may have been asked to look once more.
    pub(in crate::ring) fn unlock(&self) {
        self.0.store(FREE, Ordering::Relaxed); // as in `try_unlock`: it publishes nothing
    }
}

/// Whether a thread that does nothing else closes a window's buckets.
#[derive(Debug, Default)]
pub(in crate::ring) struct Closer(AtomicU32);

impl Closer {
    /// Whether there is one in this process. (One of the process that this was forked from is not here.)
    pub(in crate::ring) fn is_there(&self) -> bool {
        let closer = self.0.load(Ordering::Relaxed); // a number, right or wrong only for speed
        closer != 0 && closer == process()
    }

    /// The calling thread is one from now on, or no longer.
    #[cfg(not(any(loom, shuttle)))]
    pub(in crate::ring) fn set(&self, is_there: bool) {
        self.0.store(if is_there { process() } else { 0 }, Ordering::Relaxed);
    }
}

//! The closer, the thread that closes buckets: one thread at a time asks for barriers, and one
//! thread may be dedicated to closing.

use crate::clock::forks::process;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// A lock that a thread only tries. A thread that finds it held asks the holder to look once more.
#[derive(Debug)]
pub(in crate::ring) struct MembarrierLock(AtomicU64);

/// No thread holds the lock. Any other number is that of the holder's process.
const FREE: u64 = 0;
/// Added to the number when another thread has retired a bucket meanwhile.
const ASKED: u64 = 1 << 32;

impl MembarrierLock {
    pub(in crate::ring) fn new() -> MembarrierLock {
        MembarrierLock(AtomicU64::new(FREE))
    }

    /// Takes the lock, or asks its holder to look once more. Returns whether the lock was taken.
    ///
    /// A holder of another process does not exist here: this process was forked while it held the
    /// lock.
    pub(in crate::ring) fn try_lock(&self) -> bool {
        let process = u64::from(process());
        // Either the holder finds that it was asked, or this thread finds the lock free. Release:
        // pairs with the Acquire in `try_unlock`: a holder that finds that it was asked sees what
        // was retired before.
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

    /// Unlocks. Returns false if the holder was asked to look once more, and still holds the lock.
    pub(in crate::ring) fn try_unlock(&self) -> bool {
        let process = u64::from(process());
        // Relaxed: it publishes nothing.
        let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        if self.0.compare_exchange(process, FREE, order, failed).is_ok() {
            return true;
        }
        // Acquire: pairs with the Release in `try_lock`. A swap instead of a store, because only
        // the word itself tells of threads that have asked since the exchange failed.
        self.0.swap(process, Ordering::Acquire);
        false
    }

    /// Unlocks although the holder may have been asked to look once more.
    pub(in crate::ring) fn unlock(&self) {
        self.0.store(FREE, Ordering::Relaxed); // as in `try_unlock`: it publishes nothing
    }
}

/// The word that says whether a dedicated thread closes a window's buckets.
#[derive(Debug, Default)]
pub(in crate::ring) struct Closer(AtomicU32);

impl Closer {
    /// Returns whether there is one in this process. (A thread of the parent process does not exist
    /// in a forked child.)
    pub(in crate::ring) fn is_there(&self) -> bool {
        let closer = self.0.load(Ordering::Relaxed); // a number, right or wrong only for speed
        closer != 0 && closer == process()
    }

    /// Says that the calling thread closes buckets from now on, or no longer.
    #[cfg(not(any(loom, shuttle)))]
    pub(in crate::ring) fn set(&self, is_there: bool) {
        self.0.store(if is_there { process() } else { 0 }, Ordering::Relaxed);
    }
}

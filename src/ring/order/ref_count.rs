//! A bucket's reference count: how many may act on it, and how many add to it outside its block.
//!
//! References are those of the slot that the bucket is in or will be put into, of the block that it owns, and
//! of each thread that holds a [`BucketRef`](crate::ring::order::bucket_ref::BucketRef). A bucket without references is
//! free. Adders are counted in the upper half of the same word: see
//! [`Adder`](crate::ring::order::bucket_ref::Adder).

use crate::sync::{AtomicUsize, Ordering, fence};

/// One adder. The lower half has room for more threads than any machine has.
const ADDER: usize = 1 << (usize::BITS / 2);

#[derive(Debug)]
pub(in crate::ring) struct RefCount(AtomicUsize);

impl RefCount {
    /// No references: the bucket is free.
    pub(in crate::ring) fn free() -> RefCount {
        RefCount(AtomicUsize::new(0))
    }

    /// Takes a free bucket; false if it is not free. The one reference is for the slot that it will be put
    /// into.
    pub(in crate::ring) fn try_take(&self) -> bool {
        // Relaxed: only a hint, which keeps the line unwritten.
        self.0.load(Ordering::Relaxed) == 0
            // Acquire: pairs with the Release in `release`. All that was done with the bucket comes before.
            && self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Counts a reference to a bucket that may be free by now: the caller checks that next.
    pub(in crate::ring) fn acquire(&self) {
        // Acquire: pairs with the Release in `release`. If the reference of the pointer that led here is
        // gone from the count, the caller sees that the pointer has changed.
        self.0.fetch_add(1, Ordering::Acquire);
    }

    /// Counts one more reference to a bucket that the caller keeps from becoming free.
    pub(in crate::ring) fn retain(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes back a [`retain`](Self::retain) that was for nothing. The caller has another reference.
    pub(in crate::ring) fn forget(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed); // nothing was done under it
    }

    /// Ends a reference: the caller's own, or that of a pointer which the caller has replaced.
    pub(in crate::ring) fn release(&self) {
        // Release: pairs with the Acquire in `try_take` and `acquire`.
        self.0.fetch_sub(1, Ordering::Release);
    }

    /// Registers an adder. The caller holds a reference, and checks afterwards that the bucket is current.
    pub(in crate::ring) fn add_adder(&self) {
        self.0.fetch_add(ADDER, Ordering::Relaxed);
        // Pairs with the fence in `has_adders`. If the check for adders comes first, the adder sees that
        // the bucket is retired; if the adder comes first, the check sees it.
        fence(Ordering::SeqCst);
    }

    pub(in crate::ring) fn remove_adder(&self) {
        // Release: pairs with the Acquire in `has_adders`: a thread that no longer finds the adder sees all
        // that it has added.
        self.0.fetch_sub(ADDER, Ordering::Release);
    }

    /// Whether a thread may be adding outside the block that has found the bucket current. For a caller that
    /// has seen the bucket retired: once this is false, all adds of such threads are visible, and no more
    /// come. (A later adder registers only for as long as it takes to see that it is too late.)
    pub(in crate::ring) fn has_adders(&self) -> bool {
        fence(Ordering::SeqCst); // pairs with the one in `add_adder`
        // Acquire: pairs with the Release in `remove_adder`.
        self.0.load(Ordering::Acquire) >= ADDER
    }

    /// Whether there are exactly so many references, and no adders. For checks at rest.
    pub(in crate::ring) fn is(&self, references: usize) -> bool {
        self.0.load(Ordering::Relaxed) == references
    }
}

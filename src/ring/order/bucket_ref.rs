//! Three ways to act on a bucket whose memory may be reused: count a reference, register as an
//! adder, or read it and check its version.
//!
//! # References
//!
//! A bucket is not reused while a thread holds a reference to it. Buckets are not freed before the
//! window is, so it is always safe to follow an old pointer; but the memory may serve another slice
//! of time by then. A thread that wants to act on a bucket counts its reference, and *then* checks
//! that the pointer which led there still does. If so, the bucket was not free when the reference
//! was counted, and is not reused before it is released. If not, the count is taken back. (Valois,
//! *Lock-free linked lists using compare-and-swap*, 1995, with the correction of Michael and Scott,
//! 1995. Here nothing happens when the last reference goes, so nothing can happen twice.)
//!
//! References are those of the slot that the bucket is in or will be put into, of the block that it
//! owns, and of each thread with a [`BucketRef`]. A bucket without references is free. A thread
//! that stalls with a reference keeps this one bucket from reuse, and nothing else.
//!
//! # Adders
//!
//! A thread that adds to the shared cells of the live bucket also registers as its *adder*, in the
//! upper half of the same word, then checks that the bucket is still the live one, and only then
//! adds. A thread that finds a bucket retired and without adders knows that every add of the time
//! when the bucket was live is complete: see [`RefCount::has_adders`].
//!
//! # Versions
//!
//! A reader takes no reference. It loads the version of a bucket, reads, and looks whether the
//! version is still the same: see [`Versioned`].

use std::ops::Deref;
use std::ptr::eq;

use crate::ring::order::bucket::Bucket;
use crate::sync::{AtomicPtr, AtomicUsize, Ordering, fence};

/// One adder. The lower half has space for more threads than any machine has.
const ADDER: usize = 1 << (usize::BITS / 2);

/// The number of references to a bucket, and of its adders.
#[derive(Debug)]
pub(in crate::ring) struct RefCount(AtomicUsize);

impl RefCount {
    /// Makes the count of a free bucket: no references.
    pub(in crate::ring) fn free() -> RefCount {
        RefCount(AtomicUsize::new(0))
    }

    /// Takes a free bucket. Returns false if it is not free. The one reference is for the slot that
    /// the bucket will be put into.
    pub(in crate::ring) fn try_take(&self) -> bool {
        // Relaxed: only a hint, which keeps the line unwritten.
        self.0.load(Ordering::Relaxed) == 0
            // Acquire: pairs with the Release in `release`. All that was done with the bucket comes
            // before.
            && self.0.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Counts a reference to a bucket that may be free by now: the caller checks that next.
    pub(in crate::ring) fn acquire(&self) {
        // Acquire: pairs with the Release in `release`. If the reference of the pointer that led
        // here is gone from the count, the caller sees that the pointer has changed.
        self.0.fetch_add(1, Ordering::Acquire);
    }

    /// Counts one more reference to a bucket that the caller keeps from becoming free.
    pub(super) fn retain(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes back a [`retain`](Self::retain) that was not needed. The caller has another reference.
    pub(in crate::ring) fn forget(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed); // nothing was done under it
    }

    /// Releases a reference: the caller's own, or that of a pointer which the caller has replaced.
    pub(in crate::ring) fn release(&self) {
        // Release: pairs with the Acquire in `try_take` and `acquire`.
        self.0.fetch_sub(1, Ordering::Release);
    }

    /// Registers an adder. The caller holds a reference, and checks afterwards that the bucket is
    /// current.
    fn add_adder(&self) {
        self.0.fetch_add(ADDER, Ordering::Relaxed);
        // Pairs with the fence in `has_adders`. If the check for adders comes first, the adder sees
        // that the bucket is retired; if the adder comes first, the check sees it.
        fence(Ordering::SeqCst);
    }

    fn remove_adder(&self) {
        // Release: pairs with the Acquire in `has_adders`: a thread that no longer finds the adder
        // sees all that it has added.
        self.0.fetch_sub(ADDER, Ordering::Release);
    }

    /// Returns whether a thread that has found the bucket current may be adding to its shared
    /// cells. The caller has seen the bucket retired: once this returns false, all adds of such
    /// threads are visible, and no more come. (A later adder registers only until it sees that it
    /// is too late.)
    pub(in crate::ring) fn has_adders(&self) -> bool {
        fence(Ordering::SeqCst); // pairs with the one in `add_adder`
        // Acquire: pairs with the Release in `remove_adder`.
        self.0.load(Ordering::Acquire) >= ADDER
    }

    /// Returns whether there are exactly `references` references, and no adders. For checks at
    /// rest.
    pub(in crate::ring) fn is(&self, references: usize) -> bool {
        self.0.load(Ordering::Relaxed) == references
    }
}

/// A pointer to a bucket, which other threads change.
pub(in crate::ring) trait BucketPointer {
    /// Returns the bucket that the pointer leads to, if any. Acquire.
    ///
    /// # Safety
    /// The bucket lives for `'r`.
    unsafe fn follow<'r>(&self) -> Option<&'r Bucket>;

    /// Returns whether the pointer leads to this bucket.
    fn leads_to(&self, bucket: &Bucket, order: Ordering) -> bool;
}

/// A pointer to a bucket, or null.
pub(in crate::ring) type BucketPtr = AtomicPtr<Bucket>;

impl BucketPointer for BucketPtr {
    #[inline]
    unsafe fn follow<'r>(&self) -> Option<&'r Bucket> {
        // SAFETY: by contract. Acquire: pairs with the Release that stored the pointer.
        unsafe { self.load(Ordering::Acquire).as_ref() }
    }

    #[inline]
    fn leads_to(&self, bucket: &Bucket, order: Ordering) -> bool {
        eq(self.load(order), bucket)
    }
}

/// A reference to a bucket, which is not reused until this is dropped.
#[derive(Debug)]
pub(in crate::ring) struct BucketRef<'r>(&'r Bucket);

impl<'r> BucketRef<'r> {
    /// Counts a reference to the bucket that a pointer leads to; `None` if it leads to none.
    ///
    /// # Safety
    /// A bucket that the pointer leads to lives for `'r`.
    pub(in crate::ring) unsafe fn acquire(pointer: &impl BucketPointer) -> Option<BucketRef<'r>> {
        loop {
            // SAFETY: by contract.
            let bucket = unsafe { pointer.follow() }?;
            if let Some(reference) = BucketRef::at(pointer, bucket) {
                return Some(reference);
            }
        }
    }

    /// Counts a reference to a bucket that a pointer has led to; `None` if it does so no longer.
    pub(in crate::ring) fn at(
        pointer: &impl BucketPointer,
        bucket: &'r Bucket,
    ) -> Option<BucketRef<'r>> {
        bucket.references.acquire();
        let reference = BucketRef(bucket);
        // Acquire: as in `follow`; it may have been reused, and stored here again.
        if !pointer.leads_to(bucket, Ordering::Acquire) {
            return None;
        }
        bucket.check();
        Some(reference)
    }

    /// Counts one more reference to a bucket that the caller keeps from reuse already.
    pub(in crate::ring) fn to(bucket: &'r Bucket) -> BucketRef<'r> {
        bucket.references.retain();
        BucketRef(bucket)
    }

    /// Returns the bucket, for as long as another reference keeps it: its slot's, its block's.
    pub(in crate::ring) fn bucket(&self) -> &'r Bucket {
        self.0
    }
}

impl Deref for BucketRef<'_> {
    type Target = Bucket;

    fn deref(&self) -> &Bucket {
        self.0
    }
}

impl Drop for BucketRef<'_> {
    fn drop(&mut self) {
        self.0.references.release();
    }
}

/// The right to add to the shared cells of a bucket that is current, until this is dropped.
pub(in crate::ring) struct Adder<'h>(&'h Bucket);

impl<'h> Adder<'h> {
    /// Registers as an adder of a bucket. `None` if the bucket is not, or no longer, current.
    pub(in crate::ring) fn register(
        bucket: &'h BucketRef<'_>,
        current: &BucketPtr,
    ) -> Option<Adder<'h>> {
        bucket.references.add_adder();
        let adder = Adder(bucket);
        // Relaxed: the fence in `add_adder` comes before. (The bucket is not reused, so it does not
        // become current again.)
        current.leads_to(bucket.bucket(), Ordering::Relaxed).then_some(adder)
    }
}

impl Drop for Adder<'_> {
    fn drop(&mut self) {
        self.0.references.remove_adder();
    }
}

/// A bucket with the version that it had when it was found: a versioned read, as of a seqlock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Versioned<'g> {
    pub(in crate::ring) bucket: &'g Bucket,
    version: u64,
}

impl<'g> Versioned<'g> {
    /// Loads what a pointer leads to; `None` if it leads to no bucket, or has just changed.
    ///
    /// # Safety
    /// A bucket that the pointer leads to lives for `'g`.
    #[inline]
    pub(in crate::ring) unsafe fn load(pointer: &impl BucketPointer) -> Option<Versioned<'g>> {
        // SAFETY: by contract.
        let bucket: &'g Bucket = unsafe { pointer.follow() }?;
        let version = bucket.version()?;
        // Relaxed: if the pointer led elsewhere before this version began, this load finds that, by
        // the Acquire of the version. If the bucket was stored here again since, the version covers
        // all of it.
        pointer.leads_to(bucket, Ordering::Relaxed).then_some(Versioned { bucket, version })
    }

    /// Returns whether all that was read of the bucket belongs to the version that was found.
    #[inline]
    pub(in crate::ring) fn is_valid(self) -> bool {
        self.bucket.has_version(self.version)
    }
}

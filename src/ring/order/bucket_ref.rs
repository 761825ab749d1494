//! References to a bucket: as long as a thread holds one, the bucket is not reused.
//!
//! Buckets are not freed before the window is, so to follow an old pointer is always safe; but the bucket may
//! have been reused for another slice of time. A thread that wants to act on a bucket counts its reference,
//! and *then* checks that the pointer which led there still does. If so, the bucket was not free when it was
//! counted, and is not reused before the reference is released. If not, the count is taken back. (Valois,
//! *Lock-free linked lists using compare-and-swap*, 1995, with the correction of Michael and Scott, 1995. Here
//! nothing happens when the last reference goes, so nothing can happen twice.)
//!
//! A thread that stalls with a reference keeps this one bucket from reuse, and nothing else.
//!
//! # Adders
//!
//! A thread that adds to the shared cells of the live bucket registers as its *adder* besides, then checks
//! that the bucket is still the live one, and only then adds. A thread that finds a bucket retired and without
//! adders knows that every add of the time when the bucket was live is complete: see
//! [`RefCount::has_adders`](crate::ring::order::bucket_ref::RefCount::has_adders).

use std::ops::Deref;
use std::ptr::eq;

use crate::ring::order::bucket::Bucket;
use crate::sync::{AtomicPtr, AtomicUsize, Ordering, fence};

/// One adder. The lower half has room for more threads than any machine has.
const ADDER: usize = 1 << (usize::BITS / 2);

/// How many references to a bucket there are, and how many adders.
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
    pub(super) fn retain(&self) {
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
    fn add_adder(&self) {
        self.0.fetch_add(ADDER, Ordering::Relaxed);
        // Pairs with the fence in `has_adders`. If the check for adders comes first, the adder sees that
        // the bucket is retired; if the adder comes first, the check sees it.
        fence(Ordering::SeqCst);
    }

    fn remove_adder(&self) {
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

/// What leads to a bucket, and is followed by other threads.
pub(in crate::ring) trait BucketPointer {
    /// The bucket that it leads to, if it leads to one. Acquire.
    ///
    /// # Safety
    /// The bucket lives for `'r`.
    unsafe fn follow<'r>(&self) -> Option<&'r Bucket>;

    /// Whether it leads to this bucket.
    fn leads_to(&self, bucket: &Bucket, order: Ordering) -> bool;
}

/// A pointer to a bucket; or null.
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

/// A bucket that is not reused until this is dropped.
#[derive(Debug)]
pub(in crate::ring) struct BucketRef<'r>(&'r Bucket);

impl<'r> BucketRef<'r> {
    /// A reference to the bucket that a pointer leads to; `None` if it leads to none.
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

    /// A reference to a bucket that a pointer has led to; `None` if it does so no longer.
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

    /// A reference to a bucket that the caller keeps from reuse already.
    pub(in crate::ring) fn to(bucket: &'r Bucket) -> BucketRef<'r> {
        bucket.references.retain();
        BucketRef(bucket)
    }

    /// The bucket, for as long as something else refers to it: its slot, its block.
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
    /// Registers with a bucket. `None` if it is not, or no longer, current.
    pub(in crate::ring) fn register(
        bucket: &'h BucketRef<'_>,
        current: &BucketPtr,
    ) -> Option<Adder<'h>> {
        bucket.references.add_adder();
        let adder = Adder(bucket);
        // Relaxed: the fence in `add_adder` comes before. (The bucket is not reused, so it does not become
        // current again.)
        current.leads_to(bucket.bucket(), Ordering::Relaxed).then_some(adder)
    }
}

impl Drop for Adder<'_> {
    fn drop(&mut self) {
        self.0.references.remove_adder();
    }
}

/// A bucket, and its version when it was found: a versioned read, as of a seqlock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Versioned<'g> {
    pub(in crate::ring) bucket: &'g Bucket,
    version: u64,
}

impl<'g> Versioned<'g> {
    /// What a pointer leads to; `None` if that is nothing, or has just changed.
    ///
    /// # Safety
    /// A bucket that the pointer leads to lives for `'g`.
    #[inline]
    pub(in crate::ring) unsafe fn load(pointer: &impl BucketPointer) -> Option<Versioned<'g>> {
        // SAFETY: by contract.
        let bucket: &'g Bucket = unsafe { pointer.follow() }?;
        let version = bucket.version()?;
        // Relaxed: the Acquire of the version makes us see it, if this pointer has changed before
        // the bucket was reused as that version. If it was stored here again since, the version
        // covers all of it.
        pointer.leads_to(bucket, Ordering::Relaxed).then_some(Versioned { bucket, version })
    }

    /// Whether all that was read of the bucket belongs to the version that was found.
    #[inline]
    pub(in crate::ring) fn is_valid(self) -> bool {
        self.bucket.has_version(self.version)
    }
}

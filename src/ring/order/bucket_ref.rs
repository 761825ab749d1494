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
//! [`RefCount::has_adders`](crate::ring::order::ref_count::RefCount::has_adders).

use std::ops::Deref;

use crate::ring::order::bucket::{Bucket, BucketPointer, BucketPtr};
use crate::sync::Ordering;

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

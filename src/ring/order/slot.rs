//! A slot: the bucket that stands for a start now, or the number of rounds that have left.
//!
//! # Promise
//!
//! A slot leads to ever newer buckets. A bucket that has left the ring may be taken out of its
//! slot, so that its memory serves another slice of time. Then the slot remembers its round. So a
//! late thread finds that its start has left, and does not take it for a start that never had a
//! bucket: what has left is neither put back nor counted again.
//!
//! # Why
//!
//! The word of a slot is the address of a bucket, which is even; or it is odd, and says the number
//! of rounds that have left. Every exchange of the word goes from one round to a later one: to a
//! newer bucket; or from a bucket to "its round has left". So no odd word ever comes back. A bucket
//! may come back, reused for a later round; but a thread that exchanges it has a reference to it,
//! and so it was not reused. Hence an exchange that succeeds finds the slot as the thread has seen
//! it.

use std::ptr::{eq, from_ref, without_provenance_mut};

use crate::ring::order::bucket::Bucket;
use crate::ring::order::bucket_ref::{BucketPointer, BucketRef};
use crate::sync::{AtomicPtr, Ordering};

#[derive(Debug)]
pub(in crate::ring) struct Slot(AtomicPtr<Bucket>);

/// The content of a slot.
#[derive(Debug)]
pub(in crate::ring) enum Content<'r> {
    Bucket(BucketRef<'r>),
    /// No bucket. This number of rounds have left; zero also if the slot never had a bucket.
    Left(usize),
}

impl Slot {
    pub(in crate::ring) fn empty() -> Slot {
        Slot(AtomicPtr::new(left(0)))
    }

    /// Returns the content.
    ///
    /// # Safety
    /// The slot's window lives for `'r`.
    pub(in crate::ring) unsafe fn content<'r>(&self) -> Content<'r> {
        loop {
            // Acquire: pairs with the Release in `exchange`.
            let word = self.0.load(Ordering::Acquire);
            // SAFETY: by contract.
            let Some(bucket) = (unsafe { bucket_at(word) }) else {
                return Content::Left(word.addr() >> 1);
            };
            if let Some(bucket) = BucketRef::at(self, bucket) {
                return Content::Bucket(bucket);
            }
        }
    }

    /// Returns the number of rounds that have left, if there is no bucket.
    pub(in crate::ring) fn rounds_left(&self) -> Option<usize> {
        // Acquire: pairs with the Release in `exchange`: a thread that finds that a start has left
        // also finds that the ring has moved on.
        let word = self.0.load(Ordering::Acquire).addr();
        (word & 1 == 1).then_some(word >> 1)
    }

    /// Returns whether nothing was ever put into the slot.
    pub(in crate::ring) fn is_untouched(&self) -> bool {
        eq(self.0.load(Ordering::Relaxed), left(0)) // by the caller
    }

    /// Returns the bucket in the slot. The caller has seen that the slot does not change any more.
    ///
    /// # Safety
    /// The slot's window lives for `'r`.
    pub(in crate::ring) unsafe fn final_bucket<'r>(&self) -> Option<&'r Bucket> {
        // SAFETY: by contract.
        unsafe { bucket_at(self.0.load(Ordering::Relaxed)) }
    }

    /// Replaces what the caller has found by `new`. Returns false if the slot has changed by then.
    pub(in crate::ring) fn replace(&self, found: &Content<'_>, new: &Bucket) -> bool {
        self.exchange(found, from_ref(new).cast_mut())
    }

    /// Takes the bucket of a round, which has left the ring, out of the slot. Returns false if the
    /// slot has changed, or if a word has no space for the round: then the bucket stays.
    pub(in crate::ring) fn evict(&self, found: &Content<'_>, round: u64) -> bool {
        let rounds = round.checked_add(1).and_then(|rounds| usize::try_from(rounds).ok());
        let rounds = rounds.filter(|rounds| *rounds <= usize::MAX >> 1);
        rounds.is_some_and(|rounds| self.exchange(found, left(rounds)))
    }

    fn exchange(&self, found: &Content<'_>, to: *mut Bucket) -> bool {
        let from = match found {
            Content::Bucket(bucket) => from_ref(bucket.bucket()).cast_mut(),
            Content::Left(rounds) => left(*rounds),
        };
        // Release: publishes the bucket to threads that find it here. Relaxed on failure: the
        // caller looks again.
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        let exchanged = self.0.compare_exchange(from, to, order, failed).is_ok();
        if exchanged && let Content::Bucket(old) = found {
            old.references.release(); // the slot's; `found` has one of its own
        }
        exchanged
    }
}

impl BucketPointer for Slot {
    #[inline]
    unsafe fn follow<'r>(&self) -> Option<&'r Bucket> {
        // SAFETY: by contract. Acquire: pairs with the Release in `exchange`.
        unsafe { bucket_at(self.0.load(Ordering::Acquire)) }
    }

    #[inline]
    fn leads_to(&self, bucket: &Bucket, order: Ordering) -> bool {
        eq(self.0.load(order), bucket)
    }
}

/// Returns the word of a slot that `rounds` rounds have left.
fn left(rounds: usize) -> *mut Bucket {
    without_provenance_mut(rounds << 1 | 1)
}

/// Returns the bucket at a word, if it is the address of one.
///
/// # Safety
/// The word is that of a slot whose window lives for `'r`.
#[inline]
unsafe fn bucket_at<'r>(word: *mut Bucket) -> Option<&'r Bucket> {
    // SAFETY: an even word is the address of a bucket of the window.
    (word.addr() & 1 == 0).then(|| unsafe { &*word })
}

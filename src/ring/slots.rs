//! The slots of one generation of the ring: which bucket stands for each start now.
//!
//! A slot is empty at first. From then on it leads to ever newer buckets, each a whole number of rounds
//! after the one before; the thread that replaces one releases the slot's reference to it.

use std::ops::RangeInclusive;
use std::ptr::{from_ref, null_mut};

use crate::error::BuildError;
use crate::ring::bucket::{Bucket, BucketPtr};
use crate::ring::bucket_ref::BucketRef;
use crate::ring::geometry::Geometry;
use crate::ring::ticket::Ticket;
use crate::ring::touched::TouchedSlots;
use crate::sync::Ordering;

/// A ring of slots.
#[derive(Debug)]
pub(super) struct Slots {
    pub(super) geometry: Geometry,
    /// A generation of these slots takes nothing over from the one before.
    pub(super) forgets: bool,
    ring: Box<[BucketPtr]>,
    /// Which of them may lead to buckets whose shared cells were added to.
    pub(super) touched: TouchedSlots,
    /// The first grace period after which no thread writes to these slots or their buckets. Taken when
    /// the generation is over.
    pub(super) no_writers: Ticket,
    /// The first grace period after which no thread reads them either. Taken when their numbers are
    /// carried.
    pub(super) no_readers: Ticket,
}

impl Slots {
    pub(super) fn new(geometry: Geometry) -> Result<Slots, BuildError> {
        let buckets = geometry.buckets();
        let too_many = BuildError::TooManyBuckets { buckets };
        let mut ring = Vec::new();
        if u32::try_from(buckets).is_err() || ring.try_reserve_exact(buckets).is_err() {
            return Err(too_many);
        }
        ring.resize_with(buckets, || BucketPtr::new(null_mut()));
        let (no_writers, no_readers) = (Ticket::default(), Ticket::default());
        let touched = TouchedSlots::new(buckets);
        Ok(Slots {
            geometry,
            forgets: false,
            ring: ring.into_boxed_slice(),
            touched,
            no_writers,
            no_readers,
        })
    }

    /// The same, for a generation that forgets what was before.
    pub(super) fn forgetting(geometry: Geometry) -> Result<Slots, BuildError> {
        Ok(Slots { forgets: true, ..Slots::new(geometry)? })
    }

    /// The slot with a number.
    #[inline]
    pub(super) fn slot(&self, number: usize) -> &BucketPtr {
        &self.ring[number]
    }

    /// The slot of a start.
    pub(super) fn slot_at(&self, start: u64) -> &BucketPtr {
        self.slot(self.geometry.slot_of(start))
    }

    /// All slots.
    pub(super) fn pointers(&self) -> &[BucketPtr] {
        &self.ring
    }

    /// Whether nothing was ever put into a slot. What was current is in its slot once it is retired.
    pub(super) fn is_untouched(&self) -> bool {
        // Relaxed: a thread that has seen a newer bucket current sees those in their slots before it.
        self.ring.iter().all(|slot| slot.load(Ordering::Relaxed).is_null())
    }

    /// Whether a bucket is in its slot. For checks at rest.
    pub(super) fn has(&self, bucket: &Bucket) -> bool {
        std::ptr::eq(self.slot_at(bucket.start()).load(Ordering::Relaxed), bucket)
    }

    /// The bucket in the slot of a start.
    ///
    /// # Safety
    /// The slots' window lives for `'r`.
    pub(super) unsafe fn acquire<'r>(&self, start: u64) -> Option<BucketRef<'r>> {
        // SAFETY: a slot leads to a bucket of its window's.
        unsafe { BucketRef::acquire(self.slot_at(start)) }
    }

    /// Puts `bucket`, to which the caller has a reference, into its slot, unless it or a newer one is there.
    /// Idempotent.
    pub(super) fn install(&self, bucket: &Bucket) {
        let start = bucket.start();
        loop {
            // SAFETY: dropped below, while the caller has a reference to a bucket of the same window.
            let there = unsafe { self.acquire(start) };
            if there.as_ref().is_some_and(|there| there.start() >= start)
                || self.replace(start, there.as_ref(), bucket)
            {
                return;
            }
        }
    }

    /// Puts `new` into the slot of `start` in place of what the caller has found there, an older bucket that
    /// has left the ring. False if the slot leads to another by now.
    pub(super) fn replace(&self, start: u64, found: Option<&BucketRef<'_>>, new: &Bucket) -> bool {
        let old = found.map_or(null_mut(), |found| from_ref(found.bucket()).cast_mut());
        // Release: publishes the bucket to threads that find it here.
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        let new = from_ref(new).cast_mut();
        let replaced = self.slot_at(start).compare_exchange(old, new, order, failed).is_ok();
        if replaced && let Some(old) = found {
            old.references.release(); // the slot's; `found` is one of its own
        }
        replaced
    }

    /// What the shared cells of buckets hold that begin in a range which is not empty, at a position that adds up, if the interval
    /// that ends at `newest` is touched.
    ///
    /// Takes no reference. The caller checks afterwards that `current` is what it was, so that no bucket of
    /// its interval was reused.
    pub(super) fn shared_sum(
        &self,
        starts: RangeInclusive<u64>,
        newest: u64,
        position: usize,
    ) -> u64 {
        let (oldest, span) = (*starts.start(), starts.end().wrapping_sub(*starts.start()));
        let mut sum = 0u64;
        // Loops, and no chain of iterators: this is most of what such a sum takes.
        for range in self.touched.slots(newest) {
            for slot in &self.ring[range.start..range.end.min(self.ring.len())] {
                // SAFETY: buckets live as long as the window. Acquire: pairs with the Release that stored
                // the pointer.
                let Some(bucket) = (unsafe { slot.load(Ordering::Acquire).as_ref() }) else {
                    continue;
                };
                if bucket.start().wrapping_sub(oldest) <= span {
                    // Relaxed: before the fence of the caller's check.
                    let shared = bucket.cells()[position].shared.load(Ordering::Relaxed);
                    sum = sum.wrapping_add(shared);
                }
            }
        }
        sum
    }
}

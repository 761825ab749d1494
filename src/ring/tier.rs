//! Tiers: rings of coarser buckets, which reach further back than the ring itself.
//!
//! A tier holds no counts of its own. A coarse bucket says what all buckets *before* its start have counted through
//! blocks (its mark, a constant once it is noted: see `note`), so that any span is a difference; and it counts
//! in its shared cells what was added to its slice of time other than through a block. Such an add is put into the
//! coarse buckets of all tiers at once. So nothing moves from a finer bucket to a coarser one, and nothing can be
//! missed or doubled on the way.
//!
//! A coarse bucket that no thread has needed does not exist: nothing was live in it, and nothing was added to it.
//! Tiers live as long as the window, so a reader needs no pin to look at their slots.

use crate::error::BuildError;
use crate::ring::bucket::{Bucket, OPEN, Opening};
use crate::ring::bucket_ref::BucketRef;
use crate::ring::cells::Update;
use crate::ring::geometry::Geometry;
use crate::ring::slots::{Place, Slots};
use crate::ring::store::Store;
use crate::ring::touched::Touched;
use crate::sync::{AtomicU64, Ordering};

/// A ring of coarse buckets.
#[derive(Debug)]
pub(super) struct Tier {
    pub(super) slots: Slots,
    /// No other tier of the window has it, and no generation.
    number: u64,
    /// Whether its interval has a coarse bucket whose shared cells were added to.
    pub(super) touched: Touched,
}

impl Tier {
    /// The tier of a window that has so many finer ones.
    pub(super) fn new(index: usize, geometry: Geometry) -> Result<Tier, BuildError> {
        // Generations are numbered from zero up, one for each change of geometry.
        let number = u64::MAX - index as u64;
        Ok(Tier { slots: Slots::new(geometry)?, number, touched: Touched::default() })
    }

    pub(super) fn geometry(&self) -> Geometry {
        self.slots.geometry
    }

    /// The coarse bucket of a time, opened if there is none; `None` if it has left the tier, whose newest bucket
    /// is the one of `newest`.
    pub(super) fn bucket<'r>(
        &'r self,
        at: u64,
        newest: u64,
        store: &'r Store,
    ) -> Option<BucketRef<'r>> {
        let geometry = self.geometry();
        let (start, newest) = (geometry.start_of(at), geometry.start_of(newest));
        if !geometry.in_ring(start, newest) {
            return None;
        }
        loop {
            // SAFETY: a tier lives in its window, as its buckets do.
            match unsafe { self.slots.find(start) } {
                Place::Found(bucket) => return Some(bucket),
                Place::Left { .. } => return None,
                Place::Free(older) => {
                    let opening = &Opening::coarse(start, &self.slots, self.number, newest);
                    let new = store.open_without_block(opening, OPEN);
                    if !self.slots.slot_at(start).replace(&older, new) {
                        new.references.release(); // it will never be in a slot
                    }
                }
            }
        }
    }

    /// Counts `update` in the coarse bucket of a time, beside blocks. False if it has left the tier.
    pub(super) fn put(&self, at: u64, newest: u64, update: Update, store: &Store) -> bool {
        let Some(bucket) = self.bucket(at, newest, store) else { return false };
        self.touch(&bucket);
        update.put(&store.cells(&bucket));
        true
    }

    fn touch(&self, bucket: &Bucket) {
        let until = self.geometry().until(bucket.start());
        self.slots.touched.touch(bucket.slot(), until);
        self.touched.touch(until);
    }

    /// The coarse bucket at a boundary, if it is noted.
    pub(super) fn noted(&self, boundary: u64) -> Option<BucketRef<'_>> {
        // SAFETY: a tier lives in its window, as its buckets do.
        let Place::Found(bucket) = (unsafe { self.slots.find(boundary) }) else { return None };
        bucket.is_closed().then_some(bucket)
    }
}

/// One more than the last start of a bucket that was retired without being noted; zero if there is none.
#[derive(Debug, Default)]
pub(super) struct Missed(AtomicU64);

impl Missed {
    /// Before the bucket at `start` is retired.
    pub(super) fn raise(&self, start: u64) {
        // Relaxed: published with the bucket that replaces it, by the same thread or by one that has not
        // missed it.
        self.0.fetch_max(start.saturating_add(1), Ordering::Relaxed);
    }

    /// One more than the last start that was missed. For a caller that has seen what replaced the bucket there.
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

//! Tiers: rings of coarser buckets, which reach further back than the ring itself.
//!
//! A tier holds no counts of its own. A coarse bucket says what all buckets *before* its start have
//! counted through blocks (its note, a constant once it is there: see `note`), so that any span is
//! a difference; and it counts in its shared cells what was added to its slice of time other than
//! through a block. Such an add is put into the coarse buckets of all tiers at once. So nothing
//! moves from a finer bucket to a coarser one, and nothing can be missed or doubled on the way.
//! Extremes are no differences: when a bucket closes, those of its block are raised in the coarse
//! buckets of its time, where a note stands of what adds up.
//!
//! A coarse bucket says itself whether a bucket was live in it: then it is noted, or *missed*,
//! before that one is retired. One that is neither, or does not exist, begins where the next one
//! does. What tiers are made of, and how long they live: see `tiers`.

use crate::ring::cells::Update;
use crate::ring::order::bucket::{Bucket, OPEN, Opening};
use crate::ring::order::bucket_ref::BucketRef;
use crate::ring::order::slots::Place;
use crate::ring::order::tiers::Tier;
use crate::ring::store::Store;

impl Tier {
    /// The coarse bucket of a time, opened if there is none; `None` if it has left the tier, whose
    /// newest bucket is the one of `newest`.
    pub(in crate::ring) fn bucket<'r>(
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

    /// Counts `update` in the coarse bucket of a time, beside blocks; nowhere if it has left the
    /// tier.
    pub(in crate::ring) fn put(&self, at: u64, newest: u64, update: Update, store: &Store) {
        let Some(bucket) = self.bucket(at, newest, store) else { return };
        self.touch(&bucket);
        update.put(&store.cells(&bucket));
    }

    fn touch(&self, bucket: &Bucket) {
        let until = self.geometry().until(bucket.start());
        self.slots.touched.touch(bucket.slot(), until);
        self.touched.touch(until);
    }

    /// The coarse bucket at a boundary, if it is noted.
    pub(in crate::ring) fn noted(&self, boundary: u64) -> Option<BucketRef<'_>> {
        // SAFETY: a tier lives in its window, as its buckets do.
        let Place::Found(bucket) = (unsafe { self.slots.find(boundary) }) else { return None };
        bucket.is_closed().then_some(bucket)
    }
}

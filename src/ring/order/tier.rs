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
//! does.
//!
//! A generation has the tiers of the one before, until `clear` takes the ring back to an earlier
//! time: boundaries that it comes to again must not have the notes of the first time. Then the next
//! generation's tiers begin anew.

use std::ops::Deref;
use std::sync::Arc;

use crate::error::BuildError;
use crate::ring::order::bucket::Bucket;
use crate::ring::order::bucket_ref::BucketRef;
use crate::ring::order::geometry::Geometry;
use crate::ring::order::slots::{Lookup, Slots, Touched};

/// The tiers of a window, each coarser than the one before.
#[derive(Debug)]
pub(in crate::ring) struct Tiers {
    all: Box<[Tier]>,
    /// The number of the first generation that has them.
    since: u64,
}

impl Tiers {
    /// Empty tiers, for the generations from one with a number on.
    pub(in crate::ring) fn new(geometries: &[Geometry], since: u64) -> Result<Tiers, BuildError> {
        let first = since.wrapping_mul(geometries.len() as u64);
        let numbered = geometries.iter().zip(first..);
        let all = numbered.map(|(geometry, index)| Tier::new(index, *geometry));
        Ok(Tiers { all: all.collect::<Result<_, _>>()?, since })
    }

    /// Whether one bucket of each tier contains both times.
    pub(in crate::ring) fn are_at_one(&self, time: u64, other: u64) -> bool {
        let mut geometries = self.all.iter().map(Tier::geometry);
        geometries.all(|geometry| geometry.start_of(time) == geometry.start_of(other))
    }

    /// Whether the buckets of the generation with a number count in them.
    pub(in crate::ring) fn have(&self, generation: u64) -> bool {
        generation >= self.since
    }
}

impl Deref for Tiers {
    type Target = [Tier];

    fn deref(&self) -> &[Tier] {
        &self.all
    }
}

/// A ring of coarse buckets.
#[derive(Debug)]
pub(in crate::ring) struct Tier {
    pub(in crate::ring) slots: Arc<Slots>,
    /// No other tier of the window has it, and no generation.
    pub(in crate::ring) number: u64,
    /// Whether its interval has a coarse bucket whose shared cells were added to.
    pub(in crate::ring) touched: Touched,
}

impl Tier {
    /// The tier of a window that was made after so many others.
    fn new(index: u64, geometry: Geometry) -> Result<Tier, BuildError> {
        // Generations are numbered from zero up, one for each change of geometry.
        let number = u64::MAX - index;
        let slots = Arc::new(Slots::new(geometry)?);
        Ok(Tier { slots, number, touched: Touched::default() })
    }

    pub(in crate::ring) fn geometry(&self) -> Geometry {
        self.slots.geometry
    }

    pub(in crate::ring) fn touch(&self, bucket: &Bucket) {
        let until = self.geometry().until(bucket.start());
        self.slots.touched.touch(bucket.slot(), until);
        self.touched.touch(until);
    }

    /// The coarse bucket at a boundary, if it is noted.
    pub(in crate::ring) fn with_prefix(&self, boundary: u64) -> Option<BucketRef<'_>> {
        // SAFETY: a tier lives in its window, as its buckets do.
        let Lookup::Found(bucket) = (unsafe { self.slots.find(boundary) }) else { return None };
        bucket.has_prefix().then_some(bucket)
    }
}

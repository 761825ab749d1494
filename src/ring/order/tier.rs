//! Tiers: rings of coarser buckets, which reach further back than the ring itself.
//!
//! A tier holds no counts of its own. A coarse bucket has the *prefix* of its start: what all
//! buckets before it have counted through blocks, a constant once it is written (see `prefix`). So
//! any span is a difference of prefixes. In its shared cells a coarse bucket counts what was added
//! to its slice of time other than through a block: such an add goes into the coarse buckets of all
//! tiers at once. So nothing moves from a finer bucket to a coarser one, and nothing can be missed
//! or doubled on the way. Extremes are no differences: when a bucket closes, the extremes of its
//! block are raised in the coarse buckets of its time, in the cells where additive positions have
//! their prefix. Both also go into longer slices of the tier's time, its levels (see `level`).
//!
//! A coarse bucket itself says whether one of its finer buckets was live: it has its prefix, or is
//! *missed*, before such a bucket is retired. A coarse bucket that does not exist, or is neither,
//! has the prefix of the next boundary. Reads find that by `marks`.
//!
//! A generation has the tiers of the one before, until `clear` takes the ring back to an earlier
//! time: a boundary that the ring passes again must not have the prefix of the first time. Then the
//! next generation begins with new tiers.

use std::iter::once;
use std::ops::Deref;
use std::sync::Arc;

use crate::error::BuildError;
use crate::ring::order::bucket_ref::BucketRef;
use crate::ring::order::geometry::Geometry;
use crate::ring::order::level::{self, Level};
use crate::ring::order::marks::Marks;
use crate::ring::order::slots::{Lookup, Slots, Touched};

/// The tiers of a window, each coarser than the one before.
#[derive(Clone, Debug)]
pub(in crate::ring) struct Tiers {
    all: Arc<[Tier]>,
    /// The number of the first generation with these tiers.
    since: u64,
}

impl Tiers {
    /// Returns those of a window without tiers.
    pub(in crate::ring) fn none() -> Tiers {
        Tiers { all: Arc::default(), since: 0 }
    }

    /// Makes empty tiers for the generations from number `since` on.
    pub(in crate::ring) fn new(
        geometries: impl Iterator<Item = Geometry> + Clone,
        since: u64,
    ) -> Result<Tiers, BuildError> {
        let levels = geometries.clone().flat_map(level::geometries).count();
        // Generations are numbered from zero upwards, one for each change of geometry.
        let mut numbers = (0..=u64::MAX - since.wrapping_mul(levels as u64)).rev();
        let tiers = geometries.enumerate();
        let all = tiers.map(|(tier, geometry)| Tier::new(&mut numbers, tier, geometry));
        Ok(Tiers { all: all.collect::<Result<_, _>>()?, since })
    }

    /// Returns whether these are the `other` tiers, of the same window. (Each change to new ones
    /// makes a generation, which has a number of its own.)
    pub(in crate::ring) fn are(&self, other: &Tiers) -> bool {
        self.since == other.since
    }

    /// Returns whether two times lie in one bucket of each tier.
    pub(in crate::ring) fn are_at_one(&self, time: u64, other: u64) -> bool {
        let mut geometries = self.all.iter().map(Tier::geometry);
        geometries.all(|geometry| geometry.start_of(time) == geometry.start_of(other))
    }

    /// Returns the slots of all levels.
    pub(in crate::ring) fn each_slots(&self) -> impl Iterator<Item = &Arc<Slots>> {
        self.all.iter().flat_map(Tier::levels).map(|level| &level.slots)
    }

    /// Returns whether the buckets of a generation count in these tiers.
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
    /// Its coarse buckets.
    pub(in crate::ring) coarse: Level,
    /// The levels above, of ever longer slices.
    above: Box<[Level]>,
    /// The newest interval with a touched coarse bucket.
    pub(in crate::ring) touched: Touched,
    pub(in crate::ring) marks: Marks,
}

impl Tier {
    /// Makes the tier with a number among the window's, whose levels take the next of `numbers`.
    fn new(
        numbers: &mut impl Iterator<Item = u64>,
        tier: usize,
        geometry: Geometry,
    ) -> Result<Tier, BuildError> {
        let levels = level::geometries(geometry).zip(numbers).enumerate();
        let level = |(level, (geometry, number))| Level::new(number, (tier, level), geometry);
        let mut levels = levels.map(level);
        let coarse = levels.next().expect("its own, and there are numbers enough")?;
        let above = levels.collect::<Result<_, _>>()?;
        let (touched, marks) = (Touched::default(), Marks::new(geometry.buckets()));
        Ok(Tier { coarse, above, touched, marks })
    }

    pub(in crate::ring) fn geometry(&self) -> Geometry {
        self.coarse.slots.geometry
    }

    /// Returns the last nanosecond of the coarse bucket at a boundary.
    pub(in crate::ring) fn last_of(&self, boundary: u64) -> u64 {
        boundary.saturating_add(self.geometry().length() - 1)
    }

    /// Returns its levels, that of its coarse buckets first.
    pub(in crate::ring) fn levels(&self) -> impl Iterator<Item = &Level> {
        once(&self.coarse).chain(&self.above)
    }

    /// Returns the level of its coarse buckets, and those above.
    pub(in crate::ring) fn coarse_and_above(&self) -> (&Level, &[Level]) {
        (&self.coarse, &self.above)
    }

    /// Says that the shared cells of the coarse bucket of a time are about to be added to.
    pub(in crate::ring) fn touch(&self, at: u64) {
        let geometry = self.geometry();
        self.touched.touch(geometry.until(geometry.start_of(at)));
    }

    /// Returns the coarse bucket at a boundary, if it has its prefix.
    pub(in crate::ring) fn with_prefix(&self, boundary: u64) -> Option<BucketRef<'_>> {
        // SAFETY: a tier lives in its window, as its buckets do.
        let Lookup::Found(bucket) = (unsafe { self.coarse.slots.find(boundary) }) else {
            return None;
        };
        bucket.has_prefix().then_some(bucket)
    }
}

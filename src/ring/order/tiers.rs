//! The tiers of a generation: what they are made of.
//!
//! A generation has the tiers of the one before, until `clear` takes the ring back to an earlier
//! time: boundaries that it comes to again must not have the notes of the first time. Then the next
//! generation's tiers begin anew.

use std::ops::Deref;
use std::sync::Arc;

use crate::error::BuildError;
use crate::ring::order::geometry::Geometry;
use crate::ring::order::slots::Slots;
use crate::ring::order::touched::Touched;

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
}

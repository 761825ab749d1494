//! Levels: rings of ever longer slices of a tier's time, so that a few of them make a span of any
//! length.
//!
//! The slices of a tier's first level are its coarse buckets. A slice of the next level is as long
//! as eight of them, and so on. An add beside blocks goes into the slice of its time in each level,
//! as the extremes of a closed bucket do (see `tier`). A span is read as a *cover*, slices that do
//! not overlap: coarse buckets at its ends, and ever longer slices in between.
//!
//! # Why this is right
//!
//! Each slice of the cover lies in the span, and each time of the span in one slice. So an add to
//! the span is in one slice of the cover: it is counted once, or, while it is under way, not yet.
//!
//! A slice of the cover is in its level's ring as long as its first coarse bucket is in the tier,
//! because each slice that can have a part in the ring below has a slot in its level.
//!
//! If nothing later than the span has counted, its last slices may go on behind its end. The caller
//! looks at `current` afterwards: a thread that adds to a later time has found a later bucket
//! current, and a reader that has counted that add finds it, too.

use std::sync::Arc;
use std::time::Duration;

use crate::error::BuildError;
use crate::ring::order::bucket::Bucket;
use crate::ring::order::bucket_ref::Versioned;
use crate::ring::order::geometry::Geometry;
use crate::ring::order::slots::Slots;

/// The number of slices of one level that a slice of the next stands for, as a power of two.
const BITS: u32 = 3;
/// A level of at most this many slices has none above it.
const FEW: usize = 32;

/// A ring of slices of one length.
#[derive(Debug)]
pub(in crate::ring) struct Level {
    pub(in crate::ring) slots: Arc<Slots>,
    /// Unique among the window's levels and generations.
    pub(in crate::ring) number: u64,
    /// Its place among the levels of the window's tiers: the number of the tier, and its own there.
    pub(in crate::ring) place: (usize, usize),
}

impl Level {
    /// Makes an empty level.
    pub(in crate::ring) fn new(
        number: u64,
        place: (usize, usize),
        geometry: Geometry,
    ) -> Result<Level, BuildError> {
        Ok(Level { slots: Arc::new(Slots::of_level(geometry)?), number, place })
    }

    /// Calls `see` with the slices from number `first` to `last` that were ever opened; they are
    /// not more than the ring has. Returns `None` if one has changed meanwhile.
    fn each(&self, first: u64, last: u64, see: &mut impl FnMut(&Bucket)) -> Option<()> {
        let (length, slots) = (self.slots.geometry.length(), self.slots.all());
        let (slot, count) = ((first % slots.len() as u64) as usize, last - first + 1);
        let (mut start, mut ring) = (first * length, slots[slot..].iter());
        for _ in 0..count {
            let slot = ring.next().or_else(|| {
                ring = slots.iter();
                ring.next()
            })?;
            // SAFETY: buckets live as long as the window.
            if let Some(found) = unsafe { Versioned::load(slot) } {
                if found.bucket.start() == start {
                    see(found.bucket);
                }
                if !found.is_valid() {
                    return None;
                }
            } else if slot.rounds_left().is_none() {
                return None; // there is a bucket, but another by now
            }
            start = start.wrapping_add(length); // behind the last one, time may have ended
        }
        Some(())
    }
}

/// Returns the geometries of the levels of a tier, its own first.
pub(in crate::ring) fn geometries(tier: Geometry) -> impl Iterator<Item = Geometry> {
    std::iter::successors(Some(tier), |below| {
        if below.buckets() <= FEW {
            return None;
        }
        // The most that can have a part in the interval below.
        let buckets = (below.buckets() - 1).div_ceil(1 << BITS) + 1;
        // None where slices would be longer than time is.
        let length = Duration::from_nanos(below.length().checked_mul(1 << BITS)?);
        Geometry::of_length(length, buckets).ok()
    })
}

/// Calls `see` with the slices of a cover that were ever opened: of the coarse buckets from the one
/// at `from` to that of `last`, or with `is_newest`, from the one at `from` on. Returns `None` if a
/// slice has changed meanwhile.
///
/// Takes no reference. The caller checks afterwards that `current` is what it was, or that the
/// coarse bucket at `from` is still in the tier: then so were all of these.
pub(in crate::ring) fn each_in_cover<'l>(
    levels: impl Iterator<Item = &'l Level>,
    from: u64,
    (last, is_newest): (u64, bool),
    mut see: impl FnMut(&Bucket),
) -> Option<()> {
    let mut levels = levels.peekable();
    let length = levels.peek()?.slots.geometry.length();
    let (mut first, mut last) = (from / length, last / length);
    let few = (1 << BITS) - 1;
    while let Some(level) = levels.next() {
        // A short span holds at most one slice of the next level.
        if levels.peek().is_none() || last - first <= few {
            return level.each(first, last, &mut see);
        }
        if is_newest {
            last |= few;
        }
        // The slices before the first of eight, and those behind the last of eight.
        let (begun, ended) = (first | few, last & !few);
        if first & few != 0 {
            level.each(first, begun, &mut see)?;
            first = begun + 1;
        }
        if last & few != few {
            level.each(ended, last, &mut see)?;
            let Some(before) = ended.checked_sub(1) else { return Some(()) };
            last = before;
        }
        if first > last {
            return Some(());
        }
        (first, last) = (first >> BITS, last >> BITS);
    }
    Some(())
}

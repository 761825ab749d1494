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
//!
//! # The content of a slot
//!
//! A reader takes a slice for its own if it has found it in its slot, then found its start, and
//! then found it in the slot again. It looks at no version: a slice of the tier stays what it is
//! until `current` has moved on by a round, which the caller finds. (A thread that reuses it has
//! seen that, and passes a Release fence before it writes.)
//!
//! The first look alone would not do: the slot may lead to a slice that has left. Its memory may be
//! reused meanwhile, and bear the reader's start: while it is being opened, or after another thread
//! has put its own into the slot first; then it is reused at once. It was taken out of the slot
//! before, and is there again only when it is opened.
//!
//! A slice that the reader leaves out was not there when it began: if an add to it happened before,
//! the reader finds it in its slot, by coherence, or a later one.

use std::sync::Arc;
use std::time::Duration;

use crate::error::BuildError;
use crate::ring::order::bucket::Bucket;
use crate::ring::order::bucket_ref::BucketPointer;
use crate::ring::order::geometry::Geometry;
use crate::ring::order::slots::Slots;
use crate::sync::{Ordering, fence};

/// The number of slices of one level that a slice of the next stands for, as a power of two.
const BITS: u32 = 3;
/// A tier of at most this many buckets has no level above its own.
const FEW: usize = 32;
/// The highest level of a longer tier has at most this many slices.
const MOST_AT_THE_TOP: usize = 16;

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

    /// Folds those of `count` slices from number `first` on that were ever opened; the ring has no
    /// fewer slots. Returns `None` if one has changed meanwhile.
    pub(in crate::ring) fn fold<T>(
        &self,
        (first, count): (u64, u64),
        all: T,
        with: impl Fn(T, &Bucket) -> T + Copy,
    ) -> Option<T> {
        let (length, slots) = (self.slots.geometry.length(), self.slots.all());
        debug_assert!(count <= slots.len() as u64, "a span that is longer than its ring");
        let (before, behind) = slots.split_at((first % slots.len() as u64) as usize);
        let mut start = first * length;
        let up_to_the_last = behind.len().min(count as usize);
        let from_the_first = count as usize - up_to_the_last;
        let mut run = behind[..up_to_the_last].iter().chain(&before[..from_the_first]);
        run.try_fold(all, |mut all, slot| {
            // SAFETY: buckets live as long as the window.
            if let Some(bucket) = unsafe { slot.follow() }
                && bucket.start() == start
            {
                // Pairs with the fence in `begin_init`: a reader that has seen the start sees that
                // the memory was taken out of the slot before, if it was.
                fence(Ordering::Acquire);
                // Acquire: as in `follow`; it may have been reused, and stored here again.
                if !slot.leads_to(bucket, Ordering::Acquire) {
                    return None;
                }
                all = with(all, bucket);
            }
            start = start.wrapping_add(length); // behind the last one, time may have ended
            Some(all)
        })
    }
}

/// Returns the geometries of the levels of a tier, its own first.
pub(in crate::ring) fn geometries(tier: Geometry) -> impl Iterator<Item = Geometry> {
    std::iter::successors(Some(tier), move |below| {
        let most = if below.length() == tier.length() { FEW } else { MOST_AT_THE_TOP };
        if below.buckets() <= most {
            return None;
        }
        // The most that can have a part in the interval below.
        let buckets = (below.buckets() - 1).div_ceil(1 << BITS) + 1;
        // None where slices would be longer than time is.
        let length = Duration::from_nanos(below.length().checked_mul(1 << BITS)?);
        Geometry::of_length(length, buckets).ok()
    })
}

/// Folds the slices of a cover that were ever opened: of the coarse buckets from the one at `from`
/// to that of `last`, or with `is_newest`, from the one at `from` on. Returns `None` if a slice has
/// changed meanwhile.
///
/// Takes no reference. The caller checks afterwards that `current` is what it was, or that the
/// coarse bucket at `from` is still in the tier: then so were all of these.
pub(in crate::ring) fn fold_cover<T: Copy>(
    (coarse, above): (&Level, &[Level]),
    from: u64,
    (last, is_newest): (u64, bool),
    zero: T,
    with: impl Fn(T, &Bucket) -> T + Copy,
) -> Option<T> {
    let length = coarse.slots.geometry.length();
    let (mut first, mut last) = (from / length, last / length);
    let few = (1 << BITS) - 1;
    let (mut level, mut above, mut all) = (coarse, above.iter(), zero);
    loop {
        // A short span holds at most one slice of the next level.
        let next = if last - first > few { above.next() } else { None };
        let (begun, ended) = if next.is_none() {
            (last - first + 1, 0)
        } else {
            if is_newest {
                last |= few;
            }
            // The slices before the first of eight, and those behind the last of eight.
            (first.wrapping_neg() & few, last.wrapping_add(1) & few)
        };
        let before_last = last.wrapping_sub(ended);
        for run in [(first, begun), (before_last.wrapping_add(1), ended)] {
            if run.1 > 0 {
                all = level.fold(run, all, with)?;
            }
        }
        let Some(next) = next else { return Some(all) };
        first += begun;
        if first > before_last {
            return Some(all);
        }
        (level, first, last) = (next, first >> BITS, before_last >> BITS);
    }
}

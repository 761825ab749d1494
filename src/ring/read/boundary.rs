//! The boundaries of a tier: which are known, and what was counted before them.
//!
//! A coarse bucket that neither has its prefix nor is missed has not been left: no bucket was
//! retired between its boundary and the next, so the prefix of the next boundary will do. If that
//! goes on up to the live bucket, only this one lies behind the boundary. But for a coarse bucket
//! that is missed, it is not known what was counted before. Then the boundary is not *known*, and a
//! span begins, or ends, at another one. A thread misses a coarse bucket before it retires one that
//! lies in it: so a boundary that is known when a view looks may be unknown at a next look. But a
//! view looks once. If it has found that a boundary needs no prefix, and that changes, then
//! `current` has moved on, which the read finds. A coarse bucket is also *marked* before (see
//! `marks`): one without a mark needs no look.

use crate::ring::order::bucket::{Bucket, CoarsePrefix};
use crate::ring::order::tier::Tier;
use crate::ring::read::view::View;

/// The counts through blocks before a boundary.
#[derive(Clone, Copy, Debug)]
pub(super) enum Before<'g> {
    /// The prefix of this coarse bucket.
    Known(&'g Bucket),
    /// All that the live bucket has not counted.
    AllButLive,
    /// Everything: the live bucket is older than the boundary.
    All,
}

/// The prefix of a boundary, as its coarse bucket has it.
enum BoundaryPrefix<'g> {
    Known(&'g Bucket),
    Missed,
    /// No prefix is needed: no bucket that lies in the coarse one is retired.
    Unneeded,
}

/// Returns the prefix of the boundary of a slot.
fn prefix_at<'g>(
    view: &View<'g>,
    tier: &'g Tier,
    slot: usize,
    boundary: u64,
) -> BoundaryPrefix<'g> {
    // A coarse bucket that has left the tier may be reused meanwhile; a coarse bucket of its
    // interval is not reused before `current` moves on.
    let Ok(found) = view.load(tier.coarse.slots.slot(slot)) else {
        return BoundaryPrefix::Unneeded;
    };
    let bucket = found.bucket;
    let found_prefix = match bucket.coarse_prefix() {
        _ if bucket.start() != boundary => BoundaryPrefix::Unneeded,
        CoarsePrefix::Published => BoundaryPrefix::Known(bucket),
        CoarsePrefix::Missed => BoundaryPrefix::Missed,
        CoarsePrefix::Absent => BoundaryPrefix::Unneeded,
    };
    if view.is_valid(view.inherited(found)) { found_prefix } else { BoundaryPrefix::Unneeded }
}

/// Returns the first known boundary from one on, and what was counted before it.
pub(super) fn next_known<'g>(view: &View<'g>, tier: &'g Tier, boundary: u64) -> (u64, Before<'g>) {
    let (geometry, live) = (tier.geometry(), view.live());
    let (mut known, mut from) = (boundary, Some(boundary));
    // A coarse bucket that is not marked needs no prefix.
    while let Some((start, slot)) = from.and_then(|from| tier.marks.next(geometry, from, live)) {
        match prefix_at(view, tier, slot, start) {
            BoundaryPrefix::Known(bucket) => return (known, Before::Known(bucket)),
            // If there is no later boundary, the time ends there.
            BoundaryPrefix::Missed => known = start.wrapping_add(geometry.length()),
            BoundaryPrefix::Unneeded => {}
        }
        from = start.checked_add(geometry.length());
    }
    let is_ahead = known > live || known < boundary;
    (known, if is_ahead { Before::All } else { Before::AllButLive })
}

/// Returns the newest boundary before one that has its prefix, and is not before `oldest`. (What
/// holds for a boundary that is not known holds for earlier ones, up to one behind which a bucket
/// was retired.)
#[cold]
pub(super) fn older_known<'g>(
    view: &View<'g>,
    tier: &'g Tier,
    boundary: u64,
    oldest: u64,
) -> Option<(u64, Before<'g>)> {
    let (geometry, mut older) = (tier.geometry(), boundary);
    loop {
        older = older.checked_sub(geometry.length()).filter(|older| *older >= oldest)?;
        if let BoundaryPrefix::Known(bucket) = prefix_at(view, tier, geometry.slot_of(older), older)
        {
            return Some((older, Before::Known(bucket)));
        }
    }
}

/// Returns the first coarse bucket, at or behind `newest`, that ends at a known boundary, and what
/// was counted before that.
pub(super) fn next_end<'g>(view: &View<'g>, tier: &'g Tier, newest: u64) -> (u64, Before<'g>) {
    let length = tier.geometry().length();
    // Mostly, nothing behind it was live.
    let Some(next) = newest.checked_add(length).filter(|next| *next <= view.live()) else {
        return (newest, Before::All);
    };
    let (end, until) = next_known(view, tier, next);
    (end.wrapping_sub(length), until)
}

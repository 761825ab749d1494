//! Reading a tier: what a span holds that begins at one of its boundaries.
//!
//! Through blocks, the span from a boundary up to now has counted what all blocks sum to, less the boundary's mark:
//! each such add is in that difference exactly once, whether its bucket is live, retired, closed or reused by then.
//! Beside blocks, it has counted what the shared cells of the tier's coarse buckets hold, from the boundary on.
//!
//! # Why this is right
//!
//! As for sums at once (see `at_once`): the read ends with a look at `current`, and at its version. If both are the same,
//! no bucket was retired meanwhile. So all marks are what they were, no coarse bucket of the tier's interval has
//! left its slot, and no block was given to another bucket that counts.
//!
//! If there is no mark at the boundary, no thread has needed it: no bucket was retired between the boundary and
//! the next one that has a mark, so that one will do. If none has, only the live bucket lies behind the boundary.
//! But where a bucket was [missed](super::note), no such thing can be said; then an older boundary is taken.

use std::ops::RangeInclusive;

use crate::ring::block::Block;
use crate::ring::bucket::Bucket;
use crate::ring::geometry::Geometry;
use crate::ring::tier::Tier;
use crate::ring::view::View;
use crate::sync::Ordering;

/// A span that begins at a boundary of a tier and ends with the bucket of the view's time.
pub(crate) struct TierSpan<'v, 'g> {
    view: &'v View<'g>,
    tier: &'g Tier,
    from: u64,
    before: Before<'g>,
}

/// What was counted through blocks before a boundary.
#[derive(Clone, Copy)]
enum Before<'g> {
    /// A coarse bucket's note.
    Noted(&'g Bucket),
    /// All that the live bucket has not counted.
    AllButLive,
    /// Everything: the live bucket is older than the boundary.
    All,
}

impl<'v, 'g> TierSpan<'v, 'g> {
    /// The span from the boundary at or before `from` on, or from an older one if that is not known any more;
    /// `None` if the tier does not reach back so far, or if the time is before the live bucket.
    pub(crate) fn of(view: &'v View<'g>, tier: usize, from: u64) -> Option<TierSpan<'v, 'g>> {
        let tier = view.ring().tiers.get(tier)?;
        let geometry = tier.geometry();
        let newest = geometry.start_of(view.newest());
        let oldest = geometry.oldest(newest);
        let mut from = geometry.start_of(from);
        if view.now() < view.live() || from < oldest || from > newest {
            return None;
        }
        loop {
            if let Some(before) = before(view, tier, from) {
                return Some(TierSpan { view, tier, from, before });
            }
            from = from.checked_sub(geometry.length()).filter(|from| *from >= oldest)?;
        }
    }

    /// All of a tier, as far back as it reaches.
    pub(crate) fn whole(view: &'v View<'g>, tier: usize) -> Option<TierSpan<'v, 'g>> {
        let geometry = view.ring().tiers.get(tier)?.geometry();
        let oldest = geometry.oldest(geometry.start_of(view.newest()));
        (view.now() >= view.live()).then(|| {
            let tier = &view.ring().tiers[tier];
            let before = before(view, tier, oldest).unwrap_or(Before::All); // of each bucket by itself
            TierSpan { view, tier, from: oldest, before }
        })
    }

    /// The starts of its coarse buckets.
    pub(crate) fn starts(&self) -> impl Iterator<Item = u64> {
        let (from, geometry) = (self.from, self.geometry());
        let newest = geometry.start_of(self.view.newest());
        let count = (newest - from) / geometry.length();
        (0..=count).map(move |index| from + index * geometry.length())
    }

    /// Where it begins.
    pub(crate) fn from(&self) -> u64 {
        self.from
    }

    pub(crate) fn geometry(&self) -> Geometry {
        self.tier.geometry()
    }

    /// What it holds at a position. All numbers belong together if the view is not overtaken at the
    /// [end](Self::end).
    pub(crate) fn number(&self, position: usize) -> u64 {
        self.between((self.from, self.before), (u64::MAX, Before::All), position)
    }

    /// What the coarse bucket at a start of the span holds at a position. Where its boundary is not known, the
    /// one before it holds what both do.
    pub(crate) fn number_of(&self, start: u64, position: usize) -> u64 {
        let last = self.last_of(start);
        let after = last.checked_add(1).map_or(Before::All, |next| self.before(next));
        self.between((start, self.before(start)), (last, after), position)
    }

    /// What was counted before a boundary, or before the next that is known.
    fn before(&self, mut boundary: u64) -> Before<'g> {
        loop {
            if let Some(before) = before(self.view, self.tier, boundary) {
                return before;
            }
            match boundary.checked_add(self.geometry().length()) {
                Some(next) => boundary = next,
                None => return Before::All,
            }
        }
    }

    /// Whether only back-dated adds can change what the coarse bucket at a start holds.
    pub(crate) fn is_closed(&self, start: u64) -> bool {
        let next = self.last_of(start).checked_add(1);
        let after = next.and_then(|next| before(self.view, self.tier, next));
        matches!(after, Some(Before::Noted(_) | Before::AllButLive)) && self.view.is_past(start)
    }

    /// Ends the read: the view is overtaken unless `current` is what it was.
    pub(crate) fn end(self) {
        self.view.check_current();
    }

    /// The last nanosecond of the coarse bucket at a start.
    fn last_of(&self, start: u64) -> u64 {
        start.saturating_add(self.geometry().length() - 1)
    }

    /// What is from a boundary on, with what was counted before it, up to the end of a coarse bucket, with what was
    /// counted before the next.
    fn between(&self, from: (u64, Before<'_>), last: (u64, Before<'_>), position: usize) -> u64 {
        let (layout, slots) = (self.view.layout(), &self.tier.slots);
        let starts = from.0..=last.0;
        if !layout.adds_up(position) {
            let beside = slots.shared_extreme(starts.clone(), position);
            return beside.max(self.open_extreme(&starts, position));
        }
        let newest = self.geometry().start_of(self.view.newest());
        let is_touched = self.tier.touched.reaches(newest);
        let beside = if is_touched { slots.shared_sum(starts, newest, position) } else { 0 };
        let through_blocks = self.counted(from.1, last.1, position);
        layout.without_pending(position, through_blocks.wrapping_add(beside))
    }

    /// What was counted through blocks between two boundaries. Each block is read once.
    fn counted(&self, from: Before<'_>, to: Before<'_>, position: usize) -> u64 {
        // Acquire: pairs with the Release fence in `begin_init`: if the bucket was reused, `current` is
        // seen to have moved on.
        let note = |bucket: &Bucket| bucket.cells()[position].total.load(Ordering::Acquire);
        let blocks = &self.view.ring().store.blocks;
        let live = self.view.found().bucket.block();
        let sum = |index: usize| blocks[index].present_sum(position);
        match (from, to) {
            (Before::Noted(from), Before::Noted(to)) => note(to).wrapping_sub(note(from)),
            (Before::Noted(from), Before::AllButLive) => {
                let but_live = |index| {
                    if Some(index) == live { blocks[index].base(position) } else { sum(index) }
                };
                let all = (0..blocks.len()).map(but_live).fold(0, u64::wrapping_add);
                all.wrapping_sub(note(from))
            }
            (Before::Noted(from), Before::All) => {
                let all = (0..blocks.len()).map(sum).fold(0, u64::wrapping_add);
                all.wrapping_sub(note(from))
            }
            (Before::AllButLive, Before::All) => {
                live.map_or(0, |index| blocks[index].difference(position))
            }
            _ => 0,
        }
    }

    /// The extreme of the blocks whose owners are not closed and begin in a range. (A closed bucket's is in
    /// the tier's cells before it is gone from the block.)
    fn open_extreme(&self, starts: &RangeInclusive<u64>, position: usize) -> u64 {
        let extreme = |block: &Block| {
            // SAFETY: blocks and buckets live as long as the window.
            let owner = unsafe { block.peek_owner() }?;
            starts.contains(&owner.start()).then(|| block.sum(position))
        };
        self.view.ring().store.blocks.iter().filter_map(extreme).fold(0, u64::max)
    }
}

/// What is known of what was counted through blocks before a boundary.
fn before<'g>(view: &View<'g>, tier: &'g Tier, boundary: u64) -> Option<Before<'g>> {
    if boundary > view.live() {
        return Some(Before::All);
    }
    let geometry = tier.geometry();
    let is_missed = view.ring().missed.is_behind(boundary);
    let mut start = boundary;
    loop {
        // SAFETY: buckets live as long as the window. Acquire: pairs with the Release that stored the
        // pointer.
        let bucket = unsafe { tier.slots.slot_at(start).load(Ordering::Acquire).as_ref() };
        if let Some(bucket) = bucket
            && bucket.is_closed()
            && bucket.start() == start
        {
            return Some(Before::Noted(bucket));
        }
        if is_missed {
            return None;
        }
        if start >= geometry.start_of(view.live()) {
            return Some(Before::AllButLive);
        }
        start += geometry.length();
    }
}

//! Reading a tier: what a span holds that begins at one of its boundaries, and what each coarse bucket holds.
//!
//! Through blocks, the span from a boundary up to now has counted what all blocks sum to, less what was counted before
//! the boundary: each such add is in that difference exactly once, whether its bucket is live, retired, closed or
//! reused by then. Beside blocks, it has counted what the shared cells of its coarse buckets hold.
//!
//! # Why this is right
//!
//! As for sums at once (see `at_once`): the read ends with a look at `current`, and at its version. If both are the
//! same, no bucket was retired meanwhile. So no note has changed, no coarse bucket of the tier's interval has
//! left its slot, and no block was given to another bucket that counts.
//!
//! A boundary without a note was passed by no thread: no bucket was retired between it and the next boundary that
//! has one, so that one's note will do. If none has one, only the live bucket lies behind the boundary. But where a
//! bucket was [missed](super::tiers::Missed), this cannot be said, and the boundary is not known.
//!
//! Coarse buckets before the newest need no look at `current`: their notes are constants.

use std::iter::successors;

use crate::ring::block::Block;
use crate::ring::bucket::Bucket;
use crate::ring::geometry::Geometry;
use crate::ring::store::Store;
use crate::ring::tiers::Tier;
use crate::ring::view::{Versioned, View};
use crate::sync::{Ordering, fence};

/// A span of a tier: from one boundary up to the end of a coarse bucket.
pub(crate) struct TierSpan<'v, 'g> {
    view: &'v View<'g>,
    tier: &'g Tier,
    from: u64,
    /// The start of its newest coarse bucket.
    newest: u64,
    before: Before<'g>,
    /// What was counted before its end.
    until: Before<'g>,
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
    /// The span of the coarse buckets from `from` to `newest`, both in the tier. Where a boundary was missed, the
    /// next one stands for it: what was missed counts in the older bucket.
    pub(crate) fn of(view: &'v View<'g>, tier: usize, from: u64, newest: u64) -> TierSpan<'v, 'g> {
        let tier = &view.generation().tiers[tier];
        let next = newest.checked_add(tier.geometry().length());
        let before = before_or_next(view, tier, from);
        let until = next.map_or(Before::All, |next| before_or_next(view, tier, next));
        TierSpan { view, tier, from, newest, before, until }
    }

    /// What it holds at a position. All numbers belong together if the view is not overtaken at the
    /// [end](Self::end).
    pub(crate) fn number(&self, position: usize) -> u64 {
        let layout = self.view.layout();
        let through_blocks = if layout.adds_up(position) {
            self.counted(position)
        } else {
            let last = self.newest.saturating_add(self.tier.geometry().length() - 1);
            open_extreme(self.view, self.from, last, position)
        };
        let beside = self.beside(position);
        layout.without_pending(position, layout.join(position, through_blocks, beside))
    }

    /// What was counted through blocks before it, at a position that adds up.
    pub(crate) fn counted_before(&self, position: usize) -> u64 {
        match self.before {
            Before::Noted(bucket) => self.note(bucket, position),
            before => self.all_blocks(before, position),
        }
    }

    /// What was counted through blocks in it. Each block is read once.
    fn counted(&self, position: usize) -> u64 {
        match (self.before, self.until) {
            (Before::Noted(from), Before::Noted(to)) => {
                self.note(to, position).wrapping_sub(self.note(from, position))
            }
            (Before::Noted(from), until) => {
                self.all_blocks(until, position).wrapping_sub(self.note(from, position))
            }
            (Before::AllButLive, Before::All) => {
                let live = self.store().block_of(self.view.found().bucket);
                live.map_or(0, |block| block.difference(position))
            }
            _ => 0,
        }
    }

    /// What all blocks have counted, or all but the live bucket.
    fn all_blocks(&self, before: Before<'_>, position: usize) -> u64 {
        let live = self.view.found().bucket.block();
        let but = live.filter(|_| matches!(before, Before::AllButLive));
        let sum = |(index, block): (usize, &Block)| {
            if Some(index) == but { block.base(position) } else { block.present_sum(position) }
        };
        self.store().blocks.iter().enumerate().map(sum).fold(0, u64::wrapping_add)
    }

    fn store(&self) -> &'g Store {
        &self.view.ring().store
    }

    fn note(&self, bucket: &Bucket, position: usize) -> u64 {
        note(self.store(), bucket, position)
    }

    /// What its coarse buckets hold beside blocks.
    fn beside(&self, position: usize) -> u64 {
        let (layout, geometry) = (self.view.layout(), self.tier.geometry());
        if layout.adds_up(position) && !self.tier.touched.reaches(self.newest) {
            return 0;
        }
        let shared = |start: u64| {
            let found = self.view.load(self.tier.slots.slot_at(start)).ok()?;
            // Relaxed: before the fence in `is_valid`.
            let cells = self.store().cells(found.bucket);
            let shared = || cells.shared(position, Ordering::Relaxed);
            let shared = (found.bucket.start() == start).then(shared)?;
            self.view.is_valid(self.view.inherited(found)).then_some(shared)
        };
        let count = (self.newest - self.from) / geometry.length();
        let starts = (0..=count).map(|index| self.from + index * geometry.length());
        starts.filter_map(shared).fold(0, |all, number| layout.join(position, all, number))
    }

    /// Ends the read: the view is overtaken unless `current` is what it was.
    pub(crate) fn end(self) {
        self.view.check_current();
    }
}

/// The coarse bucket of a tier at a start before the newest.
#[derive(Clone, Copy)]
pub(crate) struct Coarse<'g> {
    start: u64,
    last: u64,
    /// If there is one.
    found: Option<Versioned<'g>>,
}

impl<'g> Coarse<'g> {
    pub(crate) fn at(view: &View<'g>, tier: usize, start: u64) -> Coarse<'g> {
        let tier = &view.generation().tiers[tier];
        // SAFETY: buckets live as long as the ring.
        let found = unsafe { Versioned::load(tier.slots.slot_at(start)) };
        let found = found.filter(|found| found.bucket.start() == start);
        let last = start.saturating_add(tier.geometry().length() - 1);
        Coarse { start, last, found }
    }

    /// What it holds at a position. `next` is what was counted through blocks before the coarse bucket behind it, and
    /// afterwards, what was before itself.
    pub(crate) fn number(self, view: &View<'_>, position: usize, next: &mut u64) -> u64 {
        let (layout, store) = (view.layout(), &view.ring().store);
        let through_blocks = if layout.adds_up(position) {
            let noted = self.found.filter(|found| found.bucket.is_closed());
            let before = noted.map_or(*next, |found| note(store, found.bucket, position));
            let counted = next.wrapping_sub(before);
            *next = before;
            counted
        } else {
            open_extreme(view, self.start, self.last, position) // before the cells
        };
        let beside = self.found.map_or(0, |found| {
            // Relaxed: before the fence in `is_valid`.
            store.cells(found.bucket).shared(position, Ordering::Relaxed)
        });
        layout.without_pending(position, layout.join(position, through_blocks, beside))
    }

    /// Whether all that was read of it is its own: it has not left the tier.
    pub(crate) fn is_valid(self) -> bool {
        self.found.is_none_or(Versioned::is_valid)
    }
}

impl View<'_> {
    pub(crate) fn tier_geometry(&self, tier: usize) -> Option<Geometry> {
        self.generation().tiers.get(tier).map(Tier::geometry)
    }

    /// The newest boundary of a tier that is known, at or before `from` and not before `oldest`; else the first
    /// one behind it that is.
    pub(crate) fn known_boundary(&self, tier: usize, from: u64, oldest: u64) -> u64 {
        let tier = &self.generation().tiers[tier];
        let length = tier.geometry().length();
        let is_known = |boundary: &u64| before(self, tier, *boundary).is_some();
        let older = |boundary: &u64| boundary.checked_sub(length).filter(|older| *older >= oldest);
        let newer = |boundary: &u64| boundary.checked_add(length);
        let known = successors(Some(from), older).find(is_known);
        known.or_else(|| successors(Some(from), newer).find(is_known)).unwrap_or(from)
    }
}

/// The extreme of the buckets that are not closed and begin in a range. To be read before the tier's cells: what is
/// gone from a block is there.
fn open_extreme(view: &View<'_>, from: u64, last: u64, position: usize) -> u64 {
    let extreme = |block: &Block| {
        // SAFETY: blocks and buckets live as long as the window.
        let owner = unsafe { Versioned::load(block.owner_ptr()) }?;
        let is_within = (from..=last).contains(&owner.bucket.start())
            && view.generation().tiers.have(owner.bucket.rank().0);
        let extreme = is_within.then(|| block.sum(position))?;
        // Another owner's, if this one was closed meanwhile: then its own is in the tier's cells.
        let is_its_own = std::ptr::eq(block.owner_address(), owner.bucket) && owner.is_valid();
        is_its_own.then_some(extreme)
    };
    let open = view.ring().store.blocks.iter().filter_map(extreme).fold(0, u64::max);
    // Whatever has dropped an extreme here was stored by a closer that had raised the tier's cells, or after it: the fence
    // pairs with the Release in `Block::disown`, in `Bucket::set_state` and in `begin_init`. So the cells, read next,
    // are not older than the raise.
    fence(Ordering::Acquire);
    open
}

/// A coarse bucket's note.
fn note(store: &Store, bucket: &Bucket, position: usize) -> u64 {
    // Relaxed: before the fence in `is_current`, or in `is_valid`, which pairs with the one in `begin_init`. If the
    // bucket was reused, `current` is seen to have moved on, and its version to have changed.
    store.cells(bucket).total(position)
}

/// What was counted before a boundary, or before the next that is known.
fn before_or_next<'g>(view: &View<'g>, tier: &'g Tier, mut boundary: u64) -> Before<'g> {
    loop {
        if let Some(before) = before(view, tier, boundary) {
            return before;
        }
        match boundary.checked_add(tier.geometry().length()) {
            Some(next) => boundary = next,
            None => return Before::All,
        }
    }
}

/// What is known of what was counted through blocks before a boundary.
fn before<'g>(view: &View<'g>, tier: &'g Tier, boundary: u64) -> Option<Before<'g>> {
    if boundary > view.live() {
        return Some(Before::All);
    }
    let geometry = tier.geometry();
    let is_missed = view.is_missed(boundary);
    let mut start = boundary;
    loop {
        // A coarse bucket that has left the tier may be reused meanwhile; one of its interval is not before `current`
        // moves on.
        if let Ok(found) = view.load(tier.slots.slot_at(start))
            && found.bucket.is_closed()
            && found.bucket.start() == start
            && view.is_valid(view.inherited(found))
        {
            return Some(Before::Noted(found.bucket));
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

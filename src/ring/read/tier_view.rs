//! Reading a tier: what a span holds that begins at one of its boundaries, and what each coarse
//! bucket holds.
//!
//! Through blocks, the span from a boundary up to the present has counted what all blocks sum to,
//! less the prefix of the boundary: each such add is in that difference exactly once, whether its
//! bucket is live, retired, closed or reused by then. Besides, it has counted what the shared cells
//! of its coarse buckets hold.
//!
//! # Why this is right
//!
//! As for sums at once (see `at_once`), the read ends with a look at `current`, and at its version.
//! If both are the same, no bucket was retired meanwhile. So no prefix has changed, no coarse
//! bucket of the tier's interval has left its slot, and no block was given to another bucket that
//! counts.
//!
//! If `current` has moved on, but the coarse bucket at the span's start is still in the tier, then
//! the later ones are in it too, and the difference of two prefixes is what it was. The sum of all
//! blocks is another number by now; but as long as the live bucket lies in the span, all of it was
//! counted in the span or before, and blocks only grow: so it lies between the true count when the
//! read began and the one at its end. It need not be the count of any one moment: of two adds, in
//! two buckets, it may have the later one alone. So it will do for a repeated view only. What all
//! buckets but the live one have counted is not known any more.
//!
//! Otherwise the read is *torn*: its numbers may be those of different spans, or of coarse buckets
//! that were reused. It is never returned (see `attempt`).
//!
//! Which boundaries are known, and by what: see [`boundary`](super::boundary).
//!
//! # Extremes
//!
//! An extreme that bounds counted values belongs where they count: with the coarse bucket before,
//! if this one's boundary is not known. An extreme alone belongs to the coarse bucket of its time.
//! Each coarse bucket has the extremes of closed buckets beside its prefix; those of other buckets
//! are in their blocks.
//!
//! Coarse buckets before the newest need no look at `current`: their prefixes are constants.

use crate::ring::order::bucket::Bucket;
use crate::ring::order::bucket_ref::Versioned;
use crate::ring::order::level;
use crate::ring::order::tier::Tier;
use crate::ring::read::boundary::{Before, next_end, next_known, older_known};
use crate::ring::read::view::View;
use crate::ring::store::Store;
use crate::ring::store::block::Block;
use crate::sync::{Ordering, fence, spin_loop};

/// A span of a tier: from one boundary up to the end of a coarse bucket.
pub(crate) struct TierSpan<'v, 'g> {
    view: &'v View<'g>,
    tier: &'g Tier,
    from: u64,
    /// The start of its newest coarse bucket.
    newest: u64,
    /// The counts before `from`; `None` if they are not known.
    before: Option<Before<'g>>,
    /// The counts before the end of the span, or before the next known boundary.
    until: Before<'g>,
    /// The last nanosecond before that boundary.
    last: u64,
}

/// A span of a tier whose two boundaries are known, as a view has resolved it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resolved<'g> {
    tier: &'g Tier,
    /// The starts of its oldest and its newest coarse bucket.
    pub(super) starts: (u64, u64),
    before: Before<'g>,
    until: Before<'g>,
}

impl<'g> Resolved<'g> {
    /// Resolves the span of the coarse buckets from `from` to `newest`. It begins at the newest
    /// known boundary at or before `from`, and not before `oldest`; otherwise at the first one
    /// behind it that is known. It ends with the first coarse bucket, at or behind `newest`, that
    /// ends at a known boundary. `None` if it would begin behind `newest`. (`from` is not before
    /// `oldest`.)
    pub(super) fn of(
        view: &View<'g>,
        tier: &'g Tier,
        (from, oldest): (u64, u64),
        newest: u64,
    ) -> Option<Resolved<'g>> {
        let (mut known, mut before) = next_known(view, tier, from);
        if known != from
            && let Some(older) = older_known(view, tier, from, oldest)
        {
            (known, before) = older;
        }
        // At the end of time the next boundary wraps.
        if !(oldest..=newest).contains(&known) {
            return None;
        }
        let (last, until) = next_end(view, tier, newest);
        Some(Resolved { tier, starts: (known, last), before, until })
    }

    /// Returns the span, to be read.
    pub(super) fn read<'v>(self, view: &'v View<'g>) -> TierSpan<'v, 'g> {
        let Resolved { tier, starts: (from, newest), before, until } = self;
        let last = tier.last_of(newest);
        TierSpan { view, tier, from, newest, before: Some(before), until, last }
    }
}

impl<'v, 'g> TierSpan<'v, 'g> {
    /// Makes the span of the coarse buckets from `from` to `newest`, both in the tier. If `from` is
    /// not known, the span has counted nothing through blocks: an older one has. If its end is not
    /// known, it goes on up to the next boundary that is.
    pub(crate) fn of(view: &'v View<'g>, tier: usize, from: u64, newest: u64) -> TierSpan<'v, 'g> {
        let tier = &view.generation().tiers[tier];
        let (known, before) = next_known(view, tier, from);
        let before = (known == from).then_some(before);
        let (end, until) = next_end(view, tier, newest);
        TierSpan { view, tier, from, newest, before, until, last: tier.last_of(end) }
    }

    /// Returns what the span holds at a position. All numbers belong together if the view is not
    /// torn at the [end](Self::end).
    pub(crate) fn number(&self, position: usize) -> u64 {
        let layout = self.view.layout();
        let through_blocks = match self.before {
            Some(before) if layout.adds_up(position) => self.counted(before, position),
            _ if layout.is_alone(position) => self.extreme(self.own_last(), position),
            Some(_) => self.extreme(self.last, position),
            None => 0,
        };
        let beside = self.beside(position);
        layout.without_pending(position, layout.join(position, through_blocks, beside))
    }

    /// Returns what belongs to the coarse bucket before this span: at an additive position, what
    /// was counted through blocks before the span; otherwise an extreme of the span, if its
    /// boundary is not known.
    pub(crate) fn before(&self, position: usize) -> u64 {
        let layout = self.view.layout();
        if layout.adds_up(position) {
            return match self.before.unwrap_or(self.until) {
                Before::Known(bucket) => self.prefix(bucket, position),
                before => self.all_blocks(before, position),
            };
        }
        let is_handed_on = self.before.is_none() && !layout.is_alone(position);
        if is_handed_on { self.extreme(self.last, position) } else { 0 }
    }

    /// Returns the last nanosecond of the newest coarse bucket.
    fn own_last(&self) -> u64 {
        self.tier.last_of(self.newest)
    }

    /// Returns what the span has counted through blocks. Each block is read once.
    fn counted(&self, before: Before<'_>, position: usize) -> u64 {
        match (before, self.until) {
            (Before::Known(from), Before::Known(to)) => {
                self.prefix(to, position).wrapping_sub(self.prefix(from, position))
            }
            (Before::Known(from), until) => {
                self.all_blocks(until, position).wrapping_sub(self.prefix(from, position))
            }
            (Before::AllButLive, Before::All) => {
                let live = self.store().block_of(self.view.found().bucket);
                live.map_or(0, |block| block.difference(position))
            }
            _ => 0,
        }
    }

    /// Returns what all blocks have counted, or all but the live bucket.
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

    fn prefix(&self, bucket: &Bucket, position: usize) -> u64 {
        prefix(self.store(), bucket, position)
    }

    /// Returns an extreme of what was added through blocks, from the beginning of the span to the
    /// bucket of `last`.
    fn extreme(&self, last: u64, position: usize) -> u64 {
        let open = open_extreme(self.view, self.from, last, position); // before the cells
        self.fold_slices(last, open, move |all, slice| {
            // SAFETY: one of the layout's positions, which all buckets have; no extreme is wide.
            // Relaxed: as in `prefix`.
            all.max(unsafe { slice.cell(position) }.prefix().load(Ordering::Relaxed))
        })
    }

    /// Returns what the shared cells of the span's coarse buckets hold.
    fn beside(&self, position: usize) -> u64 {
        if !self.tier.touched.reaches(self.newest) {
            return 0;
        }
        // Relaxed, all: before the fence in `is_current`, as in `prefix`.
        let (layout, store, last) = (self.view.layout(), self.store(), self.own_last());
        if position < layout.wide() {
            return self.fold_slices(last, 0, move |sum: u64, slice| {
                sum.wrapping_add(store.cells(slice).shared(position, Ordering::Relaxed))
            });
        }
        // SAFETY: one of the layout's positions, which all buckets have, and not wide.
        let shared =
            move |slice: &Bucket| unsafe { slice.cell(position) }.shared.load(Ordering::Relaxed);
        if layout.adds_up(position) {
            self.fold_slices(last, 0, move |sum: u64, slice| sum.wrapping_add(shared(slice)))
        } else {
            self.fold_slices(last, 0, move |all: u64, slice| all.max(shared(slice)))
        }
    }

    /// Folds the slices of a cover of the span, up to the coarse bucket of `last`.
    fn fold_slices(&self, last: u64, zero: u64, with: impl Fn(u64, &Bucket) -> u64 + Copy) -> u64 {
        let is_newest = last == self.last && matches!(self.until, Before::All);
        let levels = self.tier.coarse_and_above();
        let all = level::fold_cover(levels, self.from, (last, is_newest), zero, with);
        all.unwrap_or_else(|| {
            self.view.overtake();
            zero
        })
    }

    /// Ends the read, which must begin again unless all numbers belong together.
    pub(crate) fn end(self) {
        if self.view.is_overtaken() || !self.belongs_together() {
            self.view.tear();
        }
    }

    /// Returns whether `current` is what it was; or has moved on, and nothing that was read has
    /// changed.
    fn belongs_together(&self) -> bool {
        if self.view.is_current() {
            return true;
        }
        let Some(live) = self.view.live_by_now() else { return false };
        let geometry = self.tier.geometry();
        let is_there = geometry.in_ring(self.from, geometry.start_of(live));
        let ends = match self.until {
            Before::Known(_) => true,
            Before::AllButLive => false,
            Before::All => self.view.is_repeated() && live <= self.last,
        };
        is_there && ends && !matches!(self.before, Some(Before::AllButLive))
    }
}

/// The coarse bucket of a tier at a start before the newest.
#[derive(Clone, Copy)]
pub(crate) struct Coarse<'g> {
    start: u64,
    last: u64,
    /// The coarse bucket, if there is one. If one of its finer buckets is retired, there is.
    found: Option<Versioned<'g>>,
    /// True if it had its prefix when it was found.
    has_prefix: bool,
    /// True if its slot has had a newer bucket.
    has_left: bool,
}

impl<'g> Coarse<'g> {
    pub(crate) fn at(view: &View<'g>, tier: usize, start: u64) -> Coarse<'g> {
        let tier = &view.generation().tiers[tier];
        let (found, has_left) = Coarse::find(tier, start);
        let last = tier.last_of(start);
        let has_prefix = found.is_some_and(|found| found.bucket.has_prefix());
        Coarse { start, last, found, has_prefix, has_left }
    }

    /// Returns what is in the slot of a start, if it is the coarse bucket of that start; and
    /// whether that has left the tier. (If it was never opened, it has not.) Looks again if the
    /// slot changes meanwhile, which a late add may bring about too.
    fn find(tier: &'g Tier, start: u64) -> (Option<Versioned<'g>>, bool) {
        let slot = tier.coarse.slots.slot_at(start);
        loop {
            // SAFETY: buckets live as long as the ring.
            if let Some(found) = unsafe { Versioned::load(slot) } {
                let there = found.bucket.start();
                if found.is_valid() {
                    return ((there == start).then_some(found), there > start);
                }
            } else if let Some(rounds) = slot.rounds_left() {
                return (None, tier.geometry().round_of(start) < rounds as u64);
            }
            spin_loop();
        }
    }

    /// Returns what the coarse bucket holds at a position. `next` is what the coarse bucket behind
    /// it leaves to this one, and afterwards, what this one leaves to the one before: see
    /// [`TierSpan::before`].
    pub(crate) fn number(self, view: &View<'_>, position: usize, next: &mut u64) -> u64 {
        let (layout, store) = (view.layout(), &view.ring().store);
        let total = || self.found.map_or(0, |found| prefix(store, found.bucket, position));
        let through_blocks = if layout.adds_up(position) {
            let before = if self.has_prefix { total() } else { *next };
            std::mem::replace(next, before).wrapping_sub(before)
        } else {
            let open = open_extreme(view, self.start, self.last, position); // before the cells
            let own = total().max(open);
            if layout.is_alone(position) {
                own
            } else {
                let all = own.max(*next);
                let (number, left) = if self.has_prefix { (all, 0) } else { (0, all) };
                *next = left;
                number
            }
        };
        let beside = self.found.map_or(0, |found| {
            // Relaxed: before the fence in `is_valid`.
            store.cells(found.bucket).shared(position, Ordering::Relaxed)
        });
        layout.without_pending(position, layout.join(position, through_blocks, beside))
    }

    /// Returns whether all that was read belongs to this coarse bucket: it has not left the tier.
    pub(crate) fn is_valid(self) -> bool {
        !self.has_left && self.found.is_none_or(Versioned::is_valid)
    }
}

/// Returns the extreme of the buckets that are not closed and begin in a range. To be read before
/// the tier's cells, which have the extremes that are gone from blocks.
fn open_extreme(view: &View<'_>, from: u64, last: u64, position: usize) -> u64 {
    let extreme = |block: &Block| {
        // SAFETY: blocks and buckets live as long as the window.
        let owner = unsafe { Versioned::load(block.owner_ptr()) }?;
        let is_within = (from..=last).contains(&owner.bucket.start())
            && view.generation().tiers.have(owner.bucket.rank().0);
        let extreme = is_within.then(|| block.sum(position))?;
        // Another owner's, if this one was closed meanwhile: then its own extreme is in the tier's
        // cells.
        let is_its_own = std::ptr::eq(block.owner_address(), owner.bucket) && owner.is_valid();
        is_its_own.then_some(extreme)
    };
    let open = view.ring().store.blocks.iter().filter_map(extreme).fold(0, u64::max);
    // A block that has dropped an extreme was reset by a closer that had raised the tier's cells,
    // or later: the fence pairs with the Release in `Block::disown`, in `Bucket::set_state` and in
    // `begin_init`. So the cells, read next, are not older than the raise.
    fence(Ordering::Acquire);
    open
}

/// Returns the prefix of a coarse bucket.
fn prefix(store: &Store, bucket: &Bucket, position: usize) -> u64 {
    // Relaxed: before the fence in `is_current`, or in `is_valid`, which pairs with the one in
    // `begin_init`. If the bucket was reused, `current` is seen to have moved on by a round of the
    // tier, and its version to have changed.
    store.cells(bucket).prefix(position)
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;

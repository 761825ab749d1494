//! Closing: how a retired bucket becomes final.
//!
//! Any thread may close: the one that opened the next bucket, a drain, a change of geometry, or a
//! dedicated thread. A bucket can be closed when it is *quiescent* (no thread can be adding through
//! its block any more) and has no adders (see `bucket_ref`). A closer then claims it, writes its
//! totals, publishes CLOSED, and only then frees the block. A closer that stalls holds up one block
//! and one `is_closed`; the other threads go round it.
//!
//! What makes a bucket quiescent follows from the first of the ring's rules: blocks are reached
//! through `current` alone.
//!
//! | strategy | quiescent, once this was begun after the bucket was retired, and has ended |
//! |---|---|
//! | per core | a barrier: it restarts every sequence that had loaded the bucket |
//! | portable | a barrier, and a look behind it that finds no thread which announces the bucket |
//! | fenced | a fence, and such a look behind it: each add has a fence of its own |
//! | epochs | a grace period: in it, every thread that had loaded the bucket unpins |
//!
//! A thread that adds all the time is seldom found without an announcement; but after the bucket
//! was retired it announces the next one. So a closer looks [a few times](LOOKS). An announcement
//! that it still finds belongs to a thread that has stalled there: a later rotation looks again.
//!
//! # Which thread asks for a barrier
//!
//! A barrier is a system call, which a hostile neighbour can make last. So one thread of a window
//! at a time asks for it, where it holds up itself and nothing else: that thread has the window's
//! [`MembarrierLock`](crate::ring::coordination::closer::MembarrierLock), has no claim and no
//! reference, and is not pinned. All other threads go on: they find blocks that are not free yet,
//! and when the last is taken, open buckets that count in shared cells. A barrier can be forced; a
//! grace period cannot. To ask for a grace period takes no time, and any thread does so; the same
//! holds for a look.

use std::ptr::eq;

use crate::reclaim::{self, Guard, announced, grace};
use crate::ring::Ring;
use crate::ring::cells::wide::{GROUP, by_group};
use crate::ring::cells::{BucketCell, Target};
use crate::ring::order::bucket::Bucket;
use crate::ring::order::bucket_ref::BucketRef;
use crate::ring::order::tier::Tier;
use crate::ring::store::block::Block;
use crate::stripe::Strategy;
use crate::stripe::membarrier::{self, Barriers};
use crate::sync::{Ordering, sized, spin_loop};

/// The number of barriers that one thread asks for before it leaves the lock to the next thread,
/// although it was asked to look once more.
const ROUNDS: usize = sized(4, 2);

/// The number of times that a closer looks whether buckets are still announced.
const LOOKS: usize = sized(3, 1);

impl Ring {
    /// Returns whether a dedicated thread closes buckets.
    pub(in crate::ring) fn is_closed_by_another(&self) -> bool {
        self.closer.is_there()
    }

    /// Says that the calling thread closes buckets from now on, or no longer.
    #[cfg(not(any(loom, shuttle)))]
    pub(crate) fn close_elsewhere(&self, is_so: bool) {
        self.closer.set(is_so);
    }

    /// Closes the buckets that were just retired, if they are or can be made quiescent. The caller
    /// is not pinned, and has no reference.
    pub(crate) fn close_retired(&self) {
        match self.strategy {
            Strategy::PerCore | Strategy::Portable => self.close_by_membarrier(),
            Strategy::Fenced => self.close_unannounced(),
            Strategy::Epochs => self.close_by_grace_period(),
        }
    }

    /// Returns the barriers that this window's adds need.
    fn barriers(&self) -> &'static Barriers {
        match self.strategy {
            Strategy::PerCore => membarrier::restarting(),
            _ => membarrier::fencing(),
        }
    }

    /// Closes quiescent buckets; looks again at those that are still announced.
    #[inline(never)] // its code once
    fn close_unannounced(&self) {
        for _ in 0..LOOKS {
            if self.close_quiescent(&reclaim::pin_apart()) {
                return;
            }
            spin_loop();
        }
    }

    fn close_by_membarrier(&self) {
        if !self.membarrier_lock.try_lock() {
            return;
        }
        for _ in 0..ROUNDS {
            let ticket = self.highest_ticket(&reclaim::pin_apart());
            if ticket > 0 {
                self.barriers().execute(ticket);
                self.close_unannounced();
            }
            if self.membarrier_lock.try_unlock() {
                return;
            }
        }
        self.membarrier_lock.unlock();
    }

    /// Closes buckets by grace periods: while no other thread is pinned, they close here. Otherwise
    /// a later rotation finds them quiescent.
    fn close_by_grace_period(&self) {
        for _ in 0..grace::PINS {
            let guard = reclaim::pin_apart();
            guard.flush();
            let ticket = self.highest_ticket(&guard);
            if ticket > 0 {
                grace::begin(ticket, &guard);
            }
            if self.close_quiescent(&guard) {
                return;
            }
        }
    }

    /// Returns the highest ticket of all buckets that are retired and not closed; zero if there is
    /// none.
    #[inline(never)] // its code once
    fn highest_ticket(&self, guard: &Guard) -> u64 {
        let mut highest = 0;
        for (_, bucket) in self.retired_owners() {
            highest = highest.max(self.ticket(&bucket, guard));
        }
        highest
    }

    /// Closes every retired bucket that is known to be quiescent and that no other thread is
    /// closing. Returns true if none is left open. Makes no system call.
    #[inline(never)] // its code once
    pub(super) fn close_quiescent(&self, guard: &Guard) -> bool {
        let mut all = true;
        for (block, bucket) in self.retired_owners() {
            all &= self.close_owner(block, &bucket, guard);
        }
        all
    }

    /// Returns the blocks whose owners are retired, with these owners.
    fn retired_owners(&self) -> impl Iterator<Item = (&Block, BucketRef<'_>)> {
        self.store.owners().filter(|(_, bucket)| self.is_retired(bucket))
    }

    /// Returns whether a bucket that owns a block is retired, or can never become current. That
    /// does not change back.
    #[inline(never)] // its code once
    fn is_retired(&self, bucket: &BucketRef<'_>) -> bool {
        let current = self.acquire_current();
        !eq(bucket.bucket(), current.bucket()) && bucket.rank() <= current.rank()
    }

    /// Returns the first barrier or grace period that makes a bucket quiescent. The caller has seen
    /// the bucket retired under the guard.
    #[inline(never)] // its code once
    fn ticket(&self, bucket: &Bucket, _guard: &Guard) -> u64 {
        match self.strategy {
            Strategy::Epochs => bucket.ticket_or(grace::ticket),
            _ => bucket.ticket_or(|| self.barriers().ticket()),
        }
    }

    /// Returns whether no thread can be adding through the block of a bucket. The caller has seen
    /// the bucket retired under the guard.
    fn is_quiescent(&self, bucket: &Bucket, guard: &Guard) -> bool {
        let ticket = || self.ticket(bucket, guard);
        match self.strategy {
            Strategy::PerCore => self.barriers().passed(ticket()),
            Strategy::Portable => {
                self.barriers().passed(ticket()) && !announced::is_announced(bucket)
            }
            Strategy::Fenced => !announced::fence_and_look(bucket),
            Strategy::Epochs => grace::passed(ticket()),
        }
    }

    /// Closes the owner of a block, which is retired, if it is quiescent and has no adders. Returns
    /// false if it remains open.
    #[inline(never)] // its code once
    fn close_owner(&self, block: &Block, bucket: &BucketRef<'_>, guard: &Guard) -> bool {
        let is_quiescent = self.is_quiescent(bucket, guard);
        if !is_quiescent || bucket.references.has_adders() || !bucket.claim() {
            return false;
        }
        self.write_totals(block, bucket, guard);
        block.disown(bucket);
        true
    }

    /// Writes the totals of a quiescent bucket, and prepares its block for another.
    fn write_totals(&self, block: &Block, bucket: &Bucket, guard: &Guard) {
        let layout = self.store.layout;
        let tiers = self.tiers_of(bucket, guard);
        let write_wide = self.for_records.map(|records| records.write_wide);
        let pending = write_wide.is_some_and(|write| write(self, block, bucket));
        // Relaxed, here and wherever totals are written: behind the fence in `has_adders`, and so
        // behind the retirement for a reader that takes the total for the prefix that was there:
        // the fence in `is_current` pairs with that one.
        let sums = &self.store.cells(bucket).dense[..layout.additive() - layout.wide()];
        for (position, cell) in (layout.wide()..).zip(sums) {
            let difference = block.difference_of_count(position);
            let total = layout.without_pending(position, difference);
            cell.total().store(total, Ordering::Relaxed);
        }
        if let Some(for_records) = self.for_records {
            (for_records.write_extremes)(self, block, bucket, pending);
        }
        if let Some(for_tiers) = self.for_tiers {
            (for_tiers.raise)(self, tiers, bucket); // before the block drops its extremes, too
        }
        // Before the base and the extremes change: see `Store::through_block`.
        bucket.close();
        self.rebase(block, bucket, pending);
    }

    /// Writes the totals at wide positions. Returns whether values may be pending there.
    pub(in crate::ring) fn write_wide_totals(&self, block: &Block, bucket: &Bucket) -> bool {
        let layout = self.store.layout;
        let cells = self.store.cells(bucket);
        let mut pending = false; // in some wide pair
        for (range, wide) in by_group(0..layout.wide()).zip(cells.wide) {
            let mut totals = [0; GROUP];
            pending |= block.add_totals(&range, &mut totals[..range.len()]);
            if totals.iter().fold(0, |all, total| all | total) == 0 {
                continue; // as it is
            }
            for (cell, total) in wide.totals().cells().iter().zip(totals) {
                cell.store(total, Ordering::Relaxed); // as in `write_totals`
            }
        }
        pending
    }

    /// Writes the totals of cells that rise. Values may be `pending` in wide pairs.
    pub(in crate::ring) fn write_extremes(&self, block: &Block, bucket: &Bucket, pending: bool) {
        let layout = self.store.layout;
        let rising = &self.store.cells(bucket).dense[layout.additive() - layout.wide()..];
        let rise = |position, cell: &BucketCell, total| {
            cell.total().store(total, Ordering::Relaxed); // as in `write_totals`
            // Zero: nothing was recorded, or the bucket never was current and no tier has come to
            // it.
            if total != 0 {
                // Before the block drops the extreme. Release, and read after the block with
                // Acquire: a lifetime that no longer finds it there finds it here.
                self.beside.shared_total(layout).raise(position, total);
            }
        };
        let (bounds, alone) = rising.split_at(layout.bounds());
        for (first, [maximum, inverse]) in
            (layout.additive()..).step_by(2).zip(bounds.as_chunks().0)
        {
            let both = [first, first + 1];
            let none_pends = layout.bounds_wide(first) && !pending;
            let extremes = if none_pends { block.raised(both) } else { block.extremes(both) };
            rise(first, maximum, extremes[0]);
            rise(first + 1, inverse, extremes[1]);
        }
        for (position, cell) in (layout.additive() + bounds.len()..).zip(alone) {
            rise(position, cell, block.difference(position));
        }
    }

    /// Prepares the block of a closed bucket for another. Values may be `pending` in wide pairs.
    fn rebase(&self, block: &Block, bucket: &Bucket, pending: bool) {
        let (layout, cells) = (self.store.layout, self.store.cells(bucket));
        if let Some(for_records) = self.for_records {
            (for_records.rebase_wide)(self, block, bucket, pending);
        }
        for (position, cell) in (layout.wide()..).zip(cells.dense) {
            block.rebase(position, cell.total().load(Ordering::Relaxed)); // written by this thread
        }
    }

    /// Prepares the block at wide positions.
    pub(in crate::ring) fn rebase_wide(&self, block: &Block, bucket: &Bucket, pending: bool) {
        for (range, wide) in
            by_group(0..self.store.layout.wide()).zip(self.store.cells(bucket).wide)
        {
            if let Some(totals) = wide.totals().get() {
                block.rebase_pairs(range.start, &totals[..range.len()], pending);
            }
        }
    }

    /// Returns the tiers that a retired bucket counts in; none if the window has new ones since.
    fn tiers_of<'g>(&self, bucket: &Bucket, guard: &'g Guard) -> &'g [Tier] {
        if self.store.tiers.is_empty() {
            return &[];
        }
        let current = self.acquire_current();
        // SAFETY: of a bucket that is current under the guard.
        let tiers = &unsafe { current.generation(guard).deref() }.tiers;
        if tiers.have(bucket.rank().0) { tiers } else { &[] }
    }

    /// Raises the extremes of a bucket that is being closed in the slices of its time in each tier,
    /// where coarse buckets have prefixes at other positions. May be repeated.
    pub(in crate::ring) fn raise_in_tiers(&self, tiers: &[Tier], bucket: &Bucket) {
        let (layout, start) = (self.store.layout, bucket.start());
        // Written by this thread.
        let extreme = |position| (position, self.store.cells(bucket).total(position));
        let extremes = (layout.additive()..layout.cells()).map(extreme);
        let extremes = extremes.filter(|(_, extreme)| *extreme != 0);
        if extremes.clone().next().is_none() {
            return;
        }
        for tier in tiers {
            self.store.each_slice(tier, start, start, |slice| {
                for (position, extreme) in extremes.clone() {
                    // Release, and before the block drops the extreme, as in `shared_total`.
                    self.store.cells(slice).raise_extreme(position, extreme);
                }
            });
        }
    }
}

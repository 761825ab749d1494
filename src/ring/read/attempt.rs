//! Attempts: how a read looks at the ring, again if the ring has moved on under it.
//!
//! A read looks for each start that the interval covers: it is that of `current`, or its slot has
//! its bucket, or there is no bucket, which counts as zero (see `walk`).

use std::ops::Range;

use crate::address_dependency;
use crate::arena::by_row::ByRow;
use crate::event::cells::Addends;
use crate::event::layout::BucketLayout;
use crate::reclaim::{self, Guard};
use crate::ring::Ring;
use crate::ring::cells::wide::{GROUP, by_group};
use crate::ring::order::geometry::Geometry;
use crate::ring::read::view::View;
use crate::ring::store::block::Block;
use crate::sync::spin_loop;

/// The number of times that a read begins again because the ring has moved on meanwhile. It must
/// end, however short buckets are; and a reader that was stopped in the middle must not answer with
/// what was left by then. One more attempt is enough unless the reader is stopped again: eight in a
/// row mean that buckets are shorter than a read.
const RESCANS: usize = 8;

impl Ring {
    /// Calls `read` with a view of the ring at the time of `now`, again if the ring has moved on.
    ///
    /// Returns the result of the last attempt. Buckets that it found overtaken count as zero: they
    /// have left the ring since the read began, and what is in their slots now was opened since.
    ///
    /// A torn result is never returned. Then the last attempt is made again, at the same time: what
    /// that time's span holds is constant once the ring has moved on behind it, until it leaves the
    /// tier. So this ends after a few more attempts, or one for each of the tier's buckets, if one
    /// leaves it in each.
    pub(crate) fn view<R>(&self, now: impl Fn() -> u64, read: impl FnMut(&View<'_>) -> R) -> R {
        self.view_then(now, read, |_, result| result)
    }

    /// Reads as [`view`](Self::view) does; then `finish` reads what does not change when the ring
    /// moves on.
    pub(crate) fn view_then<R, F>(
        &self,
        now: impl Fn() -> u64,
        mut read: impl FnMut(&View<'_>) -> R,
        finish: impl FnOnce(&View<'_>, R) -> F,
    ) -> F {
        let (mut attempts, mut time) = (0, 0);
        loop {
            let guard = reclaim::pin();
            let Some(view) = self.present(&guard) else {
                spin_loop(); // the next attempt finds something newer
                continue;
            };
            let is_repeated = attempts > RESCANS;
            if !is_repeated {
                time = now();
            }
            let view = view.at(time, is_repeated);
            let result = read(&view);
            attempts += 1;
            if !view.is_overtaken() || (attempts > RESCANS && !view.is_torn()) {
                return finish(&view, result);
            }
        }
    }

    /// Returns a view of the newest bucket, without a time yet; `None` if it is overtaken already.
    #[inline]
    pub(in crate::ring) fn present<'g>(&'g self, guard: &'g Guard) -> Option<View<'g>> {
        View::of(self, guard)
    }

    /// Returns the greatest distance ahead of the newest bucket at which an add may open a bucket,
    /// in nanoseconds.
    pub(crate) fn max_lead(&self) -> u64 {
        self.max_lead
    }

    /// Returns the present geometry.
    pub(crate) fn geometry(&self) -> Geometry {
        self.newest().0
    }

    /// Returns the longest span that can be read: the interval, or that of the coarsest tier.
    pub(crate) fn longest(&self) -> u64 {
        let tiers = self.store.tiers.iter().map(|tier| tier.geometry.interval());
        tiers.chain([self.geometry().interval()]).max().unwrap_or(0)
    }

    /// Returns the present geometry, and the start of its newest bucket.
    pub(in crate::ring) fn newest(&self) -> (Geometry, u64) {
        loop {
            if let Some(view) = self.present(&reclaim::pin_apart()) {
                return (view.geometry(), view.live());
            }
            spin_loop(); // as in `view`
        }
    }

    /// Returns the all-time total at a position.
    ///
    /// Blocks are read first: a maximum that a closer has taken from a block is in `shared_total`
    /// before it is gone from the block.
    pub(crate) fn lifetime(&self, position: usize) -> u64 {
        after_own_adds();
        let layout = self.store.layout;
        let sum = |block: &Block| {
            if layout.adds_up(position) {
                layout.without_pending(position, block.present_sum(position))
            } else {
                block.sum(position)
            }
        };
        let join = |all, number| layout.join(position, all, number);
        let in_blocks = self.store.blocks.iter().map(sum).fold(0, join);
        self.beside.numbers(layout, position).into_iter().fold(in_blocks, join)
    }

    /// Returns the all-time totals at a range of wide pairs: the position, the count and the sum of
    /// each. Reads group by group, as the iterator is advanced.
    pub(crate) fn lifetimes(
        &self,
        pairs: Range<usize>,
    ) -> impl Iterator<Item = (usize, [u64; 2])> + '_ {
        after_own_adds();
        by_group(pairs).flat_map(move |range| {
            let mut numbers = [0; GROUP];
            self.add_lifetimes(&range, &mut numbers[..range.len()]);
            let pair = move |at: usize| (range.start + at, [numbers[at], numbers[at + 1]]);
            (0..range.len()).step_by(2).map(pair)
        })
    }

    /// Adds the all-time totals at a range of wide positions, which lies in one group, to
    /// `numbers`, which are zeros. Of each pair, the count is read first, wherever it has been
    /// added to.
    fn add_lifetimes(&self, positions: &Range<usize>, numbers: &mut [u64]) {
        self.store.blocks.iter().for_each(|block| block.add_present_sums(positions, numbers));
        BucketLayout::pairs_without_pending(numbers);
        self.beside.add_wide(positions, numbers);
    }

    /// Returns the all-time total of these cells together, row by row.
    pub(crate) fn by_row(&self, cells: Addends) -> ByRow {
        after_own_adds();
        let mut all = ByRow::default();
        for position in cells.positions() {
            for block in self.store.blocks.iter() {
                for (row, number) in block.by_row(position).enumerate() {
                    match all.rows.get_mut(row) {
                        Some(sum) => *sum = sum.wrapping_add(number),
                        None => all.rows.push(number), // or a row that has just been opened
                    }
                }
            }
            let beside = self.beside.numbers(self.store.layout, position);
            all.shared = beside.into_iter().fold(all.shared, u64::wrapping_add);
        }
        all
    }

    /// Returns the sum of late adds at a position.
    pub(crate) fn late(&self, position: usize) -> u64 {
        let [_, late] = self.beside.numbers(self.store.layout, position);
        late
    }
}

/// Orders what follows behind the adds of this thread, which may have found their blocks by loads
/// that order nothing: it finds these blocks, and each owned by the bucket of the add, or later.
#[inline]
fn after_own_adds() {
    address_dependency::acquire();
}

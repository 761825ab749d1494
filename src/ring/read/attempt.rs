//! Reading: which buckets count at a time, and what they hold together.
//!
//! A read looks for each start that the interval covers: it is `current`'s, or its slot's, or there
//! is no bucket, which counts as zero.

use crate::arena::by_row::ByRow;
use crate::event::cells::Addends;
use crate::reclaim::{self, Guard};
use crate::ring::Ring;
use crate::ring::order::geometry::Geometry;
use crate::ring::read::view::View;
use crate::sync::{Ordering, spin_loop};

/// How often a read begins again because the ring has moved on under it. It must end, however short
/// buckets are; and a reader that was stopped in the middle must not answer with what was left by
/// then. One more attempt is enough unless the reader is stopped again: eight in a row say that
/// buckets are shorter than a read.
const RESCANS: usize = 8;

impl Ring {
    /// Lets `read` look at the ring at a time that `now` gives, again if the ring has moved on.
    ///
    /// The last attempt is returned. Buckets that it found overtaken count as zero: they have left
    /// the ring since the read began, and what is in their slots now was opened since.
    ///
    /// But what is torn is never returned. The last attempt is made again then, at the same time:
    /// what that time's span holds is constant once the ring has moved on behind it, until it
    /// leaves the tier. So this ends after a few attempts more, or as many as the tier has buckets,
    /// if one leaves it in each.
    pub(crate) fn view<R>(&self, now: impl Fn() -> u64, read: impl FnMut(&View<'_>) -> R) -> R {
        self.view_then(now, read, |_, result| result)
    }

    /// As [`view`](Self::view); then `finish` reads what does not change when the ring moves on.
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
            let is_late = attempts > RESCANS;
            if !is_late {
                time = now();
            }
            let view = view.at(time, is_late);
            let result = read(&view);
            attempts += 1;
            if !view.is_overtaken() || (attempts > RESCANS && !view.is_torn()) {
                return finish(&view, result);
            }
        }
    }

    /// The newest bucket, without a time yet; `None` if it is overtaken already.
    #[inline]
    pub(in crate::ring) fn present<'g>(&'g self, guard: &'g Guard) -> Option<View<'g>> {
        View::of(self, guard)
    }

    /// How far ahead of the newest bucket an add may open one, in nanoseconds.
    pub(crate) fn max_lead(&self) -> u64 {
        self.max_lead
    }

    /// The present geometry.
    pub(crate) fn geometry(&self) -> Geometry {
        self.newest().0
    }

    /// The longest span that can be read: the interval, or that of the coarsest tier.
    pub(crate) fn longest(&self) -> u64 {
        let tiers = self.coarse.iter().map(|tier| tier.interval());
        tiers.chain([self.geometry().interval()]).max().unwrap_or(0)
    }

    /// The present geometry, and where the newest bucket in it begins.
    pub(in crate::ring) fn newest(&self) -> (Geometry, u64) {
        loop {
            if let Some(view) = self.present(&reclaim::pin()) {
                return (view.geometry(), view.live());
            }
            spin_loop(); // as in `view`
        }
    }

    /// Everything that was ever added, at a position.
    ///
    /// Blocks first: a maximum that a closer has taken from a block is in `shared_total` before it
    /// is gone from there.
    pub(crate) fn lifetime(&self, position: usize) -> u64 {
        let blocks = self.store.blocks.iter().map(|block| block.sum(position));
        let all = blocks.chain(self.beside_blocks(position));
        all.fold(0, |all, number| self.store.layout.join(position, all, number))
    }

    /// What no block has, at a position.
    fn beside_blocks(&self, position: usize) -> impl Iterator<Item = u64> {
        // Acquire: pairs with the Release in `Target::add` and `raise`.
        let cells = [&self.shared_total, &self.late].into_iter();
        cells.map(move |cells| cells[position].load(Ordering::Acquire))
    }

    /// Everything that was ever added in these cells together, row by row.
    pub(crate) fn by_row(&self, cells: Addends) -> ByRow {
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
            all.shared = self.beside_blocks(position).fold(all.shared, u64::wrapping_add);
        }
        all
    }

    /// What found its bucket gone, at a position.
    pub(crate) fn late(&self, position: usize) -> u64 {
        self.late[position].load(Ordering::Acquire) // as in `lifetime`
    }
}

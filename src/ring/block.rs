//! Blocks: sets of columns that buckets take turns to own.
//!
//! A block's additive cells only ever grow. Whoever owns it counts from `base`, the sums that it
//! found; when its bucket closes, the difference becomes the bucket's totals and the new sums the
//! next owner's base. Nothing is reset, no number moves, and the sum of all blocks is what was ever
//! added to them. Extremes cannot be differences: they are reset when the block is silent, after
//! they have been kept for the window's lifetime.

use std::ptr::null_mut;

use crate::arena::arena;
use crate::column::Column;
use crate::layout::Shape;
use crate::pages::Cell;
use crate::ring::cells::cells;
use crate::ring::header::Link;
use crate::rows;
use crate::stripe::per_core::PENDING;
use crate::stripe::{Strategy, Way};
use crate::sync::Ordering;

/// A set of columns, one for each cell of a bucket.
#[derive(Debug)]
pub(super) struct Block {
    column: Column,
    strategy: Strategy,
    shape: Shape,
    /// Whose it is; null when it is free.
    pub(super) owner: Link,
    /// The sums when the owner took over. Of extremes, zero.
    base: Box<[Cell]>,
}

impl Block {
    /// A free block, to be added to by `strategy`; `None` if the arena has no columns left.
    pub(super) fn claim(shape: Shape, strategy: Strategy) -> Option<Block> {
        let column = arena().claim(columns(shape, strategy))?;
        let (owner, base) = (Link::new(null_mut()), cells(shape.cells()));
        Some(Block { column, strategy, shape, owner, base })
    }

    /// Its first column, and how to add to it.
    pub(super) fn word(&self) -> *mut Cell {
        Way::encode(Some(self.column), self.strategy)
    }

    /// What all owners together have put into a cell.
    pub(super) fn sum(&self, position: usize) -> u64 {
        if self.shape.adds_up(position) {
            self.without_pending(position, rows::sum(self.column.right(position)))
        } else {
            self.greatest(position)
        }
    }

    /// What the present owner has put into a cell.
    pub(super) fn difference(&self, position: usize) -> u64 {
        let difference = self.sum(position).wrapping_sub(self.base(position));
        self.without_pending(position, difference)
    }

    /// As [`difference`](Self::difference), of a `Count` event's cell: the ordinary case of a read.
    #[inline]
    pub(super) fn difference_of_count(&self, position: usize) -> u64 {
        rows::sum(self.column.right(position)).wrapping_sub(self.base(position))
    }

    /// The sum when the owner took over. To be read after the rows.
    #[inline]
    fn base(&self, position: usize) -> u64 {
        // Acquire: pairs with the Release in `rebase`. Who sees the next base sees CLOSED too.
        self.base[position].load(Ordering::Acquire)
    }

    /// The highest bit of a row's count of records is not part of it; nor, then, is that of all rows'.
    fn without_pending(&self, position: usize, number: u64) -> u64 {
        if self.shape.counts_records(position) { number & !PENDING } else { number }
    }

    /// The greatest of a cell that rises.
    fn greatest(&self, position: usize) -> u64 {
        let cell = self.column.right(position);
        match self.strategy {
            Strategy::Portable => rows::greatest(cell),
            Strategy::PerCore => {
                let pair = self.shape.pair_of(position);
                rows::extreme(&rows::Extreme {
                    count: self.column.right(pair),
                    pending: self.column.right(self.shape.pending(pair)),
                    cell,
                    is_complement: self.shape.is_complement(position),
                })
            }
        }
    }

    /// Makes a cell ready for the next owner: what it sums to now becomes the base, or, of an
    /// extreme, is reset.
    ///
    /// For the closer of a silent bucket, after it has published CLOSED: a reader who is in the
    /// middle of a difference must see that, if it sees any of this.
    pub(super) fn rebase(&self, position: usize) {
        let column = self.column.right(position);
        if self.shape.counts_records(position) {
            rows::forget_pending(column);
        }
        if self.shape.adds_up(position) {
            // Release: pairs with the Acquire in `difference`.
            self.base[position].store(self.sum(position), Ordering::Release);
        } else {
            // Release: pairs with the Acquire in `rows::scan`, and in `rows::extreme`.
            rows::reset(column, Ordering::Release);
        }
    }
}

/// How many columns a block takes: one for each cell, and per core another for each pending value.
fn columns(shape: Shape, strategy: Strategy) -> usize {
    match strategy {
        Strategy::PerCore => shape.columns(),
        Strategy::Portable => shape.cells(),
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: claimed in `claim`. A block is dropped with its window, by `&mut`: nobody adds to
        // it or reads it any more.
        unsafe { arena().give_back(self.column, columns(self.shape, self.strategy)) };
    }
}

//! The process's arena, which allocates columns.
//!
//! Columns come in segments. A segment is one mapping: a bitmap, then the rows.
//!
//! ```text
//!   segment: [ bitmap | row 0: COLUMNS cells | row 1 | ... ]   a bit is set: the column is taken
//! ```
//!
//! A segment is mapped when the ones before it are full, and is never unmapped. Claiming and
//! freeing are lock-free: a compare-exchange on one word of the bitmap (on each of several, for a
//! run longer than a word). Each core keeps the column that was freed there last, for the next
//! claim there ([`spare`]). One pass over the segments finds free columns, maps a segment, or gives
//! up; a run takes a second one, if spare columns were freed for it. A claim passes over a segment
//! that has refused a run by one load, until a column is freed there ([`refusal`]). Giving up is no
//! error: a counter then counts in its fallback cell. A segment is mapped for one run, which is
//! taken before other threads can see the segment. So no claim adds more than one segment, and a
//! run that does not fit adds none.
//!
//! # A free column is all zeros
//!
//! While a column is owned its cells only grow: none is reset while a thread might be adding to it.
//! When a column is freed, its owner has the only reference left (`&mut self` in a `Drop`). Every
//! add to it has happened before, so zeroing it races with no thread. The next owner has no old sum
//! to remember, which it could not publish together with the column in one atomic step.

use std::ptr::{NonNull, null_mut};

use crate::memory::column::{COLUMNS, Column};
use crate::memory::pages::Pages;
use crate::stripe;
use crate::sync::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, alike, const_fn, global, sized};
use refusal::Refusal;
use segment::{ROWS_AT, Segment};
use spare::Spares;

pub(crate) mod by_row;
pub(crate) mod columns;
pub(crate) mod on_demand;
mod refusal;
pub(crate) mod rows;
mod segment;
mod spare;

/// The maximum number of segments, of eight million columns.
const SEGMENTS: usize = sized(1024, 1);

global! {
    /// Returns the arena of this process.
    pub(crate) fn arena() -> Arena = Arena::new();
}

/// Segments of columns.
#[derive(Debug)]
pub(crate) struct Arena {
    /// Each segment's first cell. They are filled in order.
    segments: [AtomicPtr<AtomicU64>; SEGMENTS],
    /// The refused runs of each segment, side by side, so that a claim passes over a full segment
    /// by one load.
    refusals: [Refusal; SEGMENTS],
    /// The segment that a claim tries first, which probably has free columns.
    hint: AtomicUsize,
    /// The columns that were freed last, one for each core.
    spares: Spares,
}

impl Arena {
    const_fn! {
        const fn new() -> Arena {
            Arena {
                segments: alike![AtomicPtr::new(null_mut()); SEGMENTS],
                refusals: alike![Refusal::new(); SEGMENTS],
                hint: AtomicUsize::new(0),
                spares: Spares::new(),
            }
        }
    }

    /// Claims `length` neighbouring columns; returns `None` if the arena is full, if there is no
    /// memory for another segment, or if a row has fewer columns.
    pub(crate) fn claim(&self, length: usize) -> Option<Column> {
        if length == 0 || length > COLUMNS {
            return None; // no segment has such a run, mapped or not
        }
        let own = if length == 1 { self.spares.take() } else { None };
        own.or_else(|| self.claim_mapped(length))
            .or_else(|| self.claim_spare(length))
            .or_else(|| self.claim_new(length))
    }

    /// Claims a run in a mapped segment.
    fn claim_mapped(&self, length: usize) -> Option<Column> {
        // Relaxed: this is a hint; a claim may begin at any segment.
        let hint = self.hint.load(Ordering::Relaxed);
        let from = |first: usize| self.mapped_from(first);
        from(hint).chain(from(0).take(hint)).find_map(|(index, segment)| {
            let column = segment.claim(length)?;
            if index != hint {
                self.hint.store(index, Ordering::Relaxed);
            }
            Some(column)
        })
    }

    /// Claims the spare column of any core; for a run of several, frees all of these first.
    #[cold]
    fn claim_spare(&self, length: usize) -> Option<Column> {
        if length == 1 {
            return self.spares.take_each().next();
        }
        // One pass: what other threads keep meanwhile stays.
        self.spares.take_each().for_each(|column| self.free_mapped(column, 1));
        self.claim_mapped(length)
    }

    /// Claims a run in a new segment, or in one that another thread maps meanwhile.
    #[cold]
    fn claim_new(&self, length: usize) -> Option<Column> {
        let end = self.mapped_from(0).count();
        for index in end..SEGMENTS {
            match self.map(index, length)? {
                Mapped::Ours(column) => return Some(column),
                Mapped::Theirs(segment) => {
                    if let Some(column) = segment.claim(length) {
                        return Some(column);
                    }
                }
            }
        }
        None
    }

    /// Zeroes and frees the columns of a [`claim`](Self::claim).
    ///
    /// # Safety
    /// `column` and `length` are those of one claim from this arena. Every other use of their cells
    /// happened before, and there will be none until they are claimed again.
    pub(crate) unsafe fn free(&self, column: Column, length: usize) {
        // Relaxed: no other thread reads them until `keep` or `clear_bits` publishes them.
        (0..length).for_each(|distance| rows::reset(column.right(distance), Ordering::Relaxed));
        if length != 1 || !self.spares.keep(column) {
            self.free_mapped(column, length);
        }
    }

    /// Frees a run in its segment.
    fn free_mapped(&self, column: Column, length: usize) {
        let owner = self.mapped_from(0).find(|(_, segment)| segment.holds(column));
        if let Some((index, segment)) = owner {
            segment.free(column, length);
            // Relaxed, as in `claim_mapped`; a look first, since many threads free columns.
            if index < self.hint.load(Ordering::Relaxed) {
                self.hint.fetch_min(index, Ordering::Relaxed);
            }
        }
    }

    /// Returns the numbers of claimed and of mapped columns.
    pub(crate) fn usage(&self) -> (usize, usize) {
        let segments = self.mapped_from(0).map(|(_, segment)| segment.claimed());
        let (taken, mapped) =
            segments.fold((0, 0), |(taken, mapped), more| (taken + more, mapped + COLUMNS));
        // Columns that come and go meanwhile may be counted in one of the two.
        (taken.saturating_sub(self.spares.count()), mapped)
    }

    fn segment(&self, index: usize, start: NonNull<AtomicU64>) -> Segment<'_> {
        Segment { start, refusal: &self.refusals[index] }
    }

    /// Returns the mapped segments, from number `first` on.
    fn mapped_from(&self, first: usize) -> impl Iterator<Item = (usize, Segment<'_>)> {
        (first..SEGMENTS).map_while(|index| {
            // Acquire: pairs with the Release in `map`.
            let start = NonNull::new(self.segments[index].load(Ordering::Acquire))?;
            Some((index, self.segment(index, start)))
        })
    }

    /// Maps the segment numbered `index`, with a run of `length` already claimed, unless another
    /// thread has mapped it.
    fn map(&self, index: usize, length: usize) -> Option<Mapped<'_>> {
        let pages = Pages::map(ROWS_AT + stripe::mapped_rows() * COLUMNS)?;
        let segment = self.segment(index, pages.start());
        let first = segment.take(length)?;
        // Release: publishes the taken run and, in a model, the cells (the kernel's zeroes need no
        // publication). Acquire, on failure: the winner's segment.
        let place = &self.segments[index];
        let winner = place.compare_exchange(
            null_mut(),
            pages.start().as_ptr(),
            Ordering::Release,
            Ordering::Acquire,
        );
        match winner {
            Ok(_) => Some(Mapped::Ours(segment.column(first))), // it is never unmapped
            Err(winner) => {
                pages.unmap();
                NonNull::new(winner).map(|start| Mapped::Theirs(self.segment(index, start)))
            }
        }
    }
}

/// A newly mapped segment.
enum Mapped<'a> {
    /// This thread mapped it, and claimed a run in it.
    Ours(Column),
    /// Another thread was first.
    Theirs(Segment<'a>),
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;

//! A group of segments, so that a claim passes over many full ones by one load, and a column's
//! segment is found by a few.
//!
//! A group remembers what all of its segments have refused, as each of them does: see `refusal`.
//! While a segment is not mapped yet, it remembers nothing.

use std::ptr::{NonNull, null_mut};

use crate::arena::refusal::Refusal;
use crate::arena::segment::Segment;
use crate::memory::column::Column;
use crate::memory::pages::Pages;
use crate::sync::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, alike, const_fn, sized};

/// The number of segments in a group.
pub(super) const SIZE: usize = sized(64, 1);

/// Segments that follow each other in the order in which they are mapped.
#[derive(Debug)]
pub(super) struct Group {
    /// Each segment's first cell. They are filled in order.
    segments: [AtomicPtr<AtomicU64>; SIZE],
    /// The refused runs of each segment, side by side, so that a claim passes over a full segment
    /// by one load.
    refusals: [Refusal; SIZE],
    /// The runs that all segments have refused.
    refusal: Refusal,
    /// The greatest address at which a segment begins, and the complement of the least. Both only
    /// rise, and are zero at first.
    last: AtomicUsize,
    not_first: AtomicUsize,
}

/// A newly mapped segment.
pub(super) enum Mapped<'a> {
    /// This thread mapped it, and claimed a run in it.
    Ours(Column),
    /// Another thread was first.
    Theirs(Segment<'a>),
}

impl Group {
    const_fn! {
        /// Returns a group without segments.
        pub(super) const fn new() -> Group {
            Group {
                segments: alike![AtomicPtr::new(null_mut()); SIZE],
                refusals: alike![Refusal::new(); SIZE],
                refusal: Refusal::new(),
                last: AtomicUsize::new(0),
                not_first: AtomicUsize::new(0),
            }
        }
    }

    fn at(&self, index: usize, start: NonNull<AtomicU64>) -> Segment<'_> {
        Segment { start, refusal: &self.refusals[index], of_group: &self.refusal }
    }

    /// Returns a segment, if it is mapped.
    pub(super) fn segment(&self, index: usize) -> Option<Segment<'_>> {
        // Acquire: pairs with the Release in `map`.
        let start = NonNull::new(self.segments[index].load(Ordering::Acquire))?;
        Some(self.at(index, start))
    }

    /// Returns the mapped segments.
    pub(super) fn mapped(&self) -> impl Iterator<Item = Segment<'_>> {
        (0..SIZE).map_while(|index| self.segment(index))
    }

    /// Claims a run in a mapped segment, of which the one at `from` is asked first, and returns the
    /// segment's index. Looks at no segment if all have refused a run of that length, or a shorter
    /// one, since a column was freed.
    pub(super) fn claim(&self, length: usize, from: usize) -> Option<(usize, Column)> {
        let seen = self.refusal.look();
        if seen.refuses(length) {
            return None;
        }
        let is_full = self.segment(SIZE - 1).is_some(); // before the look
        let claim = |index| Some((index, self.segment(index)?.claim(length)?));
        let claimed = (from..SIZE).chain(0..from).find_map(claim);
        if claimed.is_none() && is_full {
            self.refusal.remember(seen, length);
        }
        claimed
    }

    /// Returns the segment that holds a column, and its index.
    pub(super) fn holding(&self, column: Column) -> Option<(usize, Segment<'_>)> {
        // Relaxed, both: the segment of a claimed column was found by an Acquire load, or mapped by
        // this thread, and its address was told before.
        let last = self.last.load(Ordering::Relaxed);
        let first = !self.not_first.load(Ordering::Relaxed);
        let address = column.first().as_ptr() as usize;
        if address < first || address > last.saturating_add(Segment::REACH) {
            return None;
        }
        self.mapped().enumerate().find(|(_, segment)| segment.holds(column))
    }

    /// Maps a segment, with a run of `length` already claimed, unless another thread has mapped it.
    pub(super) fn map(&self, index: usize, length: usize) -> Option<Mapped<'_>> {
        let pages = Pages::map(Segment::cells())?;
        let segment = self.at(index, pages.start());
        let first = segment.take(length)?;
        let address = pages.start().as_ptr() as usize;
        // Relaxed, both: published by the address itself. If another thread is first, `holding`
        // looks at more columns than it must.
        self.last.fetch_max(address, Ordering::Relaxed);
        self.not_first.fetch_max(!address, Ordering::Relaxed);
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
                NonNull::new(winner).map(|start| Mapped::Theirs(self.at(index, start)))
            }
        }
    }
}

//! A group of segments, so that a claim passes over many full ones by one load, and a column's
//! segment is found by a few.
//!
//! A group remembers what all of its segments have refused, as each of them does: see `refusal`.
//! While a segment is not mapped yet, it remembers nothing.
//!
//! # Where a group is
//!
//! The arena has one pointer for each group, which is null before the group's first segment is
//! mapped. What a group knows of its segments is in that segment, between the bitmap and the rows:
//!
//! ```text
//!   segment 0: [ bitmap | group | row 0 | ... ]     segment 1: [ bitmap | unused | row 0 | ... ]
//!
//!   group: [ SIZE pointers | SIZE refusals | refusal of all | last | not first ]
//! ```
//!
//! So a process takes no memory for groups that it never has. A group's cells are published
//! together with its first segment, by one exchange.

use std::ptr::{NonNull, null_mut};

use crate::arena::refusal::Refusal;
use crate::arena::segment::{GROUP_AT, GROUP_CELLS, Segment};
use crate::memory::column::Column;
use crate::memory::pages::Pages;
use crate::sync::{AtomicPtr, AtomicU64, Ordering, sized};

/// The number of segments in a group.
pub(super) const SIZE: usize = sized(64, 1);

/// The cells of a group, in the order in which they stand: the pointers to its segments, of which
/// the first is not used. They are filled in order.
const SEGMENTS: usize = 0;
/// The refused runs of each segment, side by side, so that a claim passes over a full segment by
/// one load.
const REFUSALS: usize = SEGMENTS + SIZE;
/// The runs that all segments have refused.
const REFUSAL: usize = REFUSALS + SIZE;
/// The greatest address at which a segment begins, and the complement of the least. Both only rise,
/// and are zero at first.
const LAST: usize = REFUSAL + 1;
const NOT_FIRST: usize = LAST + 1;

const _: () = assert!(NOT_FIRST < GROUP_CELLS);

/// Segments that follow each other in the order in which they are mapped. There is at least one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// The first segment's beginning.
    start: NonNull<AtomicU64>,
}

/// A newly mapped segment.
pub(super) enum Mapped {
    /// This thread mapped it, and claimed a run in it.
    Ours(Column),
    /// Another thread was first.
    Theirs(Segment),
}

impl Group {
    /// Returns the group at a place of the arena, if there is one.
    pub(super) fn at(place: &AtomicPtr<AtomicU64>) -> Option<Group> {
        follow(place).map(|start| Group { start })
    }

    /// Begins a group at a place of the arena, with a segment in which a run of `length` is already
    /// claimed, unless another thread has begun it.
    pub(super) fn begin(place: &AtomicPtr<AtomicU64>, length: usize) -> Option<Mapped> {
        map(place, length, None)
    }

    /// Maps a segment that is not the first, as [`begin`](Self::begin) maps that.
    pub(super) fn map(self, index: usize, length: usize) -> Option<Mapped> {
        map(self.place(index), length, Some((self, index)))
    }

    fn cell(self, index: usize) -> &'static AtomicU64 {
        debug_assert!(index < GROUP_CELLS);
        // SAFETY: a segment has these cells, and is never unmapped once others can see it. Before,
        // `map` alone uses them.
        unsafe { self.start.add(GROUP_AT + index).as_ref() }
    }

    /// Returns the place of a pointer to a segment that is not the first.
    #[cfg(not(any(loom, shuttle)))]
    fn place(self, index: usize) -> &'static AtomicPtr<AtomicU64> {
        debug_assert!((1..SIZE).contains(&index));
        let cell: *const AtomicU64 = self.cell(SEGMENTS + index);
        // SAFETY: all zeros are a null pointer. A cell is at least as long as a pointer, and as
        // aligned. It is used as a pointer alone.
        unsafe { &*cell.cast() }
    }

    #[cfg(any(loom, shuttle))]
    #[allow(clippy::unused_self)] // as elsewhere
    fn place(self, _: usize) -> &'static AtomicPtr<AtomicU64> {
        unreachable!("in models a group has one segment")
    }

    fn refusal(self) -> Refusal {
        Refusal(self.cell(REFUSAL))
    }

    fn with(self, index: usize, start: NonNull<AtomicU64>) -> Segment {
        Segment { start, refusal: Refusal(self.cell(REFUSALS + index)), of_group: self.refusal() }
    }

    /// Returns a segment, if it is mapped.
    pub(super) fn segment(self, index: usize) -> Option<Segment> {
        let start = if index == 0 { self.start } else { follow(self.place(index))? };
        Some(self.with(index, start))
    }

    /// Returns the mapped segments.
    pub(super) fn mapped(self) -> impl Iterator<Item = Segment> {
        (0..SIZE).map_while(move |index| self.segment(index))
    }

    /// Claims a run in a mapped segment, of which the one at `from` is asked first, and returns the
    /// segment's index. Looks at no segment if all have refused a run of that length, or a shorter
    /// one, since a column was freed.
    #[inline(never)]
    pub(super) fn claim(self, length: usize, from: usize) -> Option<(usize, Column)> {
        let seen = self.refusal().look();
        if seen.refuses(length) {
            return None;
        }
        let is_full = self.segment(SIZE - 1).is_some(); // before the look
        let claim = |index| Some((index, self.segment(index)?.claim(length)?));
        let claimed = [from..SIZE, 0..from].into_iter().flatten().find_map(claim);
        if claimed.is_none() && is_full {
            self.refusal().remember(seen, length);
        }
        claimed
    }

    /// Returns the segment that holds a column, and its index.
    pub(super) fn holding(self, column: Column) -> Option<(usize, Segment)> {
        // Relaxed, both: the segment of a claimed column was found by an Acquire load, or mapped by
        // this thread, and its address was told before.
        let last = self.cell(LAST).load(Ordering::Relaxed);
        let first = !self.cell(NOT_FIRST).load(Ordering::Relaxed);
        let address = column.first().as_ptr() as u64;
        if address < first || address > last.saturating_add(Segment::REACH as u64) {
            return None;
        }
        self.mapped().enumerate().find(|(_, segment)| segment.holds(column))
    }
}

/// Returns the beginning of the segment at a place, if it is mapped.
fn follow(place: &AtomicPtr<AtomicU64>) -> Option<NonNull<AtomicU64>> {
    // Acquire: pairs with the Release in `map`.
    NonNull::new(place.load(Ordering::Acquire))
}

/// Maps a segment, with a run of `length` already claimed, unless another thread has mapped the one
/// at that place. `within` is its group and its index there: none for the first of a group.
#[inline(never)]
fn map(
    place: &AtomicPtr<AtomicU64>,
    length: usize,
    within: Option<(Group, usize)>,
) -> Option<Mapped> {
    let segment = |start| {
        let (group, index) = within.unwrap_or((Group { start }, 0));
        (group, group.with(index, start))
    };
    let pages = Pages::map(Segment::cells())?;
    let (group, mapped) = segment(pages.start());
    let first = mapped.take(length)?;
    let address = pages.start().as_ptr() as u64;
    // Relaxed, both: published by the address itself. If another thread is first, `holding` looks
    // at more columns than it must.
    group.cell(LAST).fetch_max(address, Ordering::Relaxed);
    group.cell(NOT_FIRST).fetch_max(!address, Ordering::Relaxed);
    // Release: publishes the taken run, the cells of a new group and, in a model, all cells (the
    // kernel's zeroes need no publication). Acquire, on failure: the winner's segment.
    let (order, failed) = (Ordering::Release, Ordering::Acquire);
    match place.compare_exchange(null_mut(), pages.start().as_ptr(), order, failed) {
        Ok(_) => Some(Mapped::Ours(mapped.column(first))), // it is never unmapped
        Err(winner) => {
            pages.unmap();
            Some(Mapped::Theirs(segment(NonNull::new(winner)?).1))
        }
    }
}

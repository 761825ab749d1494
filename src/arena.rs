//! The process's arena, which allocates columns.
//!
//! Columns come in segments. A segment is one mapping: a bitmap, then the rows.
//!
//! ```text
//!   segment: [ bitmap | row 0: COLUMNS cells | row 1 | ... ]   a bit is set: the column is taken
//! ```
//!
//! A segment is mapped when the ones before it are full, and is never unmapped. Claiming and
//! freeing are lock-free: a compare-exchange on one word of the bitmap. A *run* is several
//! neighbouring columns; if it is longer than a word, it takes one on each of its words. Each core
//! keeps the column that was freed there last, for the next claim there ([`spare`]).
//!
//! One pass over the segments finds free columns, maps a segment, or gives up. A run makes a second
//! pass if spare columns were freed for it. If a segment, or a group of 64 of them ([`group`]), has
//! refused a run, a later claim passes over it by one load, until a column is freed there
//! ([`refusal`]). Giving up is no error: a counter then counts in its fallback cell. A segment is
//! mapped for one run, which is taken before other threads can see the segment. So no claim adds
//! more than one segment, and a run that does not fit adds none.
//!
//! # A free column is all zeros
//!
//! While a column is owned its cells only grow: none is reset while a thread might be adding to it.
//! When a column is freed, its owner has the only reference left (`&mut self` in a `Drop`). Every
//! add to it has happened before, so zeroing it races with no thread. The next owner has no old sum
//! to remember, which it could not publish together with the column in one atomic step.

use std::ops::Range;
use std::ptr::null_mut;

use crate::memory::column::{COLUMNS, Column};
use crate::sync::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, alike, const_fn, global, sized};
use group::{Group, Mapped};
use segment::Segment;
use spare::Spares;

pub(crate) mod by_row;
pub(crate) mod columns;
mod group;
pub(crate) mod on_demand;
mod refusal;
pub(crate) mod rows;
mod segment;
mod spare;

/// The maximum number of groups, of half a million columns each: fewer where there are no addresses
/// for more.
const GROUPS: usize = sized(if cfg!(target_pointer_width = "64") { 160 } else { 16 }, 1);
/// The maximum number of segments.
const SEGMENTS: usize = GROUPS * group::SIZE;

global! {
    /// Returns the arena of this process.
    pub(crate) fn arena() -> Arena = Arena::new();
}

/// Segments of columns.
#[derive(Debug)]
pub(crate) struct Arena {
    /// The first segment of each group. Groups are filled in order.
    groups: [AtomicPtr<AtomicU64>; GROUPS],
    /// The number of the segment that a claim tries first, which probably has free columns.
    hint: AtomicUsize,
    /// The columns that were freed last, one for each core.
    spares: Spares,
}

impl Arena {
    const_fn! {
        #[allow(clippy::large_stack_arrays, reason = "it is a static, but in tests")]
        const fn new() -> Arena {
            Arena {
                groups: alike![AtomicPtr::new(null_mut()); GROUPS],
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
    #[inline(never)]
    fn claim_mapped(&self, length: usize) -> Option<Column> {
        // Relaxed: this is a hint; a claim may begin at any segment.
        let hint = self.hint.load(Ordering::Relaxed);
        let (first, likely) = Arena::place(hint);
        let find = |numbers: Range<usize>| {
            self.begun(numbers).find_map(|(number, group)| {
                let from = if number == first { likely } else { 0 };
                let (index, column) = group.claim(length, from)?;
                let found = number * group::SIZE + index;
                if found != hint {
                    self.hint.store(found, Ordering::Relaxed);
                }
                Some(column)
            })
        };
        [first..GROUPS, 0..first].into_iter().find_map(find)
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
        // Those before are mapped: they are filled in order, and stay.
        let is_mapped = |number: usize| self.segment(number).is_some();
        let (mut end, mut unmapped) = (0, SEGMENTS);
        while end < unmapped {
            let middle = end.midpoint(unmapped);
            if is_mapped(middle) { end = middle + 1 } else { unmapped = middle }
        }
        for number in end..SEGMENTS {
            let (group, index) = Arena::place(number);
            let place = &self.groups[group];
            let mapped = if index == 0 {
                Group::begin(place, length)
            } else {
                Group::at(place)?.map(index, length)
            };
            match mapped? {
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
    #[inline(never)]
    fn free_mapped(&self, column: Column, length: usize) {
        let holding = |(number, group): (usize, Group)| {
            let (index, segment) = group.holding(column)?;
            segment.free(column, length);
            Some(number * group::SIZE + index)
        };
        if let Some(number) = self.begun(0..GROUPS).find_map(holding) {
            // Relaxed, as in `claim_mapped`; a look first, since many threads free columns.
            if number < self.hint.load(Ordering::Relaxed) {
                self.hint.fetch_min(number, Ordering::Relaxed);
            }
        }
    }

    /// Returns the numbers of claimed and of mapped columns.
    pub(crate) fn usage(&self) -> (usize, usize) {
        let segments = self.begun(0..GROUPS).flat_map(|(_, group)| group.mapped());
        let segments = segments.map(Segment::claimed);
        let (taken, mapped) =
            segments.fold((0, 0), |(taken, mapped), more| (taken + more, mapped + COLUMNS));
        // Columns that come and go meanwhile may be counted in one of the two.
        (taken.saturating_sub(self.spares.count()), mapped)
    }

    /// Returns a segment, if it is mapped.
    fn segment(&self, number: usize) -> Option<Segment> {
        let (group, index) = Arena::place(number);
        Group::at(&self.groups[group])?.segment(index)
    }

    /// Returns the number of a segment's group, and the segment's index there.
    #[allow(clippy::modulo_one, reason = "in models a group has one segment")]
    fn place(number: usize) -> (usize, usize) {
        (number / group::SIZE, number % group::SIZE)
    }

    /// Returns the groups with these numbers, up to the first that is not begun yet.
    fn begun(&self, numbers: Range<usize>) -> impl Iterator<Item = (usize, Group)> {
        numbers.map_while(|number| Some((number, Group::at(&self.groups[number])?)))
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;

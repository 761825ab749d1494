//! The memory of a gate's sheets: used for one bucket after another, and freed with the gate.
//!
//! # Promise
//!
//! There is a free sheet whenever one is needed, and it is safe to look at a sheet at any time. One
//! sheet is the head, and each thread that is opening a bucket has one more. So a gate uses one
//! more than the largest number of threads that ever opened buckets at once, and allocates up to
//! twice that number. A thread that is suspended there keeps one sheet, and nothing else. Once
//! there are enough, opening a bucket allocates nothing.
//!
//! # How
//!
//! Sheets stand in segments, each twice as long as the one before, which never move. The first
//! segment is made with the ledger. A sheet's number tells where it stands; the sheet itself tells
//! whether it is free.

use std::ptr::{null_mut, slice_from_raw_parts_mut};

use crossbeam_utils::CachePadded;

use crate::gate::sheet::Sheet;
use crate::sync::{AtomicPtr, Ordering, sized, spin_loop};

/// The number of sheets at first: the head, and one for each of three threads that open the next
/// bucket at once.
const AT_FIRST: usize = sized(4, 2);
/// The number of segments: with these a ledger fills its cache lines.
const SEGMENTS: usize = 10;

/// A sheet on cache lines of its own: all threads write its word.
type Padded = CachePadded<Sheet>;

/// Up to 4092 sheets.
#[derive(Debug)]
pub(super) struct Sheets {
    segments: [AtomicPtr<Padded>; SEGMENTS],
}

impl Sheets {
    /// Makes no sheet yet.
    #[inline]
    pub(super) fn new() -> Sheets {
        Sheets { segments: std::array::from_fn(|_| AtomicPtr::new(null_mut())) }
    }

    /// Makes the first segment, of sheets with room for `history` buckets before their own; returns
    /// false if there is no memory for them.
    #[inline]
    pub(super) fn make(&mut self, history: usize) -> bool {
        self.segment(0).iter().all(|sheet| sheet.make_room(history))
    }

    /// Returns the sheet of a number that `take` has returned, in this thread or in a thread that
    /// has published the number.
    #[inline]
    pub(super) fn at(&self, number: u16) -> &Sheet {
        let number = usize::from(number);
        if number < AT_FIRST {
            // Relaxed: the segment was published before the number, by the same Release.
            let first = self.segments[0].load(Ordering::Relaxed);
            // SAFETY: the first segment was made before one of its numbers was returned, has that
            // number of sheets, and lives as long as this.
            return unsafe { &*first.add(number) };
        }
        self.beyond(number)
    }

    /// Returns the sheet as `at`, for a number beyond the first segment.
    #[cold]
    fn beyond(&self, number: usize) -> &Sheet {
        let place = number + AT_FIRST;
        let segment = (place / AT_FIRST).ilog2() as usize;
        let before = AT_FIRST << segment;
        // Relaxed: as in `at`.
        let first = self.segments[segment].load(Ordering::Relaxed);
        // SAFETY: the segment was made before one of its numbers was returned, and has `before`
        // sheets. It lives as long as this.
        unsafe { &*first.add(place - before) }
    }

    /// Takes a free sheet for the caller, and returns its number too.
    #[inline]
    pub(super) fn take(&self) -> (u16, &Sheet) {
        loop {
            let mut number = 0;
            for segment in 0..SEGMENTS {
                let sheets = self.segment(segment);
                if let Some(free) = sheets.iter().position(|sheet| sheet.try_take()) {
                    return (number + free as u16, &sheets[free]);
                }
                number += sheets.len() as u16;
            }
            // 4091 threads are suspended where they open a bucket. The first to go on frees a
            // sheet.
            spin_loop();
        }
    }

    /// Returns a segment, and makes it if it is not there.
    #[inline]
    fn segment(&self, number: usize) -> &[Padded] {
        let count = AT_FIRST << number;
        // Acquire: pairs with the Release below.
        let mut first = self.segments[number].load(Ordering::Acquire);
        if first.is_null() {
            let new: Box<[Padded]> = (0..count).map(|_| CachePadded::new(Sheet::free())).collect();
            let new = Box::into_raw(new);
            // Release: publishes the sheets; pairs with the Acquire above. Acquire on failure: as
            // there.
            let (order, failed) = (Ordering::Release, Ordering::Acquire);
            let made =
                self.segments[number].compare_exchange(null_mut(), new.cast(), order, failed);
            first = match made {
                Ok(_) => new.cast(),
                Err(theirs) => {
                    // SAFETY: made above, and no other thread knows of it.
                    drop(unsafe { Box::from_raw(new) });
                    theirs
                }
            };
        }
        // SAFETY: a segment has `count` sheets, and lives as long as this.
        unsafe { std::slice::from_raw_parts(first, count) }
    }
}

impl Drop for Sheets {
    #[inline]
    fn drop(&mut self) {
        for (number, segment) in self.segments.iter().enumerate() {
            let first = segment.load(Ordering::Relaxed); // `&mut self`: no other thread is there
            if !first.is_null() {
                // SAFETY: made by `Box::into_raw`, of that number of sheets.
                drop(unsafe { Box::from_raw(slice_from_raw_parts_mut(first, AT_FIRST << number)) });
            }
        }
    }
}

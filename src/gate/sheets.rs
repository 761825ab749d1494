//! The memory of a gate's sheets: used for one bucket after the other, and freed with the gate.
//!
//! # Promise
//!
//! There is a free sheet whenever one is needed, and it is safe to look at a sheet at any time. One
//! sheet is the head, and each thread that is opening a bucket has one besides: so a gate has as
//! many as there were ever threads that opened buckets at once, and one; and up to twice as many
//! are made. A thread that stands still there keeps one sheet, and nothing else. Once there are
//! enough, opening a bucket allocates nothing.
//!
//! # How
//!
//! Sheets stand in segments, each twice as long as the one before, which are never moved. The first
//! is made with the gate; if that stands in a static, by whichever thread takes the first sheet. A
//! sheet's number says where it is. Whether it is free, it says itself.

use std::ptr::{null_mut, slice_from_raw_parts_mut};

use crossbeam_utils::CachePadded;

use crate::gate::sheet::{Sheet, no_sheet};
use crate::sync::{AtomicPtr, Ordering, alike, const_fn, sized, spin_loop};

/// How many there are at first: the head, and those of three threads that open the next bucket at
/// once.
const AT_FIRST: usize = sized(4, 2);
/// With these a ledger fills its cache lines.
const SEGMENTS: usize = 10;
/// The number of no sheet: there are fewer.
pub(super) const NONE: u16 = u16::MAX;

/// A sheet has the cache lines for itself: its word is written by all threads.
type Padded = CachePadded<Sheet>;

/// Up to 4 092 sheets.
#[derive(Debug)]
pub(super) struct Sheets {
    segments: [AtomicPtr<Padded>; SEGMENTS],
}

impl Sheets {
    const_fn! {
        /// None yet.
        pub(super) const fn new() -> Sheets {
            Sheets { segments: alike![AtomicPtr::new(null_mut()); SEGMENTS] }
        }
    }

    /// Makes the first few, of which each has room for so many buckets before its own; false if
    /// there is no memory for them.
    pub(super) fn make(&mut self, history: usize) -> bool {
        self.segment(0).iter().all(|sheet| sheet.make_room(history))
    }

    /// The sheet of a number that `take` has returned, in this thread or in one that has told this
    /// one. Of [`NONE`] it is one that is nobody's, to be looked at alone.
    #[inline]
    pub(super) fn at(&self, number: u16) -> &Sheet {
        let number = usize::from(number);
        if number < AT_FIRST {
            // Relaxed: what told of the number has told of the segment too.
            let first = self.segments[0].load(Ordering::Relaxed);
            // SAFETY: the first segment was made before one of its numbers was returned, has so
            // many sheets, and lives as long as this.
            return unsafe { &*first.add(number) };
        }
        self.beyond(number)
    }

    /// As `at`, of a number beyond the first segment.
    #[cold]
    fn beyond(&self, number: usize) -> &Sheet {
        if number == usize::from(NONE) {
            return no_sheet();
        }
        let place = number + AT_FIRST;
        let segment = (place / AT_FIRST).ilog2() as usize;
        let before = AT_FIRST << segment;
        // Relaxed: as in `at`.
        let first = self.segments[segment].load(Ordering::Relaxed);
        // SAFETY: the segment was made before one of its numbers was returned, and has `before`
        // sheets. It lives as long as this.
        unsafe { &*first.add(place - before) }
    }

    /// A free sheet, now the caller's, and its number.
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
            // 4 091 threads stand still where they open a bucket. The first to go on frees a sheet.
            spin_loop();
        }
    }

    /// A segment, made if it is not there.
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
        // SAFETY: a segment has so many sheets, and lives as long as this.
        unsafe { std::slice::from_raw_parts(first, count) }
    }
}

impl Drop for Sheets {
    fn drop(&mut self) {
        for (number, segment) in self.segments.iter().enumerate() {
            let first = segment.load(Ordering::Relaxed); // `&mut self`: no other thread is there
            if !first.is_null() {
                // SAFETY: made by `Box::into_raw`, of so many sheets.
                drop(unsafe { Box::from_raw(slice_from_raw_parts_mut(first, AT_FIRST << number)) });
            }
        }
    }
}

//! A bit for each list of a family's table: whether the list may have series.
//!
//! So a sweep of a table that is nearly empty loads a word for each 64 lists, and not a head for
//! each one.
//!
//! # Theorem
//!
//! Once an insertion has returned, and until its series is removed, the bit of its list is set, but
//! for a moment of a sweep, which holds the lock.
//!
//! # Why
//!
//! An insertion sets the bit after the series is in the list. A sweep that finds a list empty
//! clears its bit, looks at the list again, and sets the bit again if there is a series. Both
//! change the bit by a read-modify-write. Either the insertion's comes later: then the bit is set.
//! Or the sweep's does, and has acquired what the insertion released: then its second look finds
//! the series. Sweeps, and removals, hold the family's lock.

use std::iter;
use std::ops::Range;

use crate::sync::{AtomicU64, Ordering};

/// The number of lists in a word.
const LISTS: usize = u64::BITS as usize;

/// The bits of all lists.
pub(super) struct Occupied(Box<[AtomicU64]>);

impl Occupied {
    /// Returns the bits of a number of lists, none of them set; `None` if there is no memory.
    #[inline]
    pub(super) fn new(lists: usize) -> Option<Occupied> {
        let (mut words, length) = (Vec::new(), lists.div_ceil(LISTS));
        words.try_reserve_exact(length).ok()?;
        words.extend(iter::repeat_with(|| AtomicU64::new(0)).take(length));
        Some(Occupied(words.into()))
    }

    /// Sets the bit of a list, behind an insertion into it.
    pub(super) fn set(&self, list: usize) {
        // Release: pairs with the Acquire in `clear`.
        self.0[list / LISTS].fetch_or(1 << (list % LISTS), Ordering::Release);
    }

    /// Clears the bit of a list that was found empty. The caller holds the lock, and looks at the
    /// list once more.
    pub(super) fn clear(&self, list: usize) {
        // Acquire: pairs with the Release in `set`: the next look at the list finds each series
        // whose bit this has cleared.
        self.0[list / LISTS].fetch_and(!(1 << (list % LISTS)), Ordering::Acquire);
    }

    /// Returns the lists in a range whose bits are set, in order. Each is looked for when it is
    /// asked for.
    pub(super) fn each_in(&self, lists: Range<usize>) -> impl Iterator<Item = usize> {
        let mut rest = lists;
        iter::from_fn(move || {
            let found = self.first_in(&rest)?;
            rest.start = found + 1;
            Some(found)
        })
    }

    #[inline]
    fn first_in(&self, lists: &Range<usize>) -> Option<usize> {
        let mut list = lists.start;
        while list < lists.end {
            // Relaxed: a sweep that comes after an insertion, by any synchronisation, finds its
            // bit, and then its series, by coherence.
            let word = self.0[list / LISTS].load(Ordering::Relaxed) >> (list % LISTS);
            if word != 0 {
                let found = list + word.trailing_zeros() as usize;
                return (found < lists.end).then_some(found);
            }
            list = (list / LISTS + 1) * LISTS;
        }
        None
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn the_lists_whose_bits_are_set_are_found_in_order() {
        let occupied = Occupied::new(200).expect("there is memory");
        let each_in = |lists| occupied.each_in(lists).collect::<Vec<_>>();
        assert_eq!(each_in(0..200), []);
        for list in [199, 0, 63, 64, 130, 64] {
            occupied.set(list);
        }
        assert_eq!(each_in(0..200), [0, 63, 64, 130, 199]);
        assert_eq!((each_in(1..199), each_in(64..64)), (vec![63, 64, 130], vec![]));
        occupied.clear(64);
        occupied.clear(65);
        assert_eq!(each_in(63..131), [63, 130]);
    }
}

//! The process's arena: who owns which column.
//!
//! Columns come in segments, each one mapping: a bitmap, then the rows.
//!
//! ```text
//!   segment: [ bitmap | row 0: COLUMNS cells | row 1 | ... ]      a bit is set: the column is taken
//! ```
//!
//! Segments are mapped when the ones before are full, and stay for ever. Claiming and giving back
//! are lock-free: a compare-exchange on one word of the bitmap (on each of several, for a run longer
//! than a word). One pass over the bitmaps either finds room, maps a segment, or gives up; giving up
//! is no error to anyone: a counter then counts in a cell of its own.
//!
//! # A free column is all zeros
//!
//! While a column is owned its cells only grow; nothing ever resets one that somebody might be
//! adding to. When it is given back its owner holds the only reference left (`&mut self` in a
//! `Drop`), every add to it has happened before, and so zeroing it races with nobody. The next owner
//! therefore has no old sum to remember, which it could not publish together with the column
//! in one atomic step.

use std::ptr::{NonNull, null_mut};

use crate::column::{COLUMNS, Column};
use crate::pages::{Cell, PAGE, Pages};
use crate::rows;
use crate::stripe;
use crate::sync::{AtomicPtr, AtomicUsize, Ordering, const_fn, global, null_pointers, sized};

/// How many segments there can be: eight million columns.
const SEGMENTS: usize = sized(1024, 1);
/// Columns for which one word of the bitmap stands.
const WORD: usize = sized(64, 8);
/// Words of bitmap in a segment.
const WORDS: usize = COLUMNS / WORD;
/// Where row 0 begins: behind the bitmap, on a page of its own.
const ROWS_AT: usize = WORDS.next_multiple_of(PAGE);
/// A run of columns begins at a multiple of its length up to this, a cache line of cells, so that a
/// window's events touch as few lines as they can.
const LINE: usize = 8;

global! {
    /// The arena of this process.
    pub(crate) fn arena() -> Arena = Arena::new();
}

/// Segments of columns.
#[derive(Debug)]
pub(crate) struct Arena {
    /// Each segment's first cell. They are filled in order.
    segments: [AtomicPtr<Cell>; SEGMENTS],
    /// Which segment to look at first: one that likely has room.
    hint: AtomicUsize,
}

impl Arena {
    const_fn! {
        const fn new() -> Arena {
            Arena { segments: null_pointers(), hint: AtomicUsize::new(0) }
        }
    }

    /// Claims `length` neighbouring columns; `None` if there is no room and no memory for more.
    pub(crate) fn claim(&self, length: usize) -> Option<Column> {
        // Relaxed: any segment is a right place to begin.
        let hint = self.hint.load(Ordering::Relaxed);
        let from = |first: usize| self.mapped_from(first);
        let room = from(hint).chain(from(0).take(hint)).find_map(|(index, segment)| {
            self.hint.store(index, Ordering::Relaxed);
            segment.claim(length)
        });
        room.or_else(|| {
            let end = from(0).count();
            (end..SEGMENTS).map_while(|index| self.map(index)).find_map(|new| new.claim(length))
        })
    }

    /// Takes back what [`claim`](Self::claim) has given out, zeroed, for others.
    ///
    /// # Safety
    /// `column` and `length` are those of one claim from this arena. Every other use of their cells
    /// happened before, and there will be none until they are claimed again.
    pub(crate) unsafe fn give_back(&self, column: Column, length: usize) {
        // Relaxed: nobody else looks until `free` publishes it.
        (0..length).for_each(|distance| rows::reset(column.right(distance), Ordering::Relaxed));
        let owner = self.mapped_from(0).find(|(_, segment)| segment.holds(column));
        if let Some((index, segment)) = owner {
            segment.give_back(column, length);
            self.hint.fetch_min(index, Ordering::Relaxed);
        }
    }

    /// The segments that are mapped, from the one numbered `first` on.
    fn mapped_from(&self, first: usize) -> impl Iterator<Item = (usize, Segment)> {
        (first..SEGMENTS).map_while(|index| {
            // Acquire: pairs with the Release in `map`.
            let start = NonNull::new(self.segments[index].load(Ordering::Acquire))?;
            Some((index, Segment { start }))
        })
    }

    /// Maps the segment numbered `index`, unless somebody else has.
    #[cold]
    fn map(&self, index: usize) -> Option<Segment> {
        let pages = Pages::map(ROWS_AT + stripe::rows() * COLUMNS)?;
        let start = pages.start();
        // Release: publishes the zeroed cells (in a model they are made; the kernel's need it not).
        // Acquire: what the winner has published, should we lose.
        let place = &self.segments[index];
        let winner = place.compare_exchange(
            null_mut(),
            start.as_ptr(),
            Ordering::Release,
            Ordering::Acquire,
        );
        match winner {
            Ok(_) => Some(Segment { start: pages.keep() }),
            Err(winner) => {
                pages.unmap();
                NonNull::new(winner).map(|start| Segment { start })
            }
        }
    }
}

/// One mapping: a bitmap and the rows.
#[derive(Clone, Copy, Debug)]
struct Segment {
    start: NonNull<Cell>,
}

impl Segment {
    /// A word of the bitmap.
    fn word(self, word: usize) -> &'static Cell {
        debug_assert!(word < WORDS);
        // SAFETY: a segment begins with its bitmap, and is never unmapped.
        unsafe { self.start.add(word).as_ref() }
    }

    /// The column for which `bit` of `word` stands.
    fn column(self, word: usize, bit: usize) -> Column {
        // SAFETY: behind the bitmap stand `stripe::rows()` rows of `COLUMNS` cells each.
        unsafe { Column::new(self.start.add(ROWS_AT + word * WORD + bit)) }
    }

    /// How far into row 0 `column` lies, if this is its segment.
    fn position(self, column: Column) -> Option<usize> {
        let first = self.column(0, 0).first().as_ptr() as usize;
        let distance = (column.first().as_ptr() as usize).checked_sub(first)? / size_of::<Cell>();
        (distance < COLUMNS).then_some(distance)
    }

    fn holds(self, column: Column) -> bool {
        self.position(column).is_some()
    }

    fn claim(self, length: usize) -> Option<Column> {
        if length == 0 || length > COLUMNS {
            None
        } else if length <= WORD {
            (0..WORDS).find_map(|word| self.claim_within(word, length))
        } else {
            self.claim_words(length.div_ceil(WORD))
        }
    }

    /// A run within one word of the bitmap.
    fn claim_within(self, word: usize, length: usize) -> Option<Column> {
        let bitmap = self.word(word);
        let mut taken = bitmap.load(Ordering::Relaxed);
        loop {
            let bit = room(taken, length)?;
            // Acquire: pairs with the Release in `give_back`; the cells are seen as zero. On
            // failure, Relaxed: the bits are only looked at.
            match bitmap.compare_exchange(
                taken,
                taken | mask(bit, length),
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(self.column(word, bit)),
                Err(now) => taken = now,
            }
        }
    }

    /// A run of whole words. What was taken before a word that is not free goes back.
    fn claim_words(self, words: usize) -> Option<Column> {
        let mut first = 0;
        while first + words <= WORDS {
            match (first..first + words).find(|word| !self.claim_word(*word)) {
                None => return Some(self.column(first, 0)),
                Some(taken) => {
                    (first..taken).for_each(|word| self.free(word, mask(0, WORD)));
                    first = taken + 1;
                }
            }
        }
        None
    }

    /// A whole word; false if any of it is taken.
    fn claim_word(self, word: usize) -> bool {
        // Acquire: as in `claim_within`.
        let (order, failed) = (Ordering::Acquire, Ordering::Relaxed);
        self.word(word).compare_exchange(0, mask(0, WORD), order, failed).is_ok()
    }

    fn give_back(self, column: Column, length: usize) {
        let Some(position) = self.position(column) else {
            return;
        };
        let (word, bit) = (position / WORD, position % WORD);
        if length <= WORD {
            self.free(word, mask(bit, length));
        } else {
            (word..word + length.div_ceil(WORD)).for_each(|word| self.free(word, mask(0, WORD)));
        }
    }

    fn free(self, word: usize, bits: u64) {
        // Release: pairs with the Acquire of the next claim, which must find the cells zeroed.
        self.word(word).fetch_and(!bits, Ordering::Release);
    }
}

/// The bits of a run.
const fn mask(bit: usize, length: usize) -> u64 {
    (u64::MAX >> (64 - length)) << bit
}

/// The first place in a word of the bitmap that has room for a run.
fn room(taken: u64, length: usize) -> Option<usize> {
    if taken == mask(0, WORD) {
        return None; // the usual case in a full segment
    }
    let step = length.next_power_of_two().min(LINE);
    (0..=WORD - length).step_by(step).find(|bit| taken & mask(*bit, length) == 0)
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// An arena that nobody else claims from.
    fn private() -> Arena {
        stripe::strategy();
        Arena::new()
    }

    #[test]
    fn runs_do_not_overlap_and_begin_on_a_line() {
        let arena = private();
        let mut taken = HashSet::new();
        for length in [1, 3, 8, 5, 64, 1, 70, 200, 2, 13, COLUMNS] {
            let column = arena.claim(length).unwrap();
            let first = column.first().as_ptr() as usize;
            assert_eq!(first % (8 * length.next_power_of_two().min(LINE)), 0, "length {length}");
            for distance in 0..length {
                assert!(taken.insert(column.right(distance).first()), "length {length}");
            }
        }
    }

    #[test]
    fn what_is_given_back_is_zero_for_the_next() {
        let arena = private();
        let column = arena.claim(3).unwrap();
        for row in 0..stripe::rows() {
            column.right(1).cell(row).store(7, Ordering::Relaxed);
        }
        // SAFETY: claimed above, used no more.
        unsafe { arena.give_back(column, 3) };
        let again = arena.claim(3).unwrap();
        assert_eq!(again, column);
        assert_eq!(rows::sum(again.right(1)), 0);
    }

    #[test]
    fn what_is_given_back_is_claimed_again_wherever_it_was() {
        let arena = private();
        for length in [1, 3, 8, 64, 130] {
            let all: Vec<_> = (0..40).map(|_| arena.claim(length).unwrap()).collect();
            let last = all[39];
            // SAFETY: claimed above, used no more.
            unsafe { arena.give_back(last, length) };
            assert_eq!(arena.claim(length), Some(last), "length {length}");
        }
    }

    #[test]
    fn runs_fill_a_segment() {
        for length in [1, 8, 64, 128] {
            let arena = private();
            let cells: Vec<_> = (0..COLUMNS / length)
                .map(|_| arena.claim(length).unwrap().first().as_ptr() as usize / size_of::<Cell>())
                .collect();
            let last = cells.iter().max().unwrap() - cells.iter().min().unwrap();
            assert_eq!(last, COLUMNS - length, "length {length}");
        }
    }

    #[test]
    fn a_full_arena_refuses_and_recovers() {
        let arena = private();
        let all: Vec<_> = (0..SEGMENTS).map(|_| arena.claim(COLUMNS).unwrap()).collect();
        assert_eq!(arena.claim(1), None);
        assert_eq!(arena.claim(65), None);
        // SAFETY: claimed above, used no more.
        unsafe { arena.give_back(all[SEGMENTS / 2], COLUMNS) };
        let (long, short) = (arena.claim(65).unwrap(), arena.claim(1).unwrap());
        assert_ne!(long, short);
        assert_eq!(arena.claim(COLUMNS), None);
    }

    #[test]
    fn a_run_of_none_or_of_too_many_is_refused() {
        assert_eq!(private().claim(0), None);
        assert_eq!(private().claim(COLUMNS + 1), None);
    }

    #[test]
    fn threads_that_claim_and_give_back_never_share_a_column() {
        let arena = private();
        std::thread::scope(|scope| {
            for thread in 1..=4 {
                let arena = &arena;
                scope.spawn(move || {
                    for round in 0..2_000 {
                        let length = [1, 5, 8, 64, 130][(round + thread) % 5];
                        let column = arena.claim(length).unwrap();
                        for distance in 0..length {
                            let cell = column.right(distance).cell(0);
                            assert_eq!(cell.swap(thread as u64, Ordering::Relaxed), 0);
                        }
                        for distance in 0..length {
                            let cell = column.right(distance).cell(0);
                            assert_eq!(cell.load(Ordering::Relaxed), thread as u64);
                        }
                        // SAFETY: claimed above, used no more.
                        unsafe { arena.give_back(column, length) };
                    }
                });
            }
        });
    }
}

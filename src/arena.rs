//! The process's arena: which columns are taken.
//!
//! Columns come in segments. A segment is one mapping: a bitmap, then the rows.
//!
//! ```text
//!   segment: [ bitmap | row 0: COLUMNS cells | row 1 | ... ]      a bit is set: the column is taken
//! ```
//!
//! A segment is mapped when the ones before it are full, and stays for ever. Claiming and freeing are
//! lock-free: a compare-exchange on one word of the bitmap (on each of several, for a run longer than
//! a word). One pass over the bitmaps finds room, maps a segment, or gives up. Giving up is no error:
//! a counter then counts in its fallback cell. A segment is mapped for one run, which is taken before
//! other threads can see the segment. So no claim adds more than one segment, and a run that does not
//! fit adds none.
//!
//! # A free column is all zeros
//!
//! While a column is owned its cells only grow: none is reset while a thread might be adding to it.
//! When a column is freed, its owner has the only reference left (`&mut self` in a `Drop`). Every add
//! to it has happened before, so zeroing it races with no thread. The next owner has no old sum to
//! remember, which it could not publish together with the column in one atomic step.

use std::ptr::{NonNull, null_mut};

use crate::memory::column::{COLUMNS, Column};
use crate::memory::pages::{PAGE, Pages};
use crate::stripe;
use crate::sync::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, alike, const_fn, global, sized};

pub(crate) mod by_row;
pub(crate) mod rows;

/// How many segments there can be: eight million columns.
const SEGMENTS: usize = sized(1024, 1);
/// How many columns one word of the bitmap stands for.
const WORD: usize = sized(64, 8);
/// How many words the bitmap of a segment has.
const WORDS: usize = COLUMNS / WORD;
/// Where row 0 begins: behind the bitmap, on a page of its own.
const ROWS_AT: usize = WORDS.next_multiple_of(PAGE);
/// A cache line of cells. A run begins at a multiple of this, or of its length's next power of two if that is
/// less: so a window's events touch as few lines as possible.
const LINE: usize = 8;

global! {
    /// The arena of this process.
    pub(crate) fn arena() -> Arena = Arena::new();
}

/// Segments of columns.
#[derive(Debug)]
pub(crate) struct Arena {
    /// Each segment's first cell. They are filled in order.
    segments: [AtomicPtr<AtomicU64>; SEGMENTS],
    /// The segment that a claim tries first: it likely has room.
    hint: AtomicUsize,
}

impl Arena {
    const_fn! {
        const fn new() -> Arena {
            Arena { segments: alike![AtomicPtr::new(null_mut()); SEGMENTS], hint: AtomicUsize::new(0) }
        }
    }

    /// Claims `length` neighbouring columns; `None` if there is no room and no memory for more, or if
    /// a row has fewer.
    pub(crate) fn claim(&self, length: usize) -> Option<Column> {
        if length == 0 || length > COLUMNS {
            return None; // no segment has room, mapped or not
        }
        // Relaxed: a hint; a claim may begin at any segment.
        let hint = self.hint.load(Ordering::Relaxed);
        let from = |first: usize| self.mapped_from(first);
        let room = from(hint).chain(from(0).take(hint)).find_map(|(index, segment)| {
            self.hint.store(index, Ordering::Relaxed);
            segment.claim(length)
        });
        room.or_else(|| self.claim_new(length))
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

    /// Zeroes and frees what [`claim`](Self::claim) returned.
    ///
    /// # Safety
    /// `column` and `length` are those of one claim from this arena. Every other use of their cells
    /// happened before, and there will be none until they are claimed again.
    pub(crate) unsafe fn free(&self, column: Column, length: usize) {
        // Relaxed: no other thread reads them until `clear_bits` publishes them.
        (0..length).for_each(|distance| rows::reset(column.right(distance), Ordering::Relaxed));
        let owner = self.mapped_from(0).find(|(_, segment)| segment.holds(column));
        if let Some((index, segment)) = owner {
            segment.free(column, length);
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

    /// Maps the segment numbered `index`, with a run of `length` already claimed, unless another thread
    /// has mapped it.
    fn map(&self, index: usize, length: usize) -> Option<Mapped> {
        let pages = Pages::map(ROWS_AT + stripe::mapped_rows() * COLUMNS)?;
        let segment = Segment { start: pages.start() };
        let first = segment.take(length)?;
        // Release: publishes the taken run and, in a model, the cells (the kernel's zeroes need no
        // publication). Acquire, on failure: what the winner has published.
        let place = &self.segments[index];
        let winner = place.compare_exchange(
            null_mut(),
            segment.start.as_ptr(),
            Ordering::Release,
            Ordering::Acquire,
        );
        match winner {
            Ok(_) => Some(Mapped::Ours(segment.column(first))), // it stays for ever
            Err(winner) => {
                pages.unmap();
                NonNull::new(winner).map(|start| Mapped::Theirs(Segment { start }))
            }
        }
    }
}

/// A segment that was not there before.
enum Mapped {
    /// This thread mapped it, and claimed a run in it.
    Ours(Column),
    /// Another thread was first.
    Theirs(Segment),
}

/// One mapping: a bitmap and the rows.
#[derive(Clone, Copy, Debug)]
struct Segment {
    start: NonNull<AtomicU64>,
}

impl Segment {
    /// A word of the bitmap.
    fn word(self, word: usize) -> &'static AtomicU64 {
        debug_assert!(word < WORDS);
        // SAFETY: a segment begins with its bitmap, and is never unmapped once others can see it.
        unsafe { self.start.add(word).as_ref() }
    }

    /// The column at `position` in row 0, of a segment that others can see.
    fn column(self, position: usize) -> Column {
        debug_assert!(position < COLUMNS);
        // SAFETY: `stripe::mapped_rows()` rows of `COLUMNS` cells each follow the bitmap. The segment is never
        // unmapped.
        unsafe { Column::new(self.start.add(ROWS_AT + position)) }
    }

    /// How far into row 0 `column` lies, if this is its segment.
    fn position(self, column: Column) -> Option<usize> {
        let first = self.column(0).first().as_ptr() as usize;
        let distance =
            (column.first().as_ptr() as usize).checked_sub(first)? / size_of::<AtomicU64>();
        (distance < COLUMNS).then_some(distance)
    }

    fn holds(self, column: Column) -> bool {
        self.position(column).is_some()
    }

    fn claim(self, length: usize) -> Option<Column> {
        self.take(length).map(|first| self.column(first))
    }

    /// Takes a run of 1 to `COLUMNS` columns, and returns its position; `None` if there is no room.
    fn take(self, length: usize) -> Option<usize> {
        if length <= WORD {
            (0..WORDS).find_map(|word| self.claim_within(word, length))
        } else {
            self.claim_words(length.div_ceil(WORD))
        }
    }

    /// Claims a run within one word of the bitmap.
    fn claim_within(self, word: usize, length: usize) -> Option<usize> {
        let bitmap = self.word(word);
        let mut taken = bitmap.load(Ordering::Relaxed);
        loop {
            let bit = room(taken, length)?;
            // Acquire: pairs with the Release in `clear_bits`; the cells are seen as zero. On
            // failure, Relaxed: the bits are only tested.
            match bitmap.compare_exchange(
                taken,
                taken | mask(bit, length),
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Some(word * WORD + bit),
                Err(now) => taken = now,
            }
        }
    }

    /// Claims a run of whole words. Frees those it has taken when it meets a word that is not free.
    fn claim_words(self, words: usize) -> Option<usize> {
        let mut first = 0;
        while first + words <= WORDS {
            match (first..first + words).find(|word| !self.claim_word(*word)) {
                None => return Some(first * WORD),
                Some(taken) => {
                    (first..taken).for_each(|word| self.clear_bits(word, mask(0, WORD)));
                    first = taken + 1;
                }
            }
        }
        None
    }

    /// Claims a whole word; false if any of it is taken.
    fn claim_word(self, word: usize) -> bool {
        // Acquire: as in `claim_within`.
        let (order, failed) = (Ordering::Acquire, Ordering::Relaxed);
        self.word(word).compare_exchange(0, mask(0, WORD), order, failed).is_ok()
    }

    fn free(self, column: Column, length: usize) {
        let Some(position) = self.position(column) else {
            return;
        };
        let (word, bit) = (position / WORD, position % WORD);
        if length <= WORD {
            self.clear_bits(word, mask(bit, length));
        } else {
            (word..word + length.div_ceil(WORD))
                .for_each(|word| self.clear_bits(word, mask(0, WORD)));
        }
    }

    fn clear_bits(self, word: usize, bits: u64) {
        // Release: pairs with the Acquire in `claim_within` and `claim_word`, which find the cells zeroed.
        self.word(word).fetch_and(!bits, Ordering::Release);
    }
}

/// The bits of a run.
const fn mask(bit: usize, length: usize) -> u64 {
    (u64::MAX >> (64 - length)) << bit
}

/// The first bit in a word of the bitmap with room for a run.
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

    /// An arena that only its test claims from.
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
        stripe::open::open(stripe::first_rows() - 1);
        stripe::open::open(stripe::mapped_rows() - 1);
        for row in 0..stripe::mapped_rows() {
            column.right(1).cell(row).store(7, Ordering::Relaxed);
        }
        // SAFETY: claimed above, used no more.
        unsafe { arena.free(column, 3) };
        let second = arena.claim(3).unwrap();
        assert_eq!(second, column);
        assert_eq!(rows::sum(second.right(1)), 0);
    }

    #[test]
    fn what_is_given_back_is_claimed_again_wherever_it_was() {
        let arena = private();
        for length in [1, 3, 8, 64, 130] {
            let all: Vec<_> = (0..40).map(|_| arena.claim(length).unwrap()).collect();
            let last = all[39];
            // SAFETY: claimed above, used no more.
            unsafe { arena.free(last, length) };
            assert_eq!(arena.claim(length), Some(last), "length {length}");
        }
    }

    #[test]
    fn runs_fill_a_segment() {
        for length in [1, 8, 64, 128] {
            let arena = private();
            let cells: Vec<_> = (0..COLUMNS / length)
                .map(|_| {
                    arena.claim(length).unwrap().first().as_ptr() as usize / size_of::<AtomicU64>()
                })
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
        unsafe { arena.free(all[SEGMENTS / 2], COLUMNS) };
        let (long, short) = (arena.claim(65).unwrap(), arena.claim(1).unwrap());
        assert_ne!(long, short);
        assert_eq!(arena.claim(COLUMNS), None);
    }

    #[test]
    fn a_run_of_none_or_of_too_many_is_refused_and_maps_nothing() {
        for length in [0, COLUMNS + 1, 2 * COLUMNS, usize::MAX] {
            let arena = private();
            assert_eq!(arena.claim(length), None);
            assert_eq!(arena.mapped_from(0).count(), 0, "length {length}");
        }
    }

    #[test]
    fn long_runs_map_a_segment_each_and_no_more() {
        const LONG: usize = COLUMNS / 2 + 1; // two do not fit
        let arena = private();
        for claimed in 1..=3 {
            assert!(arena.claim(LONG).is_some());
            assert_eq!(arena.mapped_from(0).count(), claimed);
        }
        std::thread::scope(|scope| {
            (0..8).for_each(|_| _ = scope.spawn(|| assert!(arena.claim(LONG).is_some())));
        });
        assert_eq!(arena.mapped_from(0).count(), 11, "threads race for them");
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
                        unsafe { arena.free(column, length) };
                    }
                });
            }
        });
    }
}

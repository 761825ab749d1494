//! A segment: a bitmap that says which columns are taken, and the rows.

use std::ops::Range;
use std::ptr::NonNull;

use super::refusal::Refusal;
use crate::memory::column::{COLUMNS, Column};
use crate::memory::pages::PAGE;
use crate::stripe::{self, shard_choice::spread};
use crate::sync::{AtomicU64, Ordering, sized};

/// The number of columns in one word of the bitmap.
const WORD: usize = sized(64, 8);
/// The number of words in the bitmap of a segment.
const WORDS: usize = COLUMNS / WORD;
/// The offset of the cells for a group, after the bitmap, and their number. The first segment of a
/// group has there what the group knows.
pub(super) const GROUP_AT: usize = WORDS;
pub(super) const GROUP_CELLS: usize = sized(192, 5);
/// The offset of row 0: on a page of its own.
const ROWS_AT: usize = (GROUP_AT + GROUP_CELLS).next_multiple_of(PAGE);
/// A cache line of cells. A run begins at a multiple of this, or of its length's next power of two
/// if that is less, so that a window's events touch as few lines as possible.
pub(super) const LINE: usize = 8;

/// True if a claim of whole words looks before it takes. Not in models, because under loom a load
/// by the same thread would hide a race.
const LOOK: bool = sized(1, 0) == 1;

#[cfg(all(test, not(any(loom, shuttle))))]
std::thread_local! {
    /// The number of times that this thread has looked at a bitmap.
    pub(super) static LOOKS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// The number of segments that this thread has asked for a run.
    pub(super) static ASKED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// One mapping: a bitmap and the rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) start: NonNull<AtomicU64>,
    pub(super) refusal: Refusal,
    /// The runs that all segments of its group have refused.
    pub(super) of_group: Refusal,
}

impl Segment {
    /// The distance from the beginning of a segment to the end of row 0, in bytes.
    pub(super) const REACH: usize = (ROWS_AT + COLUMNS) * size_of::<AtomicU64>();

    /// Returns the number of cells to map for a segment.
    pub(super) fn cells() -> usize {
        ROWS_AT + stripe::mapped_rows() * COLUMNS
    }

    /// Returns a word of the bitmap.
    fn word(self, word: usize) -> &'static AtomicU64 {
        debug_assert!(word < WORDS);
        #[cfg(all(test, not(any(loom, shuttle))))]
        LOOKS.with(|looks| looks.set(looks.get() + 1));
        // SAFETY: a segment begins with its bitmap, and is never unmapped once others can see it.
        unsafe { self.start.add(word).as_ref() }
    }

    /// Returns the column at `position` in row 0, of a segment that others can see.
    pub(super) fn column(self, position: usize) -> Column {
        debug_assert!(position < COLUMNS);
        // SAFETY: `stripe::mapped_rows()` rows of `COLUMNS` cells each follow the bitmap. The
        // segment is never unmapped.
        unsafe { Column::new(self.start.add(ROWS_AT + position)) }
    }

    /// Returns the position of `column` in row 0, if this is its segment.
    fn position(self, column: Column) -> Option<usize> {
        let first = self.column(0).first().as_ptr() as usize;
        let distance =
            (column.first().as_ptr() as usize).checked_sub(first)? / size_of::<AtomicU64>();
        (distance < COLUMNS).then_some(distance)
    }

    pub(super) fn holds(self, column: Column) -> bool {
        self.position(column).is_some()
    }

    /// Claims a run of 1 to `COLUMNS` columns. Looks at no bitmap if a run of that length, or a
    /// shorter one, was refused since a column was freed.
    #[inline(never)]
    pub(super) fn claim(self, length: usize) -> Option<Column> {
        #[cfg(all(test, not(any(loom, shuttle))))]
        ASKED.with(|asked| asked.set(asked.get() + 1));
        let seen = self.refusal.look();
        if seen.refuses(length) {
            return None;
        }
        let first = self.take(length);
        if first.is_none() {
            self.refusal.remember(seen, length);
        }
        first.map(|first| self.column(first))
    }

    /// Takes a run of 1 to `COLUMNS` columns, and returns its position; `None` if there is no such
    /// run.
    #[inline(never)]
    pub(super) fn take(self, length: usize) -> Option<usize> {
        if length > WORD {
            return self.claim_words(length.div_ceil(WORD));
        }
        // For a counter each core begins at another word: so what threads on two cores make, use
        // and drop has no line in common.
        let first = if length == 1 { spread() % WORDS } else { 0 };
        (0..WORDS).find_map(|word| self.claim_within((first + word) % WORDS, length))
    }

    /// Claims a run within one word of the bitmap.
    #[inline(never)]
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

    /// Claims a run of whole words.
    fn claim_words(self, words: usize) -> Option<usize> {
        // Relaxed: a look first, so that no word is taken in vain.
        let is_taken = |word: &usize| LOOK && self.word(*word).load(Ordering::Relaxed) != 0;
        let mut first = 0;
        while first + words <= WORDS {
            let run = first..first + words;
            match run.clone().find(is_taken).or_else(|| self.take_words(run)) {
                None => return Some(first * WORD),
                Some(taken) => first = taken + 1,
            }
        }
        None
    }

    /// Takes whole words. If another thread has one of them, gives back those before it, and
    /// returns it.
    fn take_words(self, words: Range<usize>) -> Option<usize> {
        // Acquire: as in `claim_within`.
        let (order, failed) = (Ordering::Acquire, Ordering::Relaxed);
        let take = |word: &usize| {
            self.word(*word).compare_exchange(0, mask(0, WORD), order, failed).is_err()
        };
        let theirs = words.clone().find(take)?;
        (words.start..theirs).for_each(|word| self.clear_bits(word, mask(0, WORD)));
        self.forget(); // other threads have met these words taken
        Some(theirs)
    }

    pub(super) fn free(self, column: Column, length: usize) {
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
        self.forget();
    }

    /// Forgets what was refused here and in the group, in this order: a claim that finds that the
    /// group has forgotten finds that the segment has.
    fn forget(self) {
        self.refusal.forget();
        self.of_group.forget();
    }

    /// Returns the number of claimed columns.
    pub(super) fn claimed(self) -> usize {
        // Relaxed: the number is for people.
        let words = (0..WORDS).map(|word| self.word(word).load(Ordering::Relaxed).count_ones());
        words.sum::<u32>() as usize
    }

    fn clear_bits(self, word: usize, bits: u64) {
        // Release: pairs with the Acquire in `claim_within` and `take_words`, which find the cells
        // zeroed.
        self.word(word).fetch_and(!bits, Ordering::Release);
    }
}

/// Returns the bits of a run.
const fn mask(bit: usize, length: usize) -> u64 {
    (u64::MAX >> (64 - length)) << bit
}

/// Returns the first bit of a free run in a word of the bitmap.
fn room(taken: u64, length: usize) -> Option<usize> {
    if taken == mask(0, WORD) {
        return None; // the usual case in a full segment
    }
    let step = length.next_power_of_two().min(LINE);
    (0..=WORD - length).step_by(step).find(|bit| taken & mask(*bit, length) == 0)
}

//! A gate's rations: one in each row, in two neighbouring columns.
//!
//! What is done to a row's ration is in [`take`]. Here is where they stand: columns of their own,
//! from when the gate is made until it is dropped. If the arena is full there are none, and the
//! gate is asked each time.

use crate::arena::{arena, rows};
use crate::memory::column::Column;
use crate::stripe::ration::{Ration, Untaken};
use crate::stripe::{self, TaggedColumn, take};
use crate::sync::AtomicU64;

/// The last nanosecond, and how much is left.
const COLUMNS: usize = 2;

/// A ration in each row.
pub(super) struct Rations {
    /// A [`TaggedColumn`], encoded: the first of the two.
    word: *mut AtomicU64,
}

// SAFETY: it is an address of cells, which are atomics that live for ever.
unsafe impl Send for Rations {}
// SAFETY: as above.
unsafe impl Sync for Rations {}

impl Rations {
    /// Columns in which each row has nothing.
    pub(super) fn new() -> Rations {
        let strategy = stripe::strategy();
        Rations { word: TaggedColumn::encode(arena().claim(COLUMNS), strategy) }
    }

    /// Takes `n` of this thread's ration at `now`.
    #[inline(always)]
    #[allow(clippy::inline_always)] // no call on the path of a grant
    pub(super) fn take(&self, now: u64, n: u64) -> Result<(), Untaken> {
        // SAFETY: `new` has encoded it, and has claimed two columns.
        unsafe { take::take(self.word, now, n) }
    }

    /// The same, where rows are told apart by the processor's number.
    pub(super) fn take_by_processor(&self, now: u64, n: u64) -> Result<(), Untaken> {
        take::take_by_processor(self.word, now, n)
    }

    /// Puts a ration in the place of this thread's, and returns that; `None`, and nothing is put,
    /// if the thread can use no row.
    pub(super) fn swap(&self, new: Ration) -> Option<Ration> {
        // SAFETY: as in `take`.
        unsafe { take::swap(self.word, new) }
    }

    /// What is left in all rows together, of whichever buckets.
    pub(super) fn left(&self) -> u64 {
        self.column().map_or(0, |column| rows::sum(column.right(1)))
    }

    /// Whether there are any.
    pub(super) fn are_there(&self) -> bool {
        self.column().is_some()
    }

    fn column(&self) -> Option<Column> {
        // SAFETY: as in `take`.
        unsafe { TaggedColumn::decode(self.word) }.column()
    }
}

impl Drop for Rations {
    fn drop(&mut self) {
        if let Some(column) = self.column() {
            // SAFETY: `&mut self`: every use happened before, and no thread can reach the columns
            // now.
            unsafe { arena().free(column, COLUMNS) };
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    /// Other tests claim columns at the same time.
    #[test]
    fn columns_are_given_back() {
        let mut again = (0..1_000).map(|_| {
            let first = Rations::new().word;
            Rations::new().word == first
        });
        assert!(again.any(|is_same| is_same));
    }
}

//! Open rows: those that adds may go to. A read visits these and no others.
//!
//! There are as many rows as the machine has cores, and few processes use them all. The first row is open from
//! the beginning. Each other one is opened, with those before it, by a thread that is about to add to it for the
//! first time. None is closed again.
//!
//! # Theorem
//!
//! Let an add to a row happen before a read begins. Then the read visits that row.
//!
//! # Why
//!
//! The number of open rows (times [`STEP`]) is one word of the process, and only rises. Before an add its thread has found
//! the word above the row's number. Per core, the sequence compares with the word itself, so that it cannot commit to a
//! row that is not open, whichever thread opened it. Portably, the thread has raised the word before it kept its row.
//! A later look at a word finds what an earlier one has found, or what came after it (*coherence*): whatever order
//! leads from the add to the read leads from the one look to the other. So Relaxed is enough for both.
//!
//! # The rule, and what it gives
//!
//! Each scan loads the word itself, behind what it loads to learn what it must include, and before the rows. (A number that is
//! remembered breaks this.) Then, wherever "each row" was said, "each open row" will do:
//!
//! * A drain that has loaded the baseline of the drain before visits each row that the other has visited, and maybe more:
//!   its answer is not negative. A second sum does not go back.
//! * A mark, a base, a note and a total were read from rows that were open. Whoever finds them published then loads
//!   the word, and visits those rows. So a difference of a block's sum never lacks a row that is in what is taken off.
//! * A closer loads the word when the bucket is quiescent. Per core, a barrier has passed: the sequences that have
//!   committed before it had loaded the word, and what one processor has loaded on x86-64, all see. A sequence that
//!   the barrier has restarted loads `current` again. Portably, a grace period has passed, and hands on what its threads did.
//! * In a row that is not open every column is all zeros. So whoever frees a column resets open rows alone: all
//!   adds to the column happened before.
//!
//! A row that is opened during a read may be left out by it. So may any add that is made during a read.
//!
//! What is asked for as `SeqCst` needs a fence besides. A reader behind a `SeqCst` fence of its own, which must see an add by the
//! order of these operations alone, must see the word too: behind the fence in [`open`], or per core behind the one that
//! follows such an add (`counters::striped`), which comes after the sequence's look.

use super::per_core::{self, STEP};
use crate::sync::{Ordering, fence};

/// How many rows are open: at least one, and no more than [`rows`](super::rows).
#[inline]
pub(crate) fn open_rows() -> usize {
    per_core::open_rows().load(Ordering::Relaxed) / STEP // by coherence: see above
}

/// Opens `row`, which is there, and those before it. Async-signal-safe.
#[cold]
pub(crate) fn open(row: usize) {
    debug_assert!(row < super::rows());
    per_core::open_rows().fetch_max((row + 1) * STEP, Ordering::Relaxed);
    // Pairs with the fence of a reader that asks for SeqCst.
    fence(Ordering::SeqCst);
}

/// Opens the row that this thread would add to per core now; false if there is none: the thread is not registered, or
/// its row's number is beyond all rows. Afterwards it may have another row, which is not open: a sequence says so.
#[cold]
pub(super) fn open_mine() -> bool {
    per_core::row().filter(|row| *row < super::rows()).map(open).is_some()
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::stripe;

    #[test]
    fn rows_open_and_stay_open() {
        stripe::strategy();
        assert!((1..=stripe::rows()).contains(&open_rows()));
        let last = stripe::rows() - 1;
        open(last);
        assert_eq!(open_rows(), stripe::rows());
        open(0);
        assert_eq!(open_rows(), stripe::rows());
    }
}

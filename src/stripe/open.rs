//! Open rows: those that adds may go to. A read visits these and no others.
//!
//! There are as many rows as the machine has cores, or more, and few processes use them all. Rows
//! stand in two banks: the *first*, where one thread at a time writes each row, or one core's
//! threads; and, where threads lease rows, the *second*, whose rows threads share (see
//! [`portable`](super::portable)). The first row is open from the beginning. Each other one is
//! opened, with those before it in its bank, by a thread that is about to add to it for the first
//! time. None is closed again.
//!
//! # Theorem
//!
//! Let an add to a row happen before a read begins. Then the read visits that row.
//!
//! # Why
//!
//! The numbers of open rows are one word of the process: the lower half is the first bank's, the
//! upper half the second's. Each write of it raises one half and keeps the other, so each half only
//! rises. Before an add its thread has found its bank's half above the row's place there. Per core,
//! the sequence compares with the lower half itself, so that it cannot commit to a row that is not
//! open, whichever thread opened it. Portably, the thread has raised the half before it kept its
//! row. A later look at a word finds what an earlier one has found, or what came after it
//! (*coherence*): whatever order leads from the add to the read leads from the one look to the
//! other. So Relaxed is enough for both. (That is why it is one word: a read that needs both halves
//! takes one load.)
//!
//! # The rule, and what it gives
//!
//! Each scan loads the word itself, behind what it loads to learn what it must include, and before
//! the rows. (A number that is remembered breaks this.) Then, wherever "each row" was said, "each
//! open row" will do:
//!
//! * A drain that has loaded the baseline of the drain before visits each row that the other has
//!   visited, and maybe more: its answer is not negative. A second sum does not go back.
//! * A mark, a base, a note and a total were read from rows that were open. Whoever finds them
//!   published then loads the word, and visits those rows. So a difference of a block's sum never
//!   lacks a row that is in what is taken off.
//! * A closer loads the word when the bucket is quiescent. Per core, a barrier has passed: the
//!   sequences that have committed before it had loaded the word, and what one processor has loaded
//!   on x86-64, all see. A sequence that the barrier has restarted loads `current` again. Portably,
//!   the look has found (Acquire) that no thread announces the bucket, or by epochs a grace period
//!   has passed: either hands on what the threads did.
//! * In a row that is not open every column is all zeros. So whoever frees a column resets open
//!   rows alone: all adds to the column happened before.
//!
//! A row that is opened during a read may be left out by it. So may any add that is made during a
//! read.
//!
//! What is asked for as `SeqCst` needs a fence besides. A reader behind a `SeqCst` fence of its
//! own, which must see an add by the order of these operations alone, must see the word too: behind
//! the fence in [`open`], or per core behind the one that follows such an add
//! (`counters::striped`), which comes after the sequence's look.

use super::per_core;
use crate::sync::{Ordering, fence};

/// How many bits of the word are the first bank's.
const HALF: u32 = usize::BITS / 2;

/// How many rows of each bank are open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenRows {
    /// At least one.
    pub(crate) first: usize,
    /// None where threads lease no rows.
    pub(crate) second: usize,
}

/// How many rows are open.
#[inline]
pub(crate) fn open_rows() -> OpenRows {
    let word = per_core::open_rows().load(Ordering::Relaxed); // by coherence: see above
    OpenRows { first: word & ((1 << HALF) - 1), second: word >> HALF }
}

/// Opens `row`, which is there, and those before it in its bank. Async-signal-safe.
#[cold]
pub(crate) fn open(row: usize) {
    debug_assert!(row < super::mapped_rows());
    let first = super::first_rows();
    // What the bank's half must be, and how far up it stands.
    let (count, shift) = if row < first { (row + 1, 0) } else { (row + 1 - first, HALF) };
    let half = ((1 << HALF) - 1) << shift;
    let raised = |word: usize| {
        ((word & half) < (count << shift)).then_some((word & !half) | (count << shift))
    };
    // Relaxed: by coherence.
    let _ = per_core::open_rows().fetch_update(Ordering::Relaxed, Ordering::Relaxed, raised);
    // Pairs with the fence of a reader that asks for SeqCst.
    fence(Ordering::SeqCst);
}

/// Opens the row that this thread would add to per core now; false if there is none: the thread is
/// not registered, or its row's number is beyond all rows. Afterwards it may have another row,
/// which is not open: a sequence says so.
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
        let all = stripe::first_rows();
        assert!((1..=all).contains(&open_rows().first));
        open(all - 1);
        assert_eq!(open_rows().first, all);
        open(0);
        assert_eq!(open_rows().first, all);
    }

    #[test]
    fn rows_of_the_second_bank_open_beside_those_of_the_first() {
        stripe::strategy();
        if stripe::leases() {
            open(stripe::mapped_rows() - 1);
            assert_eq!(open_rows().second, stripe::rows());
            open(stripe::first_rows() - 1);
            let both = (stripe::first_rows(), stripe::rows());
            assert_eq!((open_rows().first, open_rows().second), both);
        }
    }
}

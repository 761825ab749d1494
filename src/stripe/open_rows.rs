//! Open rows: those to which adds may go. A read visits only these.
//!
//! There is at least one row for each core, and few processes use them all. Rows are in two banks:
//! the *first*, where one thread at a time writes each row, or one core's threads; and the
//! *second*, whose rows threads share: where threads lease rows (see
//! [`portable`](super::portable)), or cores have none of their own.
//! The first row is open from the beginning. Each other one is opened, with those before it in its
//! bank, by a thread that is about to add to it for the first time. None is closed again.
//!
//! # Theorem
//!
//! If an add to a row happens before a read begins, the read visits that row.
//!
//! # Why
//!
//! The numbers of open rows are one word of the process: the lower half is the first bank's, the
//! upper half the second's. Each write of it raises one half and keeps the other, so each half only
//! rises. Before an add its thread has found its bank's half above the row's place there. Per core,
//! the sequence compares with the lower half itself; or with the number of a row that its thread
//! has found open before. So it cannot commit to a row that is not open, whichever thread opened
//! it. Portably, the thread has raised the half before it kept its row. On a core without a row, it
//! has looked at the second half just before. A later look at a word finds the value that an
//! earlier one has found, or one that came after it (*coherence*); and the order that leads from
//! the add to the read also leads from the one look to the other. So Relaxed is enough for both.
//! (It is a single word so that a read that needs both halves takes one load.)
//!
//! # The rule, and its consequences
//!
//! Each scan loads the word itself, after the loads that determine which adds it must include, and
//! before the rows (but row 0, which is always open). (A remembered number breaks this.) Then every
//! argument about "each row" holds for "each open row":
//!
//! * A drain that has loaded the baseline of the drain before visits each row that the other has
//!   visited, and maybe more, so its result is not negative. A second sum does not go back.
//! * A prefix, a base and a total were read from rows that were open. A thread that finds
//!   them published then loads the word, and visits those rows. So if one is subtracted from a
//!   block's sum, that sum includes each of its rows.
//! * A closer loads the word when the bucket is quiescent. Per core, a barrier has passed: the
//!   sequences that have committed before it had loaded the word, and on x86-64 and arm64 a value
//!   that one processor has loaded is visible to all. A sequence that the barrier has restarted
//!   loads `current` again. Portably, the look has found (Acquire) that no thread announces the
//!   bucket, or by epochs a grace period has passed: after either, everything that the threads did
//!   is visible.
//! * In a row that is not open every column is all zeros. So a thread that frees a column resets
//!   only open rows: all adds to the column happened before.
//!
//! A row that is opened during a read may be left out by it. So may any add that is made during a
//! read.
//!
//! Operations with `SeqCst` also need a fence. A reader that comes after a `SeqCst` fence of its
//! own, and must see an add by the order of these operations alone, must see the word too: by the
//! fence in [`open`], or per core by the fence that follows such an add (`column_write`), which
//! comes after the sequence's look, or the look at the second half.

use super::banks::{first_rows, mapped_rows, rows, second_rows};
use super::per_core;
use crate::sync::{Ordering, fence};

/// The number of bits of the word for the first bank.
const HALF: u32 = usize::BITS / 2;

/// The number of open rows of each bank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenRows {
    /// At least one.
    pub(crate) first: usize,
    /// Zero if threads lease no rows, and none has added on a core without a row.
    pub(crate) second: usize,
}

/// Returns the numbers of open rows.
#[inline]
pub(crate) fn open_rows() -> OpenRows {
    let word = per_core::open_rows().load(Ordering::Relaxed); // by coherence: see above
    OpenRows { first: word & ((1 << HALF) - 1), second: word >> HALF }
}

/// Opens `row`, which must exist, and those before it in its bank. Async-signal-safe.
#[cold]
pub(crate) fn open(row: usize) {
    debug_assert!(row < mapped_rows());
    let first = first_rows();
    // The new value of the bank's half, and its shift.
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

/// Opens the row to which this thread would add per core at present. Returns false if there is no
/// such row: the thread is not registered, or its row's number is beyond all rows. Afterwards the
/// thread may have another row, which is not open: the sequence checks that.
#[cold]
pub(super) fn open_mine() -> bool {
    per_core::row().filter(|row| *row < rows()).map(open).is_some()
}

/// Returns the row that this thread's core shares with others, if that is open; `None` if the core
/// has a row of its own, or there is no such row. Afterwards the thread may be on another core: any
/// thread may add to a shared row, by locked instructions.
#[inline]
pub(super) fn shared_row() -> Option<usize> {
    let place = shared_place()?;
    (place < open_rows().second).then(|| first_rows() + place)
}

/// Returns the row of [`shared_row`], and opens it first.
#[cold]
pub(super) fn open_shared_row() -> Option<usize> {
    let row = first_rows() + shared_place()?;
    open(row);
    Some(row)
}

/// Returns the place in the second bank of a thread that is registered and has no row of its own.
#[inline]
fn shared_place() -> Option<usize> {
    let beyond = per_core::row()?.checked_sub(rows())?;
    let there = second_rows();
    // (A division would take as long as the add.)
    if beyond < there { Some(beyond) } else { beyond.checked_rem(there) }
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

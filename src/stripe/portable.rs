//! The portable strategy: a thread keeps to one row, and adds by an atomic read-modify-write.
//!
//! Threads are dealt rows in turn, at their first add. Two threads that share a row lose no count; they
//! are only slower. With no more threads than cores, threads share a row only after others have come and
//! gone. A row is open before its thread has it. The index is a thread-local without a destructor, so that an add works at any moment of a
//! thread's life.

use super::open::open;
use super::rows;
use crate::memory::column::Column;
use crate::sync::{AtomicU64, AtomicUsize, Ordering, global, thread_number};

thread_number! {
    /// The offset of the thread's row; `usize::MAX` until it has a row.
    ROW
}

global! {
    /// How many rows were dealt.
    fn dealt() -> AtomicUsize = AtomicUsize::new(0);
}

/// The offset of this thread's row, if it has one.
#[inline]
fn offset() -> Option<usize> {
    Some(ROW.with(std::cell::Cell::get)).filter(|offset| *offset != usize::MAX)
}

/// Deals this thread a row.
fn deal() {
    // Relaxed: only the number matters.
    let row = dealt().fetch_add(1, Ordering::Relaxed) % rows();
    open(row); // before the thread has it: a signal handler may add in between
    ROW.with(|mine| mine.set(Column::offset(row)));
}

/// Adds `n`, wrapping, in this thread's row, to the column `distance` places to the right of
/// `column`. `order` is at least Release.
///
/// (The distance is an argument so that it becomes a part of the one instruction's address.)
#[inline]
pub(crate) fn add(column: Column, distance: usize, n: u64, order: Ordering) {
    match offset() {
        // Release: pairs with the Acquire in `rows::values`. A reader that counts this add sees what its
        // thread had seen before: a drain of the same counter, or the opening of a bucket.
        Some(offset) => _ = column.right(distance).cell_at(offset).fetch_add(n, order),
        None => add_first(column, distance, n, order),
    }
}

/// Raises the same column in this thread's row to `value`, unless it is there already.
#[inline]
pub(crate) fn raise(column: Column, distance: usize, value: u64) {
    match offset() {
        Some(offset) => raise_cell(column.right(distance).cell_at(offset), value),
        None => raise_first(column, distance, value),
    }
}

#[cold]
fn add_first(column: Column, distance: usize, n: u64, order: Ordering) {
    deal();
    add(column, distance, n, order);
}

#[cold]
fn raise_first(column: Column, distance: usize, value: u64) {
    deal();
    raise(column, distance, value);
}

/// Raises a cell to `value`. A cell that is high enough is only read.
#[inline]
pub(crate) fn raise_cell(cell: &AtomicU64, value: u64) {
    // Relaxed: a cell in use only rises. So a reader that comes after this record, by any
    // synchronisation, sees what was seen here or more (read-read coherence).
    if cell.load(Ordering::Relaxed) < value {
        // Release: pairs with the Acquire in `rows::values`, as an add does.
        cell.fetch_max(value, Ordering::Release);
    }
}

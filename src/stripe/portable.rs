//! The portable strategy: a thread keeps to one row, and adds by an atomic read-modify-write.
//!
//! Threads are dealt rows in turn, at their first add. Two threads that share a row lose no count,
//! they are only slower; with no more threads than cores it happens only after others have come
//! and gone. The index is a thread-local without a destructor, so that an add works in any moment
//! of a thread's life.

use super::rows;
use crate::column::Column;
use crate::pages::Cell;
use crate::sync::{AtomicUsize, Ordering, global, thread_number};

thread_number! {
    /// The offset of the thread's row, plus one; zero until it has a row.
    ROW
}

global! {
    /// How many rows were dealt.
    fn dealt() -> AtomicUsize = AtomicUsize::new(0);
}

/// The offset of this thread's row.
#[inline]
fn offset() -> usize {
    match ROW.with(std::cell::Cell::get) {
        0 => deal(),
        offset => offset - 1,
    }
}

#[cold]
fn deal() -> usize {
    // Relaxed: only the number matters.
    let row = dealt().fetch_add(1, Ordering::Relaxed) % rows();
    let offset = Column::offset(row);
    ROW.with(|mine| mine.set(offset + 1));
    offset
}

/// Adds `n`, wrapping, to `column` in this thread's row. `order` is at least Release.
#[inline]
pub(crate) fn add(column: Column, n: u64, order: Ordering) {
    // Release: pairs with the Acquire in `rows::scan`. Whoever counts this add sees what its
    // thread had seen before: a drain of the same counter, or the opening of a bucket.
    column.cell_at(offset()).fetch_add(n, order);
}

/// Raises `column` in this thread's row to `value`, unless it is there already.
#[inline]
pub(crate) fn raise(column: Column, value: u64) {
    raise_cell(column.cell_at(offset()), value);
}

/// Raises a cell to `value`. One that is high enough is only read.
#[inline]
pub(crate) fn raise_cell(cell: &Cell, value: u64) {
    // Relaxed: a cell in use only rises, so a reader whom the caller tells of this record, in
    // whatever way, sees what was seen here or more (read-read coherence).
    if cell.load(Ordering::Relaxed) < value {
        // Release: pairs with the Acquire in `rows::scan`, as an add does.
        cell.fetch_max(value, Ordering::Release);
    }
}

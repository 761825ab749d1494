//! Writing to a column, by the strategy in its word.
//!
//! All numbers on columns share one chain of tests: a counter's add, a maximum's raise, a cell of a
//! histogram.

use crate::address_dependency;
use crate::stripe::banks::LEASES_BY_DEFAULT;
use crate::stripe::column_word::TaggedColumn;
use crate::stripe::misses::{Miss, OnMiss};
use crate::stripe::open_rows::{open_shared_row, shared_row};
use crate::stripe::per_core::{self, Numbering, PerCoreColumn};
use crate::stripe::portable::{self, Dealt, Leased, Mine};
use crate::stripe::retries::retry_after;
use crate::sync::{AtomicU64, Ordering, fence};

/// An operation on a cell.
pub(crate) trait Put: Copy {
    /// Does it to this thread's own cell.
    fn in_leased(self, cell: Leased);
    /// Does it to a cell that threads share.
    fn in_dealt(self, cell: Dealt);
    /// Does it to a cell that any threads share: the one aside, or that of a row without a core.
    fn aside(self, cell: &AtomicU64);
    /// Does it to this core's cell, or calls `on_miss`.
    fn in_sequence<N: Numbering>(self, column: PerCoreColumn<N>, on_miss: impl OnMiss);
}

/// A number, in a column and in a cell aside.
///
/// # Safety
/// [`word`](Self::word) and [`claimed`](Self::claimed) are encoded [`TaggedColumn`]s.
pub(crate) unsafe trait Number: Copy {
    /// The column's word, which need not order more than the cells of the column
    /// ([`address_dependency`]).
    fn word(self) -> *mut AtomicU64;
    /// Claims a column, if there is none yet, and returns its word. There is still none if the
    /// arena is full or the strategy undecided. Acquire: what was written before the column was
    /// claimed is seen.
    fn claimed(self) -> *mut AtomicU64;
    /// The cell of all threads that cannot use a row.
    fn aside(&self) -> &AtomicU64;
}

/// Adds a number, wrapping. The order is at least Release.
#[derive(Clone, Copy)]
pub(crate) struct Add(pub(crate) u64, pub(crate) Ordering);

impl Put for Add {
    #[inline(always)]
    #[allow(clippy::inline_always)] // no call on the path of an add
    fn in_leased(self, cell: Leased) {
        cell.add(self.0, self.1);
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn in_dealt(self, cell: Dealt) {
        cell.add(0, self.0, self.1);
    }

    #[inline]
    fn aside(self, cell: &AtomicU64) {
        cell.fetch_add(self.0, self.1); // as in `portable::Dealt::add`
        if self.1 == Ordering::SeqCst {
            fence(Ordering::SeqCst); // behind the look at open rows: see `open_rows`
        }
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn in_sequence<N: Numbering>(self, column: PerCoreColumn<N>, on_miss: impl OnMiss) {
        // The committing store is Release, by the processor (x86-64) or by the instruction
        // (arm64). The `asm!` is a barrier to the compiler.
        per_core::add(column, self.0, on_miss);
        if self.1 == Ordering::SeqCst {
            fence(Ordering::SeqCst); // as the locked add would be
        }
    }
}

/// Raises a number to a value, if that is greater.
#[derive(Clone, Copy)]
pub(crate) struct Raise(pub(crate) u64);

impl Put for Raise {
    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn in_leased(self, cell: Leased) {
        cell.raise(self.0);
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn in_dealt(self, cell: Dealt) {
        cell.raise(0, self.0);
    }

    #[inline]
    fn aside(self, cell: &AtomicU64) {
        portable::raise_cell(cell, self.0);
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn in_sequence<N: Numbering>(self, column: PerCoreColumn<N>, on_miss: impl OnMiss) {
        per_core::raise(column, self.0, on_miss);
    }
}

/// Applies `what` to a number, in this thread's row; or aside, if the thread cannot use a row.
///
/// Only the common path of an add is inline; the rest is a call away. If all of it were inline, the
/// compiler would not inline a caller's small function that contains an add.
#[inline(always)]
#[allow(clippy::inline_always)] // as above
pub(crate) fn put<P: Put>(number: impl Number, what: P) {
    let word = number.word();
    if let Some(column) = per_core::in_line(word) {
        in_sequence(column, number, what);
    // SAFETY: the contract of `Number`.
    } else if let Some(cell) = unsafe { portable::leased(word) } {
        what.in_leased(cell);
    // SAFETY: of a `Number`, and it is not per core in line.
    } else if !LEASES_BY_DEFAULT && let Some(cell) = unsafe { portable::dealt(word) } {
        what.in_dealt(cell);
    } else {
        put_apart(number, what, word);
    }
}

/// Does the work of [`put`] for a word that is not per core in line.
///
/// (It is separate from the cases after it, because reading a thread's own word may be a call, for
/// which registers are saved.)
#[inline(never)]
fn put_apart<P: Put>(number: impl Number, what: P, word: *mut AtomicU64) {
    if let Some(column) = per_core::by_id(word) {
        in_sequence(column, number, what);
    } else if let Some(column) = per_core::by_processor(word) {
        in_sequence(column, number, what);
    } else {
        put_dealt(number, what, word);
    }
}

/// Does the work of [`put`] for a word that is not per core.
#[inline(never)]
fn put_dealt<P: Put>(number: impl Number, what: P, word: *mut AtomicU64) {
    // SAFETY: of a `Number`, and it is not per core.
    if let Some(cell) = unsafe { portable::dealt(word) } {
        what.in_dealt(cell);
    } else {
        put_first(number, what);
    }
}

/// Does the work of [`put`] if the number may have no column yet, or the thread no row: both get
/// one.
#[cold]
pub(super) fn put_first<P: Put>(number: impl Number, what: P) {
    let word = number.claimed();
    // SAFETY: the contract of `Number`; `any` is given a portable word.
    unsafe {
        match TaggedColumn::decode(word) {
            TaggedColumn::InLine(column) => in_sequence(column, number, what),
            TaggedColumn::ById(_) | TaggedColumn::ByProcessor(_) => put_apart(number, what, word),
            TaggedColumn::Portable(_) => match portable::any(word) {
                Mine::Leased(cell) => what.in_leased(cell),
                Mine::Dealt(cell) => what.in_dealt(cell),
            },
            TaggedColumn::Unavailable | TaggedColumn::Unclaimed => what.aside(number.aside()),
        }
    }
}

#[inline(always)]
#[allow(clippy::inline_always)] // as above
fn in_sequence<N: Numbering, P: Put>(column: PerCoreColumn<N>, number: impl Number, what: P) {
    what.in_sequence(column, Again { column, number, what });
}

/// Uses a row that cores share, or tries again, or uses the cell aside.
struct Again<N: Numbering, T, P> {
    column: PerCoreColumn<N>,
    number: T,
    what: P,
}

impl<N: Numbering, T: Number, P: Put> OnMiss for Again<N, T, P> {
    #[inline(always)]
    #[allow(clippy::inline_always)] // so that it is never in memory
    fn missed(self, why: Miss) {
        outside_sequence(self.number, self.what, self.column, why);
    }
}

/// Does the work of [`put`] after a miss. Threads on a core without a row of its own come here each
/// time, so it saves no register, as trying again does.
#[cold]
#[inline(never)]
fn outside_sequence<N: Numbering, P: Put>(
    number: impl Number,
    what: P,
    column: PerCoreColumn<N>,
    why: Miss,
) {
    address_dependency::acquire(); // behind the load of the column's word
    if why == Miss::NoRow
        && let Some(row) = shared_row()
    {
        return what.aside(column.column().cell(row));
    }
    in_sequence_again(number, what, column, why);
}

#[cold]
#[inline(never)]
fn in_sequence_again<N: Numbering, P: Put>(
    number: impl Number,
    what: P,
    column: PerCoreColumn<N>,
    why: Miss,
) {
    if let Some(why) = retry_after(why, &|missed| what.in_sequence(column, missed)) {
        let row = if why == Miss::NoRow { open_shared_row() } else { None };
        let column = column.column();
        what.aside(row.map_or(number.aside(), |row| column.cell(row)));
    }
}

//! Writing to a column, whichever strategy its word says.
//!
//! One chain of questions for all that stand on columns: a counter's add, a maximum's raise, a cell of a histogram.

use crate::stripe::TaggedColumn;
use crate::stripe::miss::Miss;
use crate::stripe::per_core::{self, Numbering, PerCoreColumn};
use crate::stripe::portable::{self, Dealt, Leased, Mine};
use crate::stripe::retry::retry_after;
use crate::sync::{AtomicU64, Ordering, fence};

/// What is done to a cell.
pub(crate) trait Put: Copy {
    /// To this thread's own cell.
    fn in_leased(self, cell: Leased);
    /// To a cell that threads share.
    fn in_dealt(self, cell: Dealt);
    /// To this core's cell; calls one of the two if that was not done.
    fn in_sequence<N: Numbering>(
        self,
        column: PerCoreColumn<N>,
        aborted: impl FnOnce(),
        no_row: impl FnOnce(),
    );
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

    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn in_sequence<N: Numbering>(
        self,
        column: PerCoreColumn<N>,
        aborted: impl FnOnce(),
        no_row: impl FnOnce(),
    ) {
        // The committing store is a plain one: Release on the processors that have this
        // strategy. The `asm!` is a barrier to the compiler.
        per_core::add(column, self.0, aborted, no_row);
        if self.1 == Ordering::SeqCst {
            fence(Ordering::SeqCst); // as the locked add would be
        }
    }
}

/// Raises to a value, unless it is there already.
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

    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn in_sequence<N: Numbering>(
        self,
        column: PerCoreColumn<N>,
        aborted: impl FnOnce(),
        no_row: impl FnOnce(),
    ) {
        per_core::raise(column, self.0, aborted, no_row);
    }
}

/// What has a column, and other places.
///
/// (A trait, because closures would be made on the stack, on the path of an add.)
pub(crate) trait Owner<P: Put>: Copy {
    /// Puts it elsewhere: this thread can use no row, or there is no column.
    fn put_aside(self, what: P);

    /// Puts it where the word has no column, or this thread has no row yet.
    fn put_first(self, what: P);
}

/// Does it to the column of a word, in this thread's row; or has the owner do it.
///
/// # Safety
/// `word` is an encoded [`TaggedColumn`].
#[inline(always)]
#[allow(clippy::inline_always)] // as above
pub(crate) unsafe fn put<P: Put>(owner: impl Owner<P>, word: *mut AtomicU64, what: P) {
    if let Some(column) = per_core::by_id(word) {
        in_sequence(owner, column, what);
    // SAFETY: by contract.
    } else if let Some(cell) = unsafe { portable::leased(word) } {
        what.in_leased(cell);
    // SAFETY: by contract, and it is not per core by concurrency id.
    } else if let Some(cell) = unsafe { portable::dealt(word) } {
        what.in_dealt(cell);
    } else if let Some(column) = per_core::by_processor(word) {
        in_sequence(owner, column, what);
    } else {
        owner.put_first(what);
    }
}

/// As [`put`], for a thread that may have no row yet: it gets one.
///
/// # Safety
/// As for [`put`].
#[cold]
pub(crate) unsafe fn put_first<P: Put>(owner: impl Owner<P>, word: *mut AtomicU64, what: P) {
    // SAFETY: by contract; `any` is given a word that is portable.
    unsafe {
        match TaggedColumn::decode(word) {
            TaggedColumn::PerCore(column) => in_sequence(owner, column, what),
            TaggedColumn::PerProcessor(column) => in_sequence(owner, column, what),
            TaggedColumn::Portable(_) => match portable::any(word) {
                Mine::Leased(cell) => what.in_leased(cell),
                Mine::Dealt(cell) => what.in_dealt(cell),
            },
            TaggedColumn::Unavailable | TaggedColumn::Unclaimed => owner.put_aside(what),
        }
    }
}

#[inline(always)]
#[allow(clippy::inline_always)] // as above
fn in_sequence<N: Numbering, P: Put>(owner: impl Owner<P>, column: PerCoreColumn<N>, what: P) {
    let missed = |why| in_sequence_again(owner, column, what, why);
    what.in_sequence(column, || missed(Miss::Aborted), || missed(Miss::NoRow));
}

#[cold]
fn in_sequence_again<N: Numbering, P: Put>(
    owner: impl Owner<P>,
    column: PerCoreColumn<N>,
    what: P,
    why: Miss,
) {
    let miss = retry_after(why, |missed| {
        let because = |why| move || missed.set(Some(why));
        what.in_sequence(column, because(Miss::Aborted), because(Miss::NoRow));
    });
    if miss.is_some() {
        owner.put_aside(what);
    }
}

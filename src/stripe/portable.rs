//! The portable strategy: a thread keeps to one row. If it has *leased* that row, it adds by a
//! plain instruction. Otherwise it was *dealt* a row, which threads share, and adds by an atomic
//! read-modify-write.
//!
//! # Theorem
//!
//! No add to a row's cell is lost, when any threads, and any signal handlers on them, add at the
//! same time. (Windows make no promise for handlers: there, when any threads add.)
//!
//! # Why
//!
//! * The cells of a leased row are written by one thread at a time, and each thread finds the
//!   writes of the one before ([`lease`]). A handler runs between two instructions of its thread,
//!   and ends before the thread continues. So one instruction cannot be divided ([`plain`]). Where
//!   an add takes several, the thread's word says [`BUSY`] meanwhile, and a handler that finds that
//!   adds in another row.
//! * Dealt rows are written only by atomic read-modify-writes. They are never leased: they are in
//!   the second bank (or in the first, if no rows are leased at all). So a plain and a locked add
//!   never meet in a cell.
//!
//! # A thread's word
//!
//! ```text
//!   NONE -- first add --> BUSY --+-- a row is free --> leased -- the thread ends --> GONE
//!                                `-- no row is free -> dealt     GONE -- it adds again --> dealt
//! ```
//!
//! A word of a row has the row's offset, with the tag [`LEASED`] or [`DEALT`].
//!
//! A thread is dealt a row, in turn, if all are leased, or if it cannot give one back at its end.
//! It keeps that row. After a thread has given its lease back, other destructors may still add;
//! they add in a dealt row, too. Two threads that share a row lose no count; they are only slower.
//! A row is open before its thread has it.
//!
//! The word has no destructor, so that an add works at any moment of a thread's life.
//!
//! A forked child takes back the leases of all threads that it does not have. (A handler that forks
//! in the middle of an add leaves them as they are: then the child has fewer rows to lease.)

use std::sync::atomic::compiler_fence;

use super::banks::{LEASES_BY_DEFAULT, first_rows, is_leasing, rows};
use super::branch_hint::cold;
use super::lease::{self, Lease};
use super::open_rows::open;
use crate::memory::column::Column;
use crate::reclaim::announced::set_row;
use crate::sync::{AtomicU64, AtomicUsize, Ordering, fence, global};
use crate::thread_end::words::WORDS;
use crate::thread_end::{self, AtEnd, GiveBack, process};

mod lse;
mod plain;
mod ration;
#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;

/// The thread has not added yet.
const NONE: usize = 0;
/// The thread is taking a row, or in the middle of an add, so a handler must not use its row.
const BUSY: usize = 8;
/// The thread has given its row back. It is dealt one if it adds once more. (Most threads do not,
/// and a dealt row stays open.)
const GONE: usize = 16;
/// The tag of an offset: the row is leased.
const LEASED: usize = 2;
/// The tag of an offset: the row was dealt.
const DEALT: usize = 1;

/// The tag of a column's word: adds to it are portable.
pub(super) const TAG: usize = 2;
/// The bit that is set in the sum of the two words if and only if both tags are there: the column's
/// adds are portable, and the thread has leased a row.
const BOTH: usize = TAG + LEASED;
/// The bits of tags.
const TAGS: usize = 7;

const _: () = assert!(BOTH.is_power_of_two() && Column::offset(1).is_multiple_of(TAGS + 1));

/// Returns the word for a column with portable adds.
pub(crate) fn tag(column: Column) -> *mut AtomicU64 {
    column.first().as_ptr().wrapping_byte_add(TAG)
}

/// A column's cell in this thread's row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mine {
    Leased(Leased),
    Dealt(Dealt),
}

/// A cell that only this thread writes.
///
/// The pointer is [`BOTH`] bytes after the cell's address: an add's one instruction subtracts that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leased(*mut AtomicU64);

/// A cell that threads share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dealt(*mut AtomicU64);

/// Returns this thread's word.
#[inline]
pub(crate) fn mine() -> usize {
    WORDS.with(|words| words.row.get())
}

/// Returns this thread's cell of the column in `word`, if there is a column, and the thread has
/// leased a row.
///
/// # Safety
/// `word` is an encoded [`TaggedColumn`](super::column_word::TaggedColumn).
#[inline]
pub(crate) unsafe fn leased(word: *mut AtomicU64) -> Option<Leased> {
    // SAFETY: by contract.
    unsafe { leased_by(word, mine()) }
}

/// Returns the cell as [`leased`] does, to a caller that has this thread's word already.
///
/// # Safety
/// The contract of [`leased`], and `own` is this thread's word.
#[inline]
pub(crate) unsafe fn leased_by(word: *mut AtomicU64, own: usize) -> Option<Leased> {
    let place = word.wrapping_byte_add(own);
    if place.addr() & BOTH != 0 {
        return Some(Leased::at(place, own));
    }
    if LEASES_BY_DEFAULT {
        cold(); // so that the usual case needs no jump
    }
    None
}

/// Returns this thread's cell of the column in `word`, if there is a column, and the thread was
/// dealt a row.
///
/// # Safety
/// `word` is an encoded [`TaggedColumn`](super::column_word::TaggedColumn), and not one with
/// per-core adds.
#[inline]
pub(crate) unsafe fn dealt(word: *mut AtomicU64) -> Option<Dealt> {
    // SAFETY: by contract.
    unsafe { dealt_by(word, mine()) }
}

/// Returns the cell as [`dealt`] does, to a caller that has this thread's word already.
///
/// # Safety
/// The contract of [`dealt`], and `own` is this thread's word.
#[inline]
pub(crate) unsafe fn dealt_by(word: *mut AtomicU64, own: usize) -> Option<Dealt> {
    let place = word.wrapping_byte_add(own);
    let is_dealt = place.addr() & TAGS == TAG + DEALT;
    is_dealt.then_some(Dealt(place.wrapping_byte_sub(TAG + DEALT)))
}

/// Returns this thread's cell of a column, and gives the thread a row first if it has none.
///
/// # Safety
/// `word` is an encoded column with portable adds.
#[cold]
#[inline(never)]
pub(crate) unsafe fn any(word: *mut AtomicU64) -> Mine {
    let own = match mine() {
        NONE => settle(),
        BUSY => deal(), // only for this add: the interrupted code continues with its own row
        GONE => {
            let own = deal();
            set_row(own);
            own
        }
        own => own,
    };
    let place = word.wrapping_byte_add(own);
    if own & LEASED != 0 {
        Mine::Leased(Leased::at(place, own))
    } else {
        Mine::Dealt(Dealt(place.wrapping_byte_sub(TAG + DEALT)))
    }
}

static AT_END: AtEnd<Lease> = AtEnd::new();

/// Gives this thread a row for the rest of its life, leased or dealt.
fn settle() -> usize {
    set_row(BUSY);
    compiler_fence(Ordering::SeqCst); // a handler from here on has its adds dealt a row
    let own = if is_leasing() { lease_one() } else { None };
    let own = own.unwrap_or_else(deal);
    compiler_fence(Ordering::SeqCst);
    set_row(own);
    own
}

/// Leases a row to this thread, until the thread ends.
fn lease_one() -> Option<usize> {
    let (row, lease) = lease::take()?;
    open(row); // before the thread has it
    if AT_END.arm(lease) {
        return Some(Column::offset(row) + LEASED);
    }
    lease.give_back(process());
    None
}

impl GiveBack for Lease {
    #[inline]
    fn give_back(&'static self) {
        // Before a child may free the row, which it does from the next step on.
        let process = process();
        compiler_fence(Ordering::SeqCst);
        set_row(GONE);
        compiler_fence(Ordering::SeqCst); // a handler from here on leaves the row alone
        Lease::give_back(self, process);
    }
}

global! {
    /// The number of rows dealt.
    fn turns() -> AtomicUsize = AtomicUsize::new(0);
}

/// Deals a row: one of the second bank, if threads lease those of the first.
fn deal() -> usize {
    // Relaxed: only the number matters.
    let turn = turns().fetch_add(1, Ordering::Relaxed) % rows();
    let row = if is_leasing() { first_rows() + turn } else { turn };
    open(row); // before it is dealt
    Column::offset(row) + DEALT
}

/// Prepares leases, once in a process. Returns false if threads could not give them back.
#[inline]
pub(super) fn prepare() -> bool {
    AT_END.prepare() && AT_END.takes_no_memory() && thread_end::in_children(begin_child)
}

/// Runs early in a forked child, where other handlers may have run before, and threads that they
/// started.
extern "C" fn begin_child() {
    match mine() {
        BUSY => {} // this thread may have taken a row, without having recorded it yet
        own if own & LEASED != 0 => lease::take_from_the_absent(Some(own / Column::offset(1))),
        _ => lease::take_from_the_absent(None),
    }
}

impl Leased {
    /// Returns the cell at the sum of a column's word and this thread's `own`.
    #[inline]
    fn at(place: *mut AtomicU64, own: usize) -> Leased {
        #[cfg(loom)]
        lease::write(own / Column::offset(1));
        #[cfg(not(loom))]
        let _ = own;
        Leased(place)
    }

    /// The cell `distance` columns to the right, which were claimed together with this one.
    #[inline]
    fn right(self, distance: usize) -> &'static AtomicU64 {
        let cell = self.0.wrapping_byte_sub(BOTH).wrapping_add(distance);
        // SAFETY: the sum of a column's address and a row's offset is the address of a cell, which
        // is never freed. Nor are those beside it.
        unsafe { &*cell }
    }

    /// Adds `n`, wrapping; Release, or `SeqCst` if `order` is. A handler that interrupts it may add
    /// to the same number.
    #[inline]
    pub(crate) fn add(self, n: u64, order: Ordering) {
        if plain::IS_WHOLE {
            // SAFETY: as in `right`; only this thread writes there.
            unsafe { plain::add::<BOTH>(self.0, n) }
        } else {
            alone(|| self.add_in_steps(0, n));
        }
        if order == Ordering::SeqCst {
            fence(Ordering::SeqCst); // as the locked add would be
        }
    }

    /// Raises the cell to `value`, if that is greater; Release. A handler may interrupt it, as
    /// [`add`](Self::add).
    #[inline]
    pub(crate) fn raise(self, value: u64) {
        // Relaxed: as in `raise_cell`.
        if self.right(0).load(Ordering::Relaxed) >= value {
            return;
        }
        if plain::IS_WHOLE {
            // SAFETY: as in `add`.
            unsafe { plain::raise::<BOTH>(self.0, value) }
        } else {
            alone(|| self.raise_in_steps(0, value));
        }
    }

    /// Adds `n`, wrapping, to the cell `distance` columns to the right; Release. Not in a handler.
    #[inline]
    pub(crate) fn add_in_steps(self, distance: usize, n: u64) {
        plain::add_in_steps(self.right(distance), n);
    }

    /// Returns whether that cell is below `value`.
    #[inline]
    pub(crate) fn is_below(self, distance: usize, value: u64) -> bool {
        is_below(self.right(distance), value)
    }

    /// Raises that cell to `value`, if that is greater; Release. Not in a handler.
    #[inline]
    pub(crate) fn raise_in_steps(self, distance: usize, value: u64) {
        plain::raise_in_steps(self.right(distance), value);
    }
}

/// Runs `steps` while handlers do not use this thread's row.
#[inline]
fn alone(steps: impl FnOnce()) {
    WORDS.with(|words| {
        let own = words.row.replace(BUSY);
        compiler_fence(Ordering::SeqCst);
        steps();
        compiler_fence(Ordering::SeqCst);
        words.row.set(own);
    });
}

impl Dealt {
    /// The cell `distance` columns to the right, which were claimed together with this one.
    #[inline]
    fn right(self, distance: usize) -> &'static AtomicU64 {
        // SAFETY: as in `Leased::right`.
        unsafe { &*self.0.wrapping_add(distance) }
    }

    /// Adds `n`, wrapping, to the cell `distance` columns to the right.
    #[inline]
    pub(crate) fn add(self, distance: usize, n: u64, order: Ordering) {
        // Release, at least: pairs with the Acquire in `rows::value`. A reader that counts this add
        // sees what its thread had seen before: a drain of the same counter, or the opening of a
        // bucket.
        self.right(distance).fetch_add(n, order);
    }

    /// Returns whether that cell is below `value`.
    #[inline]
    pub(crate) fn is_below(self, distance: usize, value: u64) -> bool {
        is_below(self.right(distance), value)
    }

    /// Raises that cell to `value`, unless it is there already.
    #[inline]
    pub(crate) fn raise(self, distance: usize, value: u64) {
        raise_cell(self.right(distance), value);
    }
}

/// Returns whether a cell that only rises is below `value`. Relaxed: as in [`raise_cell`].
#[inline]
pub(crate) fn is_below(cell: &AtomicU64, value: u64) -> bool {
    cell.load(Ordering::Relaxed) < value
}

/// Raises a cell that threads share to `value`. A cell that is high enough is only read.
#[inline]
pub(crate) fn raise_cell(cell: &AtomicU64, value: u64) {
    // Relaxed: a cell in use only rises, until it is taken. So a reader that comes after this
    // record, by any synchronisation, sees the value seen here or a greater one (read-read
    // coherence), or a take has it.
    if cell.load(Ordering::Relaxed) < value && !lse::raise(cell, value) {
        // Release: pairs with the Acquire in `rows::value`, as an add does.
        cell.fetch_max(value, Ordering::Release);
    }
}

//! The per-core strategy in a model (`--cfg windrow_per_core`): what loom and shuttle cannot see of
//! it, as two steps with an abort between them.
//!
//! All threads of the model share one core, the worst that can happen to them. A sequence begins by
//! taking the core over, and loads the cell. Its commit is one step: if somebody has taken the core
//! over since, the kernel would have sent the thread to the abort address, and nothing is written;
//! else the cell is stored. As one step the model would hide the gap that the restart is there for.
//!
//! The lock is the model's alone. It stands for the scheduler, which lets one thread at a time run
//! on a core, and which orders what two threads have done there, one after the other.

use std::ptr::NonNull;

use super::again::Refusal;
use super::live::Live;
use crate::column::Column;
use crate::pages::Cell;
use crate::sync::{AtomicPtr, Mutex, Ordering, global};

/// The lowest bit of a column's address says that it is added to per core.
const TAG: usize = 1;

/// A column to be added to per core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tagged(*mut Cell);

impl Tagged {
    pub(crate) fn column(self) -> Column {
        let first = self.0.map_addr(|address| address & !TAG);
        // SAFETY: made of a column by `tag`.
        unsafe { Column::new(NonNull::new_unchecked(first)) }
    }
}

pub(super) fn tag(column: Column) -> *mut Cell {
    column.first().as_ptr().map_addr(|address| address | TAG)
}

pub(super) fn untag(word: *mut Cell) -> Option<Tagged> {
    (word.addr() & TAG != 0).then_some(Tagged(word))
}

global! {
    /// The core: how often a thread has taken it over.
    fn core() -> Mutex<u64> = Mutex::new(0);
}

fn take_over() -> u64 {
    let mut core = core().lock().unwrap();
    *core += 1;
    *core
}

/// A sequence: what `commit` makes of the cell's number is stored, unless it is aborted.
fn sequence(column: Tagged, aborted: impl FnOnce(), commit: impl Fn(u64) -> u64) {
    let mine = take_over();
    let cell = column.column().cell(0);
    let number = cell.load(Ordering::Relaxed);
    let core = core().lock().unwrap();
    if *core == mine {
        cell.store(commit(number), Ordering::Release); // a plain store is Release on x86-64
    } else {
        drop(core);
        aborted();
    }
}

pub(crate) fn add(column: Tagged, n: u64, aborted: impl FnOnce(), _no_row: impl FnOnce()) {
    sequence(column, aborted, |number| number.wrapping_add(n));
}

pub(crate) fn raise(column: Tagged, value: u64, aborted: impl FnOnce(), _no_row: impl FnOnce()) {
    sequence(column, aborted, |number| number.max(value));
}

/// A sequence on the live bucket's columns: `commit` is told the first, and stores.
///
/// # Safety
/// As for `add_live` of the real one.
unsafe fn live_sequence(
    live: *const AtomicPtr<Live>,
    at: u64,
    refused: impl FnOnce(Refusal),
    commit: impl FnOnce(Column),
) {
    let mine = take_over();
    // SAFETY: by contract. Acquire: as every load is on x86-64.
    let live = unsafe { &*(*live).load(Ordering::Acquire) };
    if !live.reaches(at) {
        return refused(Refusal::Elsewhere);
    }
    let word = live.column.load(Ordering::Relaxed);
    // What a sequence has loaded, and where it would go, is settled here; what it does about it is
    // one step, which a barrier may have forestalled.
    let core = core().lock().unwrap();
    if *core == mine {
        commit(Tagged(word).column());
    } else {
        drop(core);
        refused(Refusal::Aborted);
    }
}

/// # Safety
/// As for the real one.
pub(crate) unsafe fn add_live(
    live: *const AtomicPtr<Live>,
    at: u64,
    position: usize,
    n: u64,
    refused: impl FnOnce(Refusal),
) {
    // SAFETY: by contract.
    unsafe { live_sequence(live, at, refused, |column| plain_add(column.right(position), n)) }
}

/// # Safety
/// As for the real one.
pub(crate) unsafe fn record_live(
    live: *const AtomicPtr<Live>,
    at: u64,
    (pair, extremes): (usize, usize),
    value: u64,
    refused: impl FnOnce(Refusal),
) {
    let commit = |column: Column| {
        plain_raise(column.right(extremes), value);
        plain_raise(column.right(extremes + 1), !value);
        plain_add(column.right(pair + 1), value);
        plain_add(column.right(pair), 1);
    };
    // SAFETY: by contract.
    unsafe { live_sequence(live, at, refused, commit) }
}

fn plain_add(column: Column, n: u64) {
    let cell = column.cell(0);
    let number = cell.load(Ordering::Relaxed);
    cell.store(number.wrapping_add(n), Ordering::Release); // as every store is on x86-64
}

fn plain_raise(column: Column, value: u64) {
    let cell = column.cell(0);
    if cell.load(Ordering::Relaxed) < value {
        cell.store(value, Ordering::Release);
    }
}

/// Not in models: there count and sum are two stores, the count last.
pub(crate) fn pairs_are_whole() -> bool {
    true
}

pub(super) fn register_for_barriers() -> bool {
    true
}

/// Takes the core over from whoever was in the middle of a sequence.
pub(super) fn barrier() -> bool {
    take_over();
    true
}

#[allow(clippy::unnecessary_wraps)] // the others may not find it
pub(super) fn find(_most: usize, _dense: bool) -> Option<usize> {
    Some(super::MODEL_ROWS)
}

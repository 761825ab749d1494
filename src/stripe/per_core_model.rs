//! The per-core strategy in a model (`--cfg windrow_per_core`): what loom cannot see of it, as two
//! steps with an abort between them.
//!
//! All threads of the model share one core, the worst that can happen to them. A sequence begins by
//! taking the core over, and loads the cell. Its commit is one step: if somebody has taken the core
//! over since, the kernel would have sent the thread to the abort address, and nothing is written;
//! else the cell is stored. As one step the model would hide the gap that the restart is there for.
//!
//! The lock is the model's alone. It stands for the scheduler, which lets one thread at a time run
//! on a core, and which orders what two threads have done there, one after the other.

use std::ptr::NonNull;

use crate::column::Column;
use crate::pages::Cell;
use crate::sync::{Mutex, Ordering, global};

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

#[allow(clippy::unnecessary_wraps)] // the others may not find it
pub(super) fn find(_most: usize, _dense: bool) -> Option<usize> {
    Some(super::MODEL_ROWS)
}

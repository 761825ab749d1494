//! Cells of the model checker, for models, kept for some executions longer than needed.

use crate::sync::AtomicU64;
use std::cell::RefCell;
use std::collections::VecDeque;

std::thread_local! {
    /// The cells mapped by recent executions. All threads of a model are one thread of the system.
    static MAPPED: RefCell<VecDeque<*mut [AtomicU64]>> = const { RefCell::new(VecDeque::new()) };
}

/// More than any execution maps.
const KEPT: usize = 16;

#[allow(clippy::unnecessary_wraps)] // the others may fail
pub(super) fn map(cells: usize) -> Option<&'static [AtomicU64]> {
    let cells = Box::into_raw((0..cells).map(|_| AtomicU64::new(0)).collect::<Box<[AtomicU64]>>());
    MAPPED.with_borrow_mut(|mapped| {
        mapped.push_back(cells);
        if mapped.len() > KEPT {
            let oldest = mapped.pop_front().expect("there are more than `KEPT`");
            // SAFETY: a box of an execution that has ended, and all references to it with that.
            drop(unsafe { Box::from_raw(oldest) });
        }
    });
    // SAFETY: it outlives the execution (see `KEPT`), and is not used after it.
    Some(unsafe { &*cells })
}

/// # Safety
/// The contract of the other platforms. Here `map` drops the pages later.
pub(super) unsafe fn unmap(_: &'static [AtomicU64]) {}

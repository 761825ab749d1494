//! Which row is mine, and how do I add to it: the one decision a process makes about striping.
//!
//! A *strategy* answers with [`add`] and [`raise`], on the cells of a row that is
//! this thread's own as far as the strategy can make it so. It is chosen once per process, at
//! compile time so far: every platform takes the portable one, [`portable`]. A second one fits in
//! here as a sibling with the same functions, and nothing above this layer would know.

mod portable;

pub(crate) use portable::{add, raise, raise_cell};

use crate::sync::{AtomicUsize, Ordering, global, sized};

/// More rows than this are never used: a read visits each of them.
const MOST_ROWS: usize = 256;

/// How many rows there are in a model, where to ask for the number would be one more thing to
/// explore; zero elsewhere.
const MODEL_ROWS: usize = sized(0, 2);

global! {
    /// How many rows there are; zero until it is known.
    fn known_rows() -> AtomicUsize = AtomicUsize::new(0);
}

/// How many rows the process has: one for each core that may run it. Never changes.
#[inline]
pub(crate) fn rows() -> usize {
    if MODEL_ROWS != 0 {
        return MODEL_ROWS;
    }
    // Relaxed: the number is all there is to know, and it is written once.
    match known_rows().load(Ordering::Relaxed) {
        0 => find_rows(),
        rows => rows,
    }
}

#[cold]
fn find_rows() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let rows = cores.min(MOST_ROWS);
    // The answer could change between two threads that ask; the first one stands.
    match known_rows().compare_exchange(0, rows, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => rows,
        Err(known) => known,
    }
}

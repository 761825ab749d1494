//! A number that spreads threads over the shards of a structure, or over places to look first.
//!
//! It is only a hint: a thread may have another number a moment later, and two threads may have the
//! same. A structure that uses it must be right for any number.

use super::{PER_CORE, per_core, state};
use crate::sync::{AtomicUsize, Ordering, global, thread_number};

global! {
    /// The number of threads that were dealt a number.
    fn dealt() -> AtomicUsize = AtomicUsize::new(0);
}

thread_number! {
    /// The number that this thread was dealt, plus one; zero if it was dealt none.
    NUMBER
}

/// Returns the row of the core on which this thread runs, if rows are per core; otherwise a number
/// that the thread keeps, dealt in turn. Takes no row. The caller has seen that the strategy is
/// decided.
#[inline]
pub(crate) fn spread() -> usize {
    // Relaxed: the decision happened before, by the contract.
    let is_per_core = state().load(Ordering::Relaxed) == PER_CORE;
    let row = if is_per_core { per_core::row() } else { None };
    row.unwrap_or_else(own)
}

/// The way to the number of [`spread`], looked up once: for a structure that asks often.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// The place of the number of a thread's row; zero if rows are not per core.
    place: usize,
}

impl Way {
    /// Looks up the way. The strategy must be decided.
    #[inline]
    pub(crate) fn new() -> Way {
        let is_per_core = state().load(Ordering::Relaxed) == PER_CORE; // as in `spread`
        Way { place: if is_per_core { per_core::number_place() } else { 0 } }
    }

    /// Returns the number of [`spread`]; any number if this thread has no row.
    #[inline]
    pub(crate) fn spread(self) -> usize {
        if self.place == 0 {
            return own();
        }
        // SAFETY: the place is that of `number_place`.
        unsafe { per_core::number_at(self.place) }
    }
}

/// Returns this thread's own number.
#[inline]
fn own() -> usize {
    match NUMBER.with(std::cell::Cell::get) {
        0 => deal(),
        number => number - 1,
    }
}

/// Deals this thread a number.
#[cold]
fn deal() -> usize {
    // Relaxed: only the number matters.
    let number = dealt().fetch_add(1, Ordering::Relaxed);
    NUMBER.with(|own| own.set(number.wrapping_add(1)));
    number
}

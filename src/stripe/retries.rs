//! Retrying sequences that the kernel has interrupted, or whose row was not open yet.

use std::cell::Cell;

use super::misses::{Miss, MissCell};
use super::open_rows::open_mine;
use crate::sync::{AtomicU64, Ordering, global, sized};

/// The number of retries of one call: a debugger that steps through a sequence aborts it each time.
/// Zero in a model, so that it reaches the code after the retries.
const TRIES: usize = sized(32, 0);

global! {
    /// The number of interrupted sequences.
    fn interrupted() -> AtomicU64 = AtomicU64::new(0);
}

/// Runs `sequence` until it is not aborted, at most [`TRIES`] times. Returns the reason if nothing
/// was written. (The code of a retry exists once, for all sequences.)
#[cold]
#[inline(never)]
#[allow(clippy::reversed_empty_ranges)] // no retries in a model
pub(crate) fn retry(sequence: &dyn Fn(&MissCell)) -> Option<Miss> {
    let mut outcome = Some(Miss::Aborted);
    for _ in 0..TRIES {
        outcome = attempt(sequence);
        if outcome != Some(Miss::Aborted) {
            break;
        }
    }
    outcome
}

/// Retries a sequence that has missed once: see [`retry`].
#[cold]
#[inline(never)]
pub(crate) fn retry_after(miss: Miss, sequence: &dyn Fn(&MissCell)) -> Option<Miss> {
    if count_miss(miss) == Miss::Aborted { retry(sequence) } else { Some(miss) }
}

/// Runs `sequence` once. Returns the reason if nothing was written.
#[inline(never)]
pub(crate) fn attempt(sequence: &dyn Fn(&MissCell)) -> Option<Miss> {
    let missed = Cell::new(None);
    sequence(&missed);
    missed.get().map(count_miss)
}

/// Counts a miss, and prepares the next try: opens this thread's row if that was not open. Then the
/// miss counts as aborted.
#[cold]
pub(crate) fn count_miss(miss: Miss) -> Miss {
    match miss {
        Miss::Aborted => _ = interrupted().fetch_add(1, Ordering::Relaxed), // a statistic
        Miss::NoRow if open_mine() => return Miss::Aborted,
        _ => {}
    }
    miss
}

/// Returns the number of times that a sequence of the per-core strategy was interrupted and retried
/// in this process.
///
/// A statistic, for tests that check that they have interrupted sequences.
///
/// ```
/// assert!(windrow::diagnostics::aborts() < u64::MAX);
/// ```
#[doc(hidden)]
#[inline]
pub fn aborts() -> u64 {
    interrupted().load(Ordering::Relaxed)
}

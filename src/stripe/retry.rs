//! Retrying sequences that the kernel has interrupted, or whose row was not open yet.

use std::cell::Cell;

use super::miss::{Miss, MissCell};
use super::open::open_mine;
use crate::sync::{AtomicU64, Ordering, global, sized};

/// How often one call retries: a debugger that steps through a sequence aborts it each time. None
/// in a model, so that it reaches what follows.
const TRIES: usize = sized(32, 0);

global! {
    /// How often a sequence was interrupted.
    fn interrupted() -> AtomicU64 = AtomicU64::new(0);
}

/// Runs `sequence` until it is not aborted, [`TRIES`] times at most. Returns why nothing was
/// written, if so.
#[cold]
pub(crate) fn retry(sequence: impl Fn(&MissCell)) -> Option<Miss> {
    let mut misses = std::iter::repeat_n((), TRIES).map(|()| attempt(&sequence));
    let outcome = misses.find(|miss| *miss != Some(Miss::Aborted));
    outcome.unwrap_or(Some(Miss::Aborted))
}

/// As [`retry`], for a sequence that has missed once.
#[cold]
pub(crate) fn retry_after(miss: Miss, sequence: impl Fn(&MissCell)) -> Option<Miss> {
    if note(miss) == Miss::Aborted { retry(sequence) } else { Some(miss) }
}

/// Runs `sequence` once. Returns why nothing was written, if so.
pub(crate) fn attempt(sequence: impl Fn(&MissCell)) -> Option<Miss> {
    let missed = Cell::new(None);
    sequence(&missed);
    missed.get().map(note)
}

/// Notes that a sequence has missed, and prepares the next try: opens this thread's row if that was
/// not open. Then the miss counts as aborted.
#[cold]
pub(crate) fn note(miss: Miss) -> Miss {
    match miss {
        Miss::Aborted => _ = interrupted().fetch_add(1, Ordering::Relaxed), // a statistic
        Miss::NoRow if open_mine() => return Miss::Aborted,
        _ => {}
    }
    miss
}

/// How often a sequence of the per-core strategy was interrupted and retried in this process.
///
/// A statistic, for tests that want to know that they have interrupted some.
///
/// ```
/// assert!(windrow::diagnostics::aborts() < u64::MAX);
/// ```
#[doc(hidden)]
pub fn aborts() -> u64 {
    interrupted().load(Ordering::Relaxed)
}

//! Trying again what the kernel has interrupted.

use std::cell::Cell;

use crate::sync::{AtomicU64, Ordering, global, sized};

/// How often one call tries again: a debugger that steps through a sequence aborts it each time. In
/// a model once is too often already, so that what comes after is reached.
const TRIES: usize = sized(32, 0);

global! {
    /// How often a sequence was interrupted.
    fn interrupted() -> AtomicU64 = AtomicU64::new(0);
}

/// Why a sequence has written nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Miss {
    /// The kernel has interrupted it.
    Aborted,
    /// This thread has no row.
    NoRow,
    /// The time lies in another than the live bucket, or that has no columns.
    OtherBucket,
    /// The value lies beyond what the row has seen.
    #[allow(dead_code)] // where there are no sequences
    Extreme,
}

/// What a sequence that is tried again says of itself: nothing if it was committed.
pub(crate) type MissCell = Cell<Option<Miss>>;

/// Has `sequence` try until it is no longer aborted, or was too often. Says why nothing was written,
/// if so.
#[cold]
pub(crate) fn retry(sequence: impl Fn(&MissCell)) -> Option<Miss> {
    let mut misses = std::iter::repeat_n((), TRIES).map(|()| attempt(&sequence));
    let settled = misses.find(|miss| *miss != Some(Miss::Aborted));
    settled.unwrap_or(Some(Miss::Aborted))
}

/// Has `sequence` try. Says why nothing was written, if so.
pub(crate) fn attempt(sequence: impl Fn(&MissCell)) -> Option<Miss> {
    let missed = Cell::new(None);
    sequence(&missed);
    if missed.get() == Some(Miss::Aborted) {
        note_abort();
    }
    missed.get()
}

/// Notes that a sequence was interrupted.
#[cold]
pub(crate) fn note_abort() {
    interrupted().fetch_add(1, Ordering::Relaxed); // a statistic
}

/// How often a sequence was interrupted and tried again, in this process: of the per-core strategy.
///
/// A statistic, for tests that want to know that they have interrupted some.
///
/// ```
/// assert!(windrow::aborts() < u64::MAX);
/// ```
#[doc(hidden)]
pub fn aborts() -> u64 {
    interrupted().load(Ordering::Relaxed)
}

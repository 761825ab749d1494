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
pub(crate) enum Refusal {
    /// The kernel has interrupted it.
    Aborted,
    /// This thread has no row.
    NoRow,
    /// The time lies in another than the live bucket, or that has no columns.
    Elsewhere,
    /// The value lies beyond what the row has seen.
    #[allow(dead_code)] // where there are no sequences
    Extreme,
}

/// What a sequence that is tried again says of itself: nothing if it was committed.
pub(crate) type Refused = Cell<Option<Refusal>>;

/// Has `sequence` try until it is no longer aborted, or was too often. Says why nothing was written,
/// if so.
#[cold]
pub(crate) fn again(sequence: impl Fn(&Refused)) -> Option<Refusal> {
    let mut refusals = std::iter::repeat_n((), TRIES).map(|()| once(&sequence));
    let settled = refusals.find(|refusal| *refusal != Some(Refusal::Aborted));
    settled.unwrap_or(Some(Refusal::Aborted))
}

/// Has `sequence` try. Says why nothing was written, if so.
pub(crate) fn once(sequence: impl Fn(&Refused)) -> Option<Refusal> {
    let refused = Cell::new(None);
    sequence(&refused);
    if refused.get() == Some(Refusal::Aborted) {
        note_abort();
    }
    refused.get()
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

//! The all-time counts of a breaker.

use crate::counters::Counter;
use crate::sync::{AtomicU64, Ordering, const_fn};

/// The all-time counts of a breaker: from [`Breaker::counts`](crate::Breaker::counts).
///
/// Each number only grows, so exporters can take it as a total. A breaker in a catalog is exported
/// with all of them, by the label `event`: see [`Source`](crate::export::Source).
///
/// ```
/// use windrow::{Breaker, breaker::Settings};
///
/// let breaker = Breaker::of(Settings::last_calls(2));
/// breaker.try_call().expect("closed").failure();
/// breaker.try_call().expect("closed").failure();
/// assert!(breaker.try_call().is_err());
/// let counts = breaker.counts();
/// assert_eq!((counts.failed, counts.opened, counts.refused), (2, 1, 1));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Counts {
    /// The number of transitions to [`Open`](super::State::Open).
    pub opened: u64,
    /// The number of transitions to [`HalfOpen`](super::State::HalfOpen).
    pub half_opened: u64,
    /// The number of transitions to [`Closed`](super::State::Closed).
    pub closed: u64,
    /// Calls that were not let through.
    pub refused: u64,
    /// Calls that ended well, trials included.
    pub succeeded: u64,
    /// Calls that failed, trials included.
    pub failed: u64,
    /// Calls that were slow, whether they succeeded or failed.
    pub slow: u64,
    /// Calls whose end said nothing.
    pub ignored: u64,
}

impl Counts {
    /// Returns the name and the number of each count, in the order of the fields.
    pub(crate) fn named(&self) -> [(&'static str, u64); 8] {
        [
            ("opened", self.opened),
            ("half_opened", self.half_opened),
            ("closed", self.closed),
            ("refused", self.refused),
            ("succeeded", self.succeeded),
            ("failed", self.failed),
            ("slow", self.slow),
            ("ignored", self.ignored),
        ]
    }

    /// Returns the sums of two breakers' counts, wrapping.
    pub(crate) fn plus(self, other: Counts) -> Counts {
        Counts {
            opened: self.opened.wrapping_add(other.opened),
            half_opened: self.half_opened.wrapping_add(other.half_opened),
            closed: self.closed.wrapping_add(other.closed),
            refused: self.refused.wrapping_add(other.refused),
            succeeded: self.succeeded.wrapping_add(other.succeeded),
            failed: self.failed.wrapping_add(other.failed),
            slow: self.slow.wrapping_add(other.slow),
            ignored: self.ignored.wrapping_add(other.ignored),
        }
    }
}

/// The counts that do not stand beside the outcomes. Each word is Relaxed: it publishes nothing.
pub(super) struct Tally {
    /// The transitions to each state, by its number.
    pub(super) transitions: [AtomicU64; 3],
    /// Striped: many threads are refused at once.
    pub(super) refused: Counter,
    pub(super) ignored: AtomicU64,
}

impl Tally {
    const_fn! {
        pub(super) const fn new() -> Tally {
            Tally {
                transitions: [AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0)],
                refused: Counter::new(),
                ignored: AtomicU64::new(0),
            }
        }
    }

    pub(super) fn ignored(&self) {
        self.ignored.fetch_add(1, Ordering::Relaxed);
    }
}

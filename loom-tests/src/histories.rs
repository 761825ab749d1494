//! Histories: what threads did, when each call began and returned, and whether the library's
//! promises allow it.
//!
//! A [`Log`] stamps the beginning and the end of a thread's calls from one atomic of the whole
//! history. So the stamps are one order for all threads, and a call that returned before another
//! began happened before it: the checkers below need nothing else, and look only when the run is
//! over. (The stamps also order memory between calls that do not overlap; whether the library's own
//! orderings are enough is for loom to say.)
//!
//! Real threads and shuttle's are recorded alike.
//!
//! # Which adds are in a number
//!
//! If each add of a history is a power of two of its own, every sum is a *set* of adds, and
//! "between the least and the most" means between sets: a sum that has a new add in the place of an
//! old one is found out. Otherwise numbers are compared as numbers.

mod counter;
mod known;
mod window;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

pub use counter::{CounterCall, check_counter};
pub use known::{WindowCall, WindowHistory};

/// The stamps of a call's beginning and of its return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its stamp.
    pub begin: u64,
    /// Its stamp.
    pub end: u64,
}

impl Span {
    /// Returns whether this call returned before another began.
    fn is_before(self, other: Span) -> bool {
        self.end < other.begin
    }
}

/// A call, and its effect.
#[derive(Clone, Debug)]
pub struct Call<C> {
    /// The thread that made it.
    pub thread: usize,
    /// The span of the call.
    pub span: Span,
    /// The effect.
    pub did: C,
}

/// One history's stamps.
#[derive(Debug, Default)]
pub struct Recorder {
    next: Arc<AtomicU64>,
    threads: AtomicUsize,
}

impl Recorder {
    /// Returns a log for one more thread.
    #[must_use]
    pub fn log<C>(&self) -> Log<C> {
        let thread = self.threads.fetch_add(1, Ordering::Relaxed);
        Log { next: Arc::clone(&self.next), thread, calls: Vec::new() }
    }
}

/// The calls of one thread.
#[derive(Debug)]
pub struct Log<C> {
    next: Arc<AtomicU64>,
    thread: usize,
    calls: Vec<Call<C>>,
}

impl<C> Log<C> {
    /// Makes a call, and records its effect.
    pub fn call<R>(&mut self, call: impl FnOnce() -> R, did: impl FnOnce(R) -> C) {
        let begin = self.stamp();
        let result = call();
        let end = self.stamp();
        self.note(Span { begin, end }, did(result));
    }

    /// Returns the next stamp.
    #[must_use]
    pub fn stamp(&self) -> u64 {
        // AcqRel: calls stamped earlier happened before calls stamped later.
        self.next.fetch_add(1, Ordering::AcqRel)
    }

    /// Records an effect in a span.
    pub fn note(&mut self, span: Span, did: C) {
        self.calls.push(Call { thread: self.thread, span, did });
    }

    /// Returns the calls.
    #[must_use]
    pub fn into_calls(self) -> Vec<Call<C>> {
        self.calls
    }
}

/// The comparison of a history's numbers.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    /// True if a number is a set of adds.
    are_sets: bool,
}

impl Numbers {
    /// Returns the comparison for these adds.
    fn of(adds: impl Iterator<Item = u64>) -> Numbers {
        let mut all = 0_u64;
        let mut are_sets = true;
        for n in adds {
            are_sets &= n.is_power_of_two() && all & n == 0;
            all |= n;
        }
        Numbers { are_sets }
    }

    /// Returns whether a number has all of the least in it, and nothing but the most.
    fn within(self, least: u64, found: u64, most: u64) -> bool {
        if self.are_sets {
            least & !found == 0 && found & !most == 0
        } else {
            (least..=most).contains(&found)
        }
    }

    /// "5", or "adds {0, 2}".
    fn show(self, number: u64) -> String {
        if self.are_sets {
            let adds = (0..64).filter(|bit| number >> bit & 1 == 1).collect::<Vec<u32>>();
            format!("adds {adds:?}")
        } else {
            number.to_string()
        }
    }
}

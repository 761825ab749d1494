//! The sums and maxima of tokio-metrics' task monitors, on numbers of windrow's: a new file,
//! `src/striped.rs`.
//!
//! The words of a task itself stay what they are: one thread at a time polls it.

use std::sync::atomic::Ordering;

use windrow::{Counter, Maximum};

/// A sum that all polls add to.
#[derive(Debug)]
pub(crate) struct Sum(Counter);

impl Sum {
    pub(crate) const fn new(_zero: u64) -> Sum {
        Sum(Counter::new())
    }

    /// Adds `n`: with Release, which a reader of sums can tell from nothing more.
    #[inline]
    pub(crate) fn fetch_add(&self, n: u64, _order: Ordering) {
        self.0.add(n);
    }

    pub(crate) fn load(&self, _order: Ordering) -> u64 {
        self.0.sum()
    }
}

/// The longest of the times that all polls record.
#[derive(Debug)]
pub(crate) struct Longest(Maximum);

impl Longest {
    pub(crate) const fn new(_zero: u64) -> Longest {
        Longest(Maximum::new())
    }

    #[inline]
    pub(crate) fn fetch_max(&self, nanos: u64, _order: Ordering) {
        self.0.record(nanos);
    }

    pub(crate) fn load(&self, _order: Ordering) -> u64 {
        self.0.get().unwrap_or(0)
    }

    /// Returns the longest, and forgets it.
    pub(crate) fn swap(&self, _zero: u64, _order: Ordering) -> u64 {
        self.0.take().unwrap_or(0)
    }
}

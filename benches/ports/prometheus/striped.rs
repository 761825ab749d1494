//! The number in an integer counter of prometheus, on a counter of windrow's: a new file,
//! `src/striped.rs`, by which `IntCounter` and what is made of it count.
//!
//! Gauges and histograms keep the crate's words: they swap, compare and exchange theirs.

use windrow::Counter;

use crate::atomic64::Atomic;

/// A number that many threads add to.
#[derive(Debug)]
pub struct StripedU64(Counter);

impl Atomic for StripedU64 {
    type T = u64;

    fn new(val: u64) -> StripedU64 {
        StripedU64(Counter::from(val))
    }

    /// Sets the number, in two steps: no counter of the crate sets another one than zero.
    fn set(&self, val: u64) {
        self.0.reset();
        self.0.add(val);
    }

    fn get(&self) -> u64 {
        self.0.sum()
    }

    #[inline]
    fn inc_by(&self, delta: u64) {
        self.0.add(delta);
    }

    fn dec_by(&self, delta: u64) {
        self.0.add(delta.wrapping_neg());
    }
}

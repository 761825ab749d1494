//! The least and the greatest value that was ever recorded.
//!
//! # Theorem
//!
//! A record that is counted is within the extremes: let a read find a record's one in a cell, and
//! read the extremes afterwards. Then the value is not beyond them.
//!
//! # Why
//!
//! A record looks at both extremes, and raises one that is not high enough, before it is counted.
//! They only rise (the least value by its complement). Whoever counts the record comes after its
//! look, and finds what it has found, or more (*coherence*).
//!
//! # Why they are words that all cores share
//!
//! Of `n` values in random order some `ln n` are a new maximum. So after a while these words are
//! read, and not written, and each core has its own copy of their line. Columns would need a
//! sequence more for each. (Values that only rise, say points in time, write a word each time: as
//! slow as any shared atomic.)

use crate::stripe::portable::raise_cell;
use crate::sync::{AtomicU64, Ordering, const_fn};

pub(super) struct Extremes {
    greatest: AtomicU64,
    /// The complement of the least value. So zero is "nothing yet" for both.
    least: AtomicU64,
}

impl Extremes {
    const_fn! {
        pub(super) const fn new() -> Extremes {
            Extremes { greatest: AtomicU64::new(0), least: AtomicU64::new(0) }
        }
    }

    /// Makes them include `value`, which will be counted.
    #[inline]
    pub(super) fn include(&self, value: u64) {
        // Relaxed, both: they only rise: see above.
        let greatest = self.greatest.load(Ordering::Relaxed);
        let least = self.least.load(Ordering::Relaxed);
        if greatest < value || least < !value {
            self.raise(value);
        }
    }

    #[cold]
    fn raise(&self, value: u64) {
        raise_cell(&self.greatest, value);
        raise_cell(&self.least, !value);
    }

    /// The least and the greatest value, or what is beyond them. After what was counted was read,
    /// with Acquire.
    pub(super) fn get(&self) -> (u64, u64) {
        // Relaxed, both: see above.
        (!self.least.load(Ordering::Relaxed), self.greatest.load(Ordering::Relaxed))
    }
}

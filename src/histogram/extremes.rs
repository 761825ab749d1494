//! The all-time minimum and maximum of a histogram.
//!
//! # Theorem
//!
//! A record that is counted is within the extremes: if a read finds a record's count in a cell and
//! reads the extremes afterwards, the value lies within them.
//!
//! # Why
//!
//! A record looks at both extremes, and raises one that is not high enough, before it is counted.
//! They only rise (the minimum by its complement). A reader that counts the record reads after the
//! record's look, so it finds the same values or greater ones (*coherence*).
//!
//! # Values that are no part of a sum
//!
//! A value above [`MAX_SUMMAND`] raises a word of its own, `beyond`, and never `greatest`. So it is
//! above `greatest` whenever it is recorded, and `have` finds it by the comparison that it makes in
//! any case.
//!
//! # Why all cores share these words
//!
//! Among `n` values in random order, about `ln n` are a new maximum. So after a while these words
//! are only read, and each core has its own copy of their line. Columns would need one more
//! sequence for each. (Values that only rise, such as points in time, write a word each time, which
//! is as slow as any shared atomic.)

use crate::recorded_value::{MAX_SUMMAND, summand};
use crate::stripe::portable::raise_cell;
use crate::sync::{AtomicU64, Ordering, const_fn};

pub(super) struct Extremes {
    /// The maximum of the values up to [`MAX_SUMMAND`].
    greatest: AtomicU64,
    /// The maximum of the others.
    beyond: AtomicU64,
    /// The complement of the minimum. So zero means "nothing yet" in both.
    least: AtomicU64,
}

impl Extremes {
    const_fn! {
        pub(super) const fn new() -> Extremes {
            let (greatest, beyond) = (AtomicU64::new(0), AtomicU64::new(0));
            Extremes { greatest, beyond, least: AtomicU64::new(0) }
        }
    }

    /// Returns whether a value that will be counted lies within the extremes, and is a part of the
    /// sum. If not, it is to be [included](Self::include) first.
    #[inline]
    pub(super) fn have(&self, value: u64) -> bool {
        // Relaxed, both: the extremes only rise (see above).
        let greatest = self.greatest.load(Ordering::Relaxed);
        let least = self.least.load(Ordering::Relaxed);
        greatest >= value && least >= !value
    }

    /// Extends the extremes to `value`, which will be counted. Returns its part of the sum.
    #[inline]
    pub(super) fn include(&self, value: u64) -> u64 {
        let maximum = if value <= MAX_SUMMAND { &self.greatest } else { &self.beyond };
        raise_cell(maximum, value);
        raise_cell(&self.least, !value);
        summand(value)
    }

    /// Returns the minimum and the maximum of the counts that were read before this, with Acquire;
    /// or values beyond them.
    #[inline]
    pub(super) fn get(&self) -> (u64, u64) {
        // Relaxed, all: see above.
        let maxima = [&self.greatest, &self.beyond].map(|maximum| maximum.load(Ordering::Relaxed));
        (!self.least.load(Ordering::Relaxed), maxima[0].max(maxima[1]))
    }
}

//! A histogram's numbers: a striped counter for each bucket, and the sum.

use std::sync::Arc;

use windrow::Counter;

use crate::snapshot::Distribution;
use crate::sum::{ExactSum, LARGEST};

/// What one series has recorded.
pub(crate) struct HistogramCell {
    /// The greatest value of each bucket but the last, ascending.
    bounds: Arc<[f64]>,
    /// Each value is in one; the last one has what is above all bounds.
    buckets: Box<[Counter]>,
    sum: ExactSum,
    /// Values that no sum can hold: NaN, infinite, beyond [`LARGEST`].
    unrecorded: Counter,
}

impl HistogramCell {
    pub(crate) fn new(bounds: Arc<[f64]>) -> HistogramCell {
        let buckets = (0..=bounds.len()).map(|_| Counter::new()).collect();
        let (sum, unrecorded) = (ExactSum::default(), Counter::new());
        HistogramCell { bounds, buckets, sum, unrecorded }
    }

    #[inline]
    pub(crate) fn record(&self, value: f64, times: u64) {
        // Not `value.abs() > LARGEST`, which NaN passes.
        if !(-LARGEST..=LARGEST).contains(&value) {
            self.unrecorded.add(times);
            return;
        }
        // The sum first: adds are Release, and a reader takes the buckets first. So whatever is counted is in the sum.
        self.sum.add(value, times);
        let bucket = self.bounds.partition_point(|bound| *bound < value);
        self.buckets[bucket].add(times);
    }

    pub(crate) fn get(&self) -> Distribution {
        // In this order: see `record`.
        let counts = self.buckets.iter().map(Counter::lifetime).collect();
        Distribution::new(Arc::clone(&self.bounds), counts, self.sum.get())
    }

    pub(crate) fn unrecorded(&self) -> u64 {
        self.unrecorded.lifetime()
    }
}

#[cfg(test)]
#[allow(clippy::float_cmp, reason = "halves of small numbers")]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    use super::*;

    fn cell() -> HistogramCell {
        HistogramCell::new(Arc::from([-1.0, 0.0, 10.0]))
    }

    #[test]
    fn a_bucket_includes_its_bound() {
        let cell = cell();
        for value in [-2.0, -1.0, -0.5, 0.0, -0.0, 10.0, 10.5] {
            cell.record(value, 1);
        }
        let buckets: Vec<_> = cell.get().buckets().collect();
        assert_eq!(buckets, [(-1.0, 2), (0.0, 5), (10.0, 6), (f64::INFINITY, 7)]);
        assert_eq!((cell.get().count(), cell.get().sum()), (7, 17.0));
    }

    #[test]
    fn what_no_sum_can_hold_is_counted_apart() {
        let cell = cell();
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, LARGEST * 2.0] {
            cell.record(value, 1);
        }
        cell.record(f64::NAN, 10);
        assert_eq!((cell.get().count(), cell.get().sum(), cell.unrecorded()), (0, 0.0, 15));
        cell.record(LARGEST, 1);
        cell.record(-LARGEST, 1);
        assert_eq!((cell.get().count(), cell.get().sum(), cell.unrecorded()), (2, 0.0, 15));
    }

    #[test]
    fn what_is_counted_is_in_the_sum_while_another_thread_records() {
        let (cell, done) = (HistogramCell::new(Arc::from([1.0])), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                (0..2_000_000).for_each(|_| cell.record(2.5, 1));
                done.store(true, Ordering::Relaxed);
            });
            while !done.load(Ordering::Relaxed) {
                let now = cell.get();
                assert!(now.sum() >= 2.5 * now.count() as f64, "{now:?}");
            }
        });
        assert_eq!((cell.get().count(), cell.get().sum()), (2_000_000, 5e6));
    }
}

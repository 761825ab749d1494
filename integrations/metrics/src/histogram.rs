//! A histogram's numbers: those of its cells, or a striped counter for each bucket; and the sum.

use std::sync::Arc;

use metrics::HistogramFn;
use windrow::{Counter, Histogram};

use crate::buckets::Shape;
use crate::snapshot::{Counted, Distribution};
use crate::sum::{ExactSum, LARGEST};

/// The recorded values of one series.
pub(crate) struct HistogramCell {
    counts: Counts,
    sum: ExactSum,
    unrecorded: Counter,
    below_zero: Counter,
}

enum Counts {
    /// Cells for whole numbers of steps; `steps` is the number of steps in a value of 1.
    Cells { histogram: Histogram, steps: u32 },
    Buckets {
        /// The greatest value of each bucket but the last, ascending.
        bounds: Arc<[f64]>,
        /// Each value is in one bucket; the last one has the values above all bounds.
        buckets: Box<[Counter]>,
    },
}

/// The counts of values that are reported as problems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// Values that no sum can hold: NaN, infinite or beyond [`LARGEST`].
    pub(crate) unrecorded: u64,
    /// Values below zero that are counted in cells, as zero.
    pub(crate) below_zero: u64,
}

impl HistogramFn for HistogramCell {
    #[inline]
    fn record(&self, value: f64) {
        self.add(value, 1);
    }

    fn record_many(&self, value: f64, times: usize) {
        self.add(value, times as u64);
    }
}

impl HistogramCell {
    pub(crate) fn new(shape: Shape) -> HistogramCell {
        let counts = match shape {
            Shape::Cells { scale, steps } => {
                Counts::Cells { histogram: Histogram::with_scale(scale), steps }
            }
            Shape::Bounds(bounds) => {
                let buckets = (0..=bounds.len()).map(|_| Counter::new()).collect();
                Counts::Buckets { bounds, buckets }
            }
        };
        let (sum, unrecorded, below_zero) = Default::default();
        HistogramCell { counts, sum, unrecorded, below_zero }
    }

    #[inline]
    fn add(&self, value: f64, times: u64) {
        // Not `value.abs() > LARGEST`, which NaN passes.
        if !(-LARGEST..=LARGEST).contains(&value) {
            self.unrecorded.add(times);
            return;
        }
        // The sum first: adds are Release, and a reader takes the counts first. So every value that
        // is counted is in the sum.
        self.sum.add(value, times);
        match &self.counts {
            Counts::Cells { histogram, steps } => {
                if value < 0.0 {
                    self.below_zero.add(times);
                }
                #[allow(clippy::cast_sign_loss, reason = "values below zero become zero")]
                let nearest = (value * f64::from(*steps) + 0.5) as u64;
                histogram.record_many(nearest, times);
            }
            Counts::Buckets { bounds, buckets } => {
                let bucket = bounds.partition_point(|bound| *bound < value);
                buckets[bucket].add(times);
            }
        }
    }

    pub(crate) fn get(&self) -> Distribution {
        let counts = match &self.counts {
            Counts::Cells { histogram, steps } => Counted::Cells(histogram.lifetime(), *steps),
            Counts::Buckets { bounds, buckets } => {
                let counts = buckets.iter().map(Counter::lifetime).collect();
                Counted::Buckets(Arc::clone(bounds), counts)
            }
        };
        Distribution { counts, sum: self.sum.get() } // the sum last: see `add`
    }

    pub(crate) fn told(&self) -> Told {
        let [unrecorded, below_zero] = [&self.unrecorded, &self.below_zero].map(Counter::lifetime);
        Told { unrecorded, below_zero }
    }
}

#[allow(clippy::float_cmp, reason = "halves of small numbers")]
#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;
    use std::time::Duration;

    use proptest::prelude::*;
    use windrow::histogram::Scale;

    use super::*;

    fn bounds(bounds: &[f64]) -> HistogramCell {
        HistogramCell::new(Shape::Bounds(Arc::from(bounds)))
    }

    fn cells() -> HistogramCell {
        HistogramCell::new(Shape::DEFAULT)
    }

    #[test]
    fn a_bucket_includes_its_bound() {
        let cell = bounds(&[-1.0, 0.0, 10.0]);
        for value in [-2.0, -1.0, -0.5, 0.0, -0.0, 10.0, 10.5] {
            cell.add(value, 1);
        }
        let buckets: Vec<_> = cell.get().buckets().collect();
        assert_eq!(buckets, [(-1.0, 2), (0.0, 5), (10.0, 6), (f64::INFINITY, 7)]);
        assert_eq!((cell.get().count(), cell.get().sum()), (7, 17.0));
        assert_eq!((cell.get().quantile(0.5), cell.told()), (None, Told::default()));
    }

    #[test]
    fn what_no_sum_can_hold_is_counted_apart() {
        for cell in [bounds(&[-1.0, 0.0]), cells()] {
            for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, LARGEST * 2.0] {
                cell.add(value, 1);
            }
            cell.add(f64::NAN, 10);
            let counted = |cell: &HistogramCell| {
                (cell.get().count(), cell.get().sum(), cell.told().unrecorded)
            };
            assert_eq!(counted(&cell), (0, 0.0, 15));
            cell.add(LARGEST, 1);
            cell.add(-LARGEST, 1);
            assert_eq!(counted(&cell), (2, 0.0, 15));
        }
    }

    #[test]
    fn what_is_below_zero_is_in_the_first_bucket_of_cells_and_in_the_sum_and_told() {
        let cell = cells();
        for value in [-3.5, -0.0, -1e-12, 1.0] {
            cell.add(value, 2);
        }
        let distribution = cell.get();
        assert_eq!(distribution.buckets().next(), Some((512e-9, 6)));
        assert_eq!((distribution.count(), distribution.sum()), (8, -5.000_000_000_002));
        assert_eq!(cell.told(), Told { unrecorded: 0, below_zero: 4 });
    }

    #[test]
    fn what_is_beyond_all_cells_is_in_the_infinite_bucket_and_in_the_sum() {
        let cell = cells();
        for value in [69.0, 1e12, LARGEST] {
            cell.add(value, 1);
        }
        let [.., last, infinite] = cell.get().buckets().collect::<Vec<_>>()[..] else { panic!() };
        assert_eq!((last, infinite), ((68.719_476_736, 0), (f64::INFINITY, 3)));
        assert_eq!(cell.get().sum(), 69.0 + 1e12 + LARGEST);
    }

    /// More threads than cores, so that they are also interrupted between the sum and the count.
    #[test]
    fn what_is_counted_is_in_the_sum_while_other_threads_record() {
        const THREADS: u64 = 6;
        const TIMES: u64 = 2_000_000;
        for cell in [bounds(&[1.0]), cells()] {
            let done = AtomicU64::new(0);
            thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| {
                        (0..TIMES).for_each(|_| cell.add(2.5, 1));
                        done.fetch_add(1, Ordering::Relaxed);
                    });
                }
                while done.load(Ordering::Relaxed) < THREADS {
                    let now = cell.get();
                    assert!(now.sum() >= 2.5 * now.count() as f64, "{now:?}");
                }
            });
            let all = THREADS * TIMES;
            assert_eq!((cell.get().count(), cell.get().sum()), (all, 2.5 * all as f64));
        }
    }

    proptest! {
        #[test]
        fn a_duration_is_counted_as_its_nanoseconds(nanos in 0..80_000_000_000_u64) {
            let (cell, whole) = (cells(), Histogram::new());
            cell.add(Duration::from_nanos(nanos).as_secs_f64(), 1);
            whole.record(nanos);
            let distribution = cell.get();
            prop_assert_eq!(distribution.cells(), Some(&whole.lifetime()));
        }

        #[test]
        fn percentiles_are_of_the_values_and_right_to_the_error(
            mut values in prop::collection::vec(1e-6..60.0_f64, 1..50),
            number in 0..50_usize,
        ) {
            let cell = cells();
            for value in &values {
                cell.add(*value, 1);
            }
            values.sort_by(f64::total_cmp);
            let number = number % values.len();
            let q = (number + 1) as f64 / values.len() as f64;
            let (exact, found) = (values[number], cell.get().quantile(q).unwrap());
            // One nanosecond: half for the recorded value, half for the answer.
            let error = exact * Scale::DEFAULT.error_bound() + 1.01e-9;
            prop_assert!((found - exact).abs() <= error, "{} for {}", found, exact);
        }
    }
}

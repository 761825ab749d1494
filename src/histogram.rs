//! Histograms: latency and size distributions to which all cores can record at once.
//!
//! A [`Histogram`] records values and returns a [`Distribution`], which has counts and quantiles; a
//! [`Scale`] says how exact they are.
//!
//! A record is two striped adds, to the sum of all values and to the cell of its value (`columns`),
//! after a look at the extremes (`extremes`). The `scale` maps a value to its cell. A read takes
//! the cells that may have been used (`reading`), and makes a `distribution` of them. A drain moves
//! a `baseline`, and resets nothing.

use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use crate::exemplar::Exemplars;
use crate::histogram::baseline::Baseline;
use crate::histogram::columns::Columns;
use crate::histogram::extremes::Extremes;
use crate::histogram::reading::{Reading, each_since, put_used, used};
use crate::recorded_value::Recorded;
use crate::sync::const_fn;
use crate::timer::Timer;

mod baseline;
mod columns;
mod distribution;
mod exemplars;
mod extremes;
mod reading;
mod scale;

pub use crate::error::ScaleError;
pub use distribution::Distribution;
pub use scale::Scale;

/// A sharded latency histogram, to which all cores can record at once: counts, sum, extremes, and
/// quantiles (percentiles) to a stated error.
///
/// ```
/// use windrow::Histogram;
///
/// static RT: Histogram = Histogram::new(); // nanoseconds, from half a microsecond to a minute
///
/// std::thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| (1..=1_000).for_each(|micros| RT.record(micros * 1_000)));
///     }
/// });
/// let now = RT.distribution();
/// assert_eq!((now.count(), now.max()), (4_000, Some(1_000_000)));
/// let p99 = now.quantile(0.99).unwrap() as f64;
/// assert!((p99 - 990_000.0).abs() <= 990_000.0 * now.scale().error_bound() + 0.5);
/// ```
///
/// Count, sum, minimum, maximum and the count of each cell are exact; the sum is that of the values
/// below 2^60 ([why](Recorded#sums)). A cell holds values that
/// differ by at most 9 %, so a percentile is right to 4.3 %; another [`Scale`] has finer or coarser
/// cells, or another range. Values outside of the scale's range are counted in two further cells.
///
/// # Cost
///
/// A record is two adds of a [`Counter`](crate::Counter), and a few instructions to find the cell.
/// It never fails, panics or waits; the first one allocates. A read loads, in each [open
/// row](crate::diagnostics::strategy#rows), the cells from that of the least value ever recorded to
/// that of the greatest.
///
/// A histogram has a number for each of its scale's [cells](Scale::cells), and three more: the sum,
/// and the counts below and above the range. Each number takes 8 bytes: on the heap from the first
/// record on, and in each open row. From the first drain on, the heap has once more those from the
/// first cell that was used to the last. A histogram that needs more than 64 numbers takes the next
/// multiple of 64 in each row. With the default scale these are 219 numbers, 1.8 kB, and 2 kB in
/// each row; a scale of 61 cells takes half a kilobyte there, and one of 62 cells a whole one.
///
/// # While others record
///
/// A distribution is *not* an atomic snapshot: records that are being made may be included or not.
/// Its count is the sum of its cells. Each value that it counts is included in its sum and lies
/// within its extremes. The sum may be ahead of the count, by the values of records that are being
/// made.
///
/// # Drains
///
/// [`take`](Self::take) returns the records since the last call, and starts anew. It resets no
/// cell: it moves a *baseline* up to its reading, in one step. Every record is counted by exactly
/// one call, however many threads call at once. (A record that is made at that moment may have its
/// value in the sum of one call and be counted by the next.)
///
/// # Minimum and maximum
///
/// The histogram keeps the all-time extremes: a value that is no new extreme leaves no trace in
/// them. So they are exact in [`lifetime`](Self::lifetime), and in
/// [`distribution`](Self::distribution) as long as nothing was drained. After a drain they are
/// bounds: no value is beyond them, and they lie in the cells of the smallest and of the largest
/// value; [`has_exact_extremes`](Distribution::has_exact_extremes) is then false. (For the exact
/// ones of each second or minute, record a [`Value`](crate::Kind::Value) in a
/// [`SlidingWindow`](crate::SlidingWindow).)
#[doc(alias = "latency histogram")]
#[doc(alias = "HdrHistogram")]
pub struct Histogram {
    pub(crate) scale: Scale,
    columns: Columns,
    extremes: Extremes,
    baseline: Baseline,
    exemplars: Exemplars,
}

impl Histogram {
    const_fn! {
        /// Returns a histogram with nothing recorded, with the [default scale](Scale::DEFAULT).
        ///
        /// ```
        /// static RT: windrow::Histogram = windrow::Histogram::new();
        /// assert_eq!(RT.count(), 0);
        /// ```
        pub const fn new() -> Histogram {
            Histogram::with_scale(Scale::DEFAULT)
        }
    }

    const_fn! {
        /// Returns a histogram with nothing recorded, with the cells of `scale`.
        ///
        /// ```
        /// use windrow::{Histogram, histogram::Scale};
        ///
        /// static BYTES: Histogram = Histogram::with_scale(Scale::fixed::<2, 1, { 1 << 30 }>());
        /// BYTES.record(700);
        /// assert_eq!(BYTES.quantile(0.5), Some(700)); // all values are the same
        /// ```
        pub const fn with_scale(scale: Scale) -> Histogram {
            Histogram {
                scale,
                columns: Columns::new(scale.places()),
                extremes: Extremes::new(),
                baseline: Baseline::new(),
                exemplars: Exemplars::new(),
            }
        }
    }

    /// Records a value: a `u64`, or a [`Duration`] as its nanoseconds.
    ///
    /// Never fails, panics or waits. Release: a thread that counts this record sees what this
    /// thread did before.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let latency = windrow::Histogram::new();
    /// latency.record(1_250_000);
    /// latency.record(Duration::from_millis(2));
    /// assert_eq!((latency.count(), latency.sum()), (2, 3_250_000));
    /// ```
    #[inline]
    #[doc(alias = "observe")]
    #[doc(alias = "record_duration")]
    pub fn record(&self, value: impl Recorded) {
        let value = value.number();
        if self.extremes.have(value) {
            self.columns.record(self.scale.place(value), value, 1);
        } else {
            self.record_beyond(value, 1);
        }
    }

    /// Records a value beyond the extremes, or one that is no part of the sum. Out of line, so that
    /// any other record needs few registers.
    #[cold]
    #[inline(never)]
    fn record_beyond(&self, value: u64, times: u64) {
        let summand = self.extremes.include(value);
        self.columns.record(self.scale.place(value), summand.wrapping_mul(times), times);
    }

    /// Records `value` `times` times, at the cost of a single [`record`](Self::record). Records
    /// nothing if `times` is zero.
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// latency.record_many(2_000, 3);
    /// let now = latency.distribution();
    /// assert_eq!((now.count(), now.sum()), (3, 6_000));
    /// ```
    #[inline]
    #[doc(alias = "record_n")]
    pub fn record_many(&self, value: impl Recorded, times: u64) {
        let value = value.number();
        if times == 0 {
            return;
        }
        if self.extremes.have(value) {
            self.columns.record(self.scale.place(value), value.wrapping_mul(times), times);
        } else {
            self.record_beyond(value, times);
        }
    }

    /// Returns the distribution of the values recorded since the histogram was made or last
    /// [drained](Self::take).
    ///
    /// Records that run at the same time may be included or not. Acquire. Costs a load of each
    /// cell, from the first that was used to the last, in each [open
    /// row](crate::diagnostics::strategy#rows), and an allocation or two.
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// latency.record(2_000);
    /// latency.record(3_000);
    /// let now = latency.distribution();
    /// assert_eq!((now.count(), now.sum()), (2, 5_000));
    /// assert_eq!((now.min(), now.max()), (Some(2_000), Some(3_000)));
    /// ```
    #[inline]
    pub fn distribution(&self) -> Distribution {
        self.baseline.settled(|before| self.since(before))
    }

    /// Returns the distribution of all values ever recorded, drained or not.
    ///
    /// For exporters, whose counts must never go back: of successive results on one thread, none
    /// has a smaller count in any cell, until that wraps at 2^64. In all other respects like
    /// [`distribution`](Self::distribution).
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// latency.record(2_000);
    /// _ = latency.take();
    /// latency.record(3_000);
    /// assert_eq!((latency.distribution().count(), latency.lifetime().count()), (1, 2));
    /// ```
    #[inline]
    pub fn lifetime(&self) -> Distribution {
        self.since(None)
    }

    /// Returns the distribution of the values recorded since the last call, and starts anew (a
    /// drain).
    ///
    /// Every record is counted by exactly one call, however many threads call at once. Acquire and
    /// Release. Costs a [`distribution`](Self::distribution) and one more allocation.
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// latency.record(2_000);
    /// assert_eq!(latency.take().count(), 1);
    /// latency.record(3_000);
    /// latency.record(3_000);
    /// let taken = latency.take();
    /// assert_eq!((taken.count(), taken.sum()), (2, 6_000));
    /// assert_eq!(latency.take().count(), 0);
    /// ```
    #[must_use = "the values are lost otherwise: to restart without them, write `_ = it.take()`"]
    #[doc(alias = "reset")]
    #[doc(alias = "clear")]
    #[doc(alias = "drain")]
    #[doc(alias = "getThenReset")]
    #[inline]
    pub fn take(&self) -> Distribution {
        let (more, is_first) = self.baseline.drain(|| self.read());
        self.distribution_of(more.cells(), more.sum(), is_first)
    }

    /// Returns the number of values recorded since the histogram was made or last drained: the
    /// count of its [`distribution`](Self::distribution). Acquire. Costs the same loads, and
    /// allocates nothing.
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// latency.record(2_000);
    /// assert_eq!(latency.count(), 1);
    /// ```
    #[inline]
    pub fn count(&self) -> u64 {
        self.baseline.settled(|before| {
            let mut count = 0_u64;
            self.each_count(before, |_, counts| {
                count = counts.iter().fold(count, |all, count| all.saturating_add(*count));
            });
            count
        })
    }

    /// Returns the [sum](Recorded#sums) of the values recorded since the histogram was made or last
    /// drained, modulo 2^64. Acquire. Costs a load for each [open
    /// row](crate::diagnostics::strategy#rows), and allocates nothing.
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// latency.record(2_000);
    /// latency.record(3_000);
    /// assert_eq!(latency.sum(), 5_000);
    /// ```
    #[inline]
    pub fn sum(&self) -> u64 {
        self.baseline.settled(|before| self.sum_since(before))
    }

    /// Estimates the `q`-quantile, with `q` from 0 to 1, of the values recorded since the histogram
    /// was made or last drained: for 0.99 the 99th percentile. Durations are nanoseconds:
    /// `.map(Duration::from_nanos)`. For several quantiles, take a
    /// [`distribution`](Self::distribution), and ask it.
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// assert_eq!(latency.quantile(0.99), None);
    /// latency.record(2_000);
    /// assert_eq!(latency.quantile(0.99), Some(2_000));
    /// ```
    #[doc(alias = "percentile")]
    #[doc(alias = "quantile_duration")]
    #[inline]
    pub fn quantile(&self, q: f64) -> Option<u64> {
        self.distribution().quantile(q)
    }

    /// Starts a timer, which records its own lifetime as a duration when it is dropped.
    ///
    /// ```
    /// static LATENCY: windrow::Histogram = windrow::Histogram::new();
    ///
    /// fn answer() -> u16 {
    ///     let _timer = LATENCY.timer();
    ///     200 // records the duration when the function ends, by an error or a panic too
    /// }
    ///
    /// answer();
    /// assert_eq!(LATENCY.count(), 1);
    /// ```
    #[doc(alias = "start_timer")]
    #[doc(alias = "observe_closure_duration")]
    #[doc(alias = "observe_duration")]
    #[inline]
    pub fn timer(&self) -> Timer<impl FnMut(Duration)> {
        Timer::new(|elapsed| self.record(elapsed))
    }

    /// Returns whether each core adds to a cell of its own. False before the first record, and for
    /// good if that record found the arena full ([`columns`](crate::diagnostics::columns)): then
    /// all threads add to shared cells, which is as exact, and contend.
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// latency.record(2_000);
    /// assert!(latency.is_striped());
    /// ```
    #[inline]
    pub fn is_striped(&self) -> bool {
        self.columns.is_striped()
    }

    #[inline]
    fn read(&self) -> Reading {
        Reading::of(&self.columns, used(self.scale, &self.extremes))
    }

    fn each_count(&self, before: Option<&Reading>, see: impl FnMut(usize, &[u64])) {
        let used = used(self.scale, &self.extremes);
        each_since(before, &self.columns, used, see);
    }

    fn sum_since(&self, before: Option<&Reading>) -> u64 {
        self.columns.sum().wrapping_sub(before.map_or(0, Reading::sum))
    }

    /// Reads the cells since `before`, and then the sum and the extremes.
    fn since(&self, before: Option<&Reading>) -> Distribution {
        let mut cells = Vec::new();
        self.each_count(before, |first, counts| put_used(first, counts, &mut cells));
        self.distribution_of(cells, self.sum_since(before), before.is_none())
    }

    /// Makes a distribution of cells that were read before, and reads the extremes after them.
    /// These are the all-time extremes, which are exact if the cells are all-time counts (`all`).
    #[inline]
    fn distribution_of(&self, cells: Vec<(u16, u64)>, sum: u64, all: bool) -> Distribution {
        Distribution::of_used(self.scale, cells, sum, self.extremes.get(), all)
    }
}

/// Returns a histogram with nothing recorded, with the default scale.
impl Default for Histogram {
    fn default() -> Histogram {
        Histogram::new()
    }
}

/// Shows the [distribution](Histogram::distribution).
impl Debug for Histogram {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Histogram").field(&self.distribution()).finish()
    }
}

//! The metrics of a recorder as values.

use std::iter;
use std::sync::Arc;

use metrics::Unit;

use crate::kind::Kind;
use crate::names::Labels;
use crate::problem::Problem;

/// All metrics of a recorder at one read, from [`Handle::snapshot`](crate::Handle::snapshot).
/// Displayed as the Prometheus text.
///
/// ```
/// use windrow_metrics::{Recorder, Value};
///
/// let recorder = Recorder::builder().build()?;
/// metrics::with_local_recorder(&recorder, || {
///     metrics::counter!("requests", "method" => "GET").increment(2);
///     metrics::counter!("requests", "method" => "PUT").increment(1);
/// });
/// let snapshot = recorder.handle().snapshot();
/// for family in snapshot.families() {
///     for series in &family.series {
///         println!("{} {:?}: {:?}", family.name, series.label("method"), series.value);
///     }
/// }
/// assert_eq!(snapshot.get("requests", &[("method", "GET")]), Some(&Value::Counter(2)));
/// # Ok::<(), windrow_metrics::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub(crate) families: Vec<Family>,
    pub(crate) problems: Vec<Problem>,
}

impl Snapshot {
    /// Returns the metrics, by kind and then by exported name. Each name is there once.
    pub fn families(&self) -> &[Family] {
        &self.families
    }

    /// Returns the value of the series that is exported by this name and these labels, in any
    /// order.
    ///
    /// Searches all series: for tests, and for reading a few numbers.
    pub fn get(&self, name: &str, labels: &[(&str, &str)]) -> Option<&Value> {
        let family = self.families.iter().find(|family| family.name == name)?;
        let has_all = |series: &&Series| {
            series.labels.len() == labels.len()
                && labels.iter().all(|(label, value)| series.label(label) == Some(value))
        };
        family.series.iter().find(has_all).map(|series| &series.value)
    }

    /// Returns the problems: metrics that are exported differently from what the program may
    /// expect, and refused updates. Empty if there are none.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }
}

/// The series of one name.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Family {
    /// The exported name.
    pub name: String,
    /// The kind of metric.
    pub kind: Kind,
    /// The unit of its description.
    pub unit: Option<Unit>,
    /// The description.
    pub help: Option<String>,
    /// Its series, ordered by their labels. There is at least one.
    pub series: Vec<Series>,
}

/// A series: its labels, and a number or a histogram.
#[derive(Clone, Debug)]
pub struct Series {
    pub(crate) labels: Labels,
    /// The value of the series.
    pub value: Value,
}

impl Series {
    /// Returns the names and values of the labels, by name.
    pub fn labels(&self) -> impl Iterator<Item = (&str, &str)> {
        self.labels.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Returns the value of the label `name`.
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels().find(|(label, _)| *label == name).map(|(_, value)| value)
    }
}

/// The value of a series.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// The total of a counter.
    Counter(u64),
    /// A gauge's value.
    Gauge(f64),
    /// The distribution of the values recorded in a histogram.
    Histogram(Distribution),
}

/// The distribution of the values recorded in a histogram.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    pub(crate) counts: Counted,
    pub(crate) sum: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Counted {
    /// Cells of steps, and the number of steps in a value of 1.
    Cells(windrow::histogram::Distribution, u32),
    /// Bounds, and the count of each bucket: one more than bounds.
    Buckets(Arc<[f64]>, Box<[u64]>),
}

impl Distribution {
    /// Returns the number of values that were recorded.
    pub fn count(&self) -> u64 {
        match &self.counts {
            Counted::Cells(cells, _) => cells.count(),
            Counted::Buckets(_, counts) => {
                counts.iter().fold(0, |sum, count| sum.wrapping_add(*count))
            }
        }
    }

    /// Returns the sum of the values. Each value is rounded to a multiple of 10^-12 before it is
    /// added, so the sum of `n` values is off by at most `n` times half of that. A `Duration` of up
    /// to an hour is exact. The sum has room for 2^43 values and a total of 2^63.
    pub fn sum(&self) -> f64 {
        self.sum
    }

    /// Estimates the `q`-quantile, `0.0..=1.0` (0.99 for the 99th percentile): the exact value,
    /// give or take the [error](windrow::histogram::Scale::error_bound) of the histogram's scale,
    /// and a step.
    ///
    /// Returns `None` if there is no value, if `q` is not a number from 0 to 1, or if the histogram
    /// counts at [bounds](crate::Builder::buckets) that the program has chosen.
    ///
    /// ```
    /// # use windrow_metrics::{Recorder, Value};
    /// let recorder = Recorder::builder().build()?;
    /// metrics::with_local_recorder(&recorder, || {
    ///     (1..=100).for_each(|n| metrics::histogram!("seconds").record(f64::from(n) * 0.01));
    /// });
    /// let snapshot = recorder.handle().snapshot();
    /// let Some(Value::Histogram(seconds)) = snapshot.get("seconds", &[]) else { panic!() };
    /// let p99 = seconds.quantile(0.99).unwrap();
    /// let error = windrow::histogram::Scale::DEFAULT.error_bound();
    /// assert!((p99 - 0.99).abs() <= 0.99 * error + 1e-9);
    /// # Ok::<(), windrow_metrics::BuildError>(())
    /// ```
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let (cells, steps) = self.cells().zip(self.steps())?;
        Some(cells.quantile(q)? as f64 / f64::from(steps))
    }

    /// Returns the cells, whose values are steps (by default, nanoseconds), for example to merge
    /// those of several processes. Returns `None` if the histogram counts at
    /// [bounds](crate::Builder::buckets) that the program has chosen.
    ///
    /// Its `sum` wraps at 2^64 steps, where [`sum`](Self::sum) does not.
    pub fn cells(&self) -> Option<&windrow::histogram::Distribution> {
        let Counted::Cells(cells, _) = &self.counts else { return None };
        Some(cells)
    }

    /// Returns the number of steps in a value of 1, by default 1 000 000 000. Returns `None` if the
    /// histogram counts at [bounds](crate::Builder::buckets) that the program has chosen.
    ///
    /// ```
    /// # use windrow_metrics::{Recorder, Value};
    /// let recorder = Recorder::builder().build()?;
    /// metrics::with_local_recorder(&recorder, || metrics::histogram!("seconds").record(0.25));
    /// let snapshot = recorder.handle().snapshot();
    /// let Some(Value::Histogram(seconds)) = snapshot.get("seconds", &[]) else { panic!() };
    /// assert_eq!(seconds.steps(), Some(1_000_000_000));
    /// # Ok::<(), windrow_metrics::BuildError>(())
    /// ```
    pub fn steps(&self) -> Option<u32> {
        let Counted::Cells(_, steps) = self.counts else { return None };
        Some(steps)
    }

    /// Returns the buckets: each bound, with the number of values not greater than it. The last
    /// bound is infinite.
    ///
    /// The bounds are those that the program has chosen, or the octaves of the scale. Counts at
    /// them are exact (of values rounded to steps).
    ///
    /// ```
    /// # use windrow_metrics::{Recorder, Value};
    /// let recorder = Recorder::builder().buckets(&[0.1, 1.0]).build()?;
    /// metrics::with_local_recorder(&recorder, || {
    ///     metrics::histogram!("seconds").record(0.5);
    ///     metrics::histogram!("seconds").record(7);
    /// });
    /// let snapshot = recorder.handle().snapshot();
    /// let Some(Value::Histogram(seconds)) = snapshot.get("seconds", &[]) else { panic!() };
    /// let buckets: Vec<_> = seconds.buckets().collect();
    /// assert_eq!(buckets, [(0.1, 0), (1.0, 1), (f64::INFINITY, 2)]);
    /// assert_eq!((seconds.count(), seconds.sum()), (2, 7.5));
    /// # Ok::<(), windrow_metrics::BuildError>(())
    /// ```
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64)> {
        let finite: Vec<(f64, u64)> = match &self.counts {
            Counted::Cells(cells, steps) => {
                let octaves = cells.scale().octaves().filter(|end| *end < u64::MAX);
                let real = |(end, count)| (end as f64 / f64::from(*steps), count);
                cells.buckets(octaves).map(real).collect()
            }
            Counted::Buckets(bounds, counts) => {
                let cumulative = counts.iter().scan(0_u64, |below, count| {
                    *below = below.wrapping_add(*count);
                    Some(*below)
                });
                bounds.iter().copied().zip(cumulative).collect()
            }
        };
        finite.into_iter().chain(iter::once((f64::INFINITY, self.count())))
    }
}

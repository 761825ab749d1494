//! A metric of any type.

use super::form::Form;
use super::window::AnyWindow;
use crate::clock::Clock;
use crate::counters::{Counter, Gauge, Maximum, Minimum};
use crate::event::Events;
use crate::histogram::{Distribution, Histogram};
use crate::in_flight::InFlight;
use crate::window::SlidingWindow;

/// A reference to a metric of any exported type.
///
/// [`Series::metric`](super::Series::metric) returns one. An exporter that shows numbers by name
/// calls [`read`](Self::read), which is the same for each type. One that has a way of its own to
/// show a type matches on it, and then has all methods of that metric:
///
/// ```
/// use windrow::Histogram;
/// use windrow::export::{AnyMetric, Exported};
///
/// fn show(metric: AnyMetric<'_>) -> String {
///     match metric {
///         AnyMetric::Histogram(histogram) => histogram.distribution().to_string(),
///         AnyMetric::Window(window) => format!("{} events", window.events().len()),
///         other => format!("{:?}", other.form()),
///     }
/// }
///
/// let latency = Histogram::new();
/// assert_eq!(show(latency.any()), latency.distribution().to_string());
/// assert_eq!(show(AnyMetric::Real(0.5)), "Real");
/// ```
///
/// The enum is exhaustive, so the compiler tells an exporter that names all types when there is
/// another.
#[derive(Clone, Copy)]
pub enum AnyMetric<'m> {
    /// A sum that only grows, unless it is drained.
    Counter(&'m Counter),
    /// A sum that goes up and down.
    Gauge(&'m Gauge),
    /// The number of operations in progress.
    InFlight(&'m InFlight),
    /// The greatest value ever recorded.
    Maximum(&'m Maximum),
    /// The least value ever recorded.
    Minimum(&'m Minimum),
    /// A number of the program's own, which was read to make this.
    Real(f64),
    /// An all-time total of the program's own, which was read to make this.
    RealTotal(f64),
    /// An all-time count of the program's own, which was read to make this; `None` if there is no
    /// such number at the moment.
    Count(Option<u64>),
    /// A histogram.
    Histogram(&'m Histogram),
    /// All values ever recorded in a histogram of the program's own, which was read to make this.
    Distribution(&'m Distribution),
    /// A sliding window.
    Window(&'m dyn AnyWindow),
    /// Several metrics, by name: see [`fields`](super::fields()).
    Fields(&'m dyn Fields),
}

impl AnyMetric<'_> {
    /// Returns the metric's type.
    #[inline]
    pub fn form(self) -> Form {
        match self {
            AnyMetric::Counter(_) | AnyMetric::Count(_) => Form::Counter,
            AnyMetric::Gauge(_) => Form::Gauge,
            AnyMetric::InFlight(_) => Form::InFlight,
            AnyMetric::Maximum(_) => Form::Maximum,
            AnyMetric::Minimum(_) => Form::Minimum,
            AnyMetric::Real(_) => Form::Real,
            AnyMetric::RealTotal(_) => Form::RealTotal,
            AnyMetric::Histogram(histogram) => Form::Histogram(histogram.scale),
            AnyMetric::Distribution(values) => Form::Histogram(values.scale()),
            AnyMetric::Window(window) => Form::Window(window.events(), window.units()),
            AnyMetric::Fields(_) => Form::Fields,
        }
    }
}

/// A metric that can be exported.
///
/// Implement it for a struct that holds one metric for exporters:
///
/// ```
/// use windrow::Counter;
/// use windrow::export::{AnyMetric, Exported};
///
/// struct Requests { count: Counter, limit: u64 }
///
/// impl Exported for Requests {
///     fn any(&self) -> AnyMetric<'_> { self.count.any() }
/// }
/// ```
///
/// A struct of several metrics is declared by [`metrics!`](crate::metrics!); one that is written by
/// hand is exported field by field, by [`field`](super::field()). For a number that is none of the
/// library's metrics, see [`from_fn`](super::from_fn()), [`total_fn`](super::total_fn),
/// [`field_fn`](super::field_fn) and [`field_count_fn`](super::field_count_fn).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be exported",
    note = "counters, gauges, maxima, minima, histograms and sliding windows can; of a struct that \
            holds several metrics, export each by `windrow::export::field`, or declare it by \
            `windrow::metrics!`",
    note = "a number of any other type is exported by `windrow::export::from_fn`, or for each \
            series of a family by `windrow::export::field_fn`"
)]
pub trait Exported: Send + Sync + 'static {
    /// Returns a type-erased reference to the metric.
    fn any(&self) -> AnyMetric<'_>;
}

/// The metrics of a struct, by name. [`metrics!`](crate::metrics!) implements it.
pub trait Fields: Send + Sync {
    /// Returns the fields, each with its name, in the order in which they were declared.
    fn all(&self) -> Vec<(&'static str, AnyMetric<'_>)> {
        let named = |(position, name): (usize, &&'static str)| (*name, self.field(position));
        self.names().iter().enumerate().map(named).collect()
    }

    // What follows, only `metrics!` implements.

    /// Returns the names of the fields, in the order of their positions.
    #[doc(hidden)]
    fn names(&self) -> &'static [&'static str];

    /// Returns the metric at a position.
    ///
    /// # Panics
    ///
    /// Panics if there is no field at that position.
    #[doc(hidden)]
    fn field(&self, position: usize) -> AnyMetric<'_>;
}

macro_rules! exported {
    ($($metric:ident),+) => {
        $(
            impl Exported for $metric {
                fn any(&self) -> AnyMetric<'_> {
                    AnyMetric::$metric(self)
                }
            }
        )+
    };
}

exported!(Counter, Gauge, InFlight, Maximum, Minimum, Histogram);

impl<E: Events, C: Clock + Send + Sync + 'static> Exported for SlidingWindow<E, C> {
    fn any(&self) -> AnyMetric<'_> {
        AnyMetric::Window(self)
    }
}

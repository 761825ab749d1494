//! Sources, which exporters visit: a metric, a family, or a field of a family's metrics.

use std::sync::{Arc, Weak};
use std::time::SystemTime;

use super::form::Form;
use super::metric::{AnyMetric, Exported};
use super::outline::Outline;
use crate::clock::Clock;
use crate::counters::{Counter, Gauge, Maximum, Minimum};
use crate::event::Events;
use crate::family::{Family, Handle, LabelValue, Labels, Metric};
use crate::histogram::Histogram;
use crate::in_flight::InFlight;
use crate::window::SlidingWindow;

/// A source of series, which an exporter visits one by one.
///
/// Counters, gauges, maxima, minima, histograms and windows are sources of one series, without a
/// label. A [`Family`] of one of them is a source with labels. A family of structs that
/// [`metrics!`](crate::metrics!) declares is a source, too, which [`fields`](super::fields()) takes
/// apart; of other structs, [`field`](super::field()) makes a source of one field. A number that is
/// none of these becomes a source by [`from_fn`](super::from_fn()), or one for each series of a
/// family by [`field_fn`](super::field_fn); and the heaviest of [`HeavyKeys`](crate::HeavyKeys) by
/// [`top`](super::top()). A [`Breaker`](crate::Breaker) is a source of its all-time counts, a
/// series for each `event`. A `&'static`, an [`Arc`] or a `Box` of a source is a source, too. A
/// [`Weak`] is a source without series once the last `Arc` is dropped.
///
/// Other types may implement it: a pointer of the program's own, which calls the methods of what it
/// points to, or a source that leaves series out. An [`Outline`] is made of a [`Form`].
///
/// A [`Gate`](crate::Gate) and a [`RationedGate`](crate::gate::RationedGate) are no sources: which
/// of a gate's numbers a program needs differs, and none is an all-time total. Export
/// [`granted`](crate::Gate::granted), [`waiting`](crate::Gate::waiting) or
/// [`limit`](crate::Gate::limit) by [`from_fn`](super::from_fn()), or for each client by
/// [`field_fn`](super::field_fn). To count refusals, add to a counter where they are answered.
///
/// ```
/// use std::sync::Arc;
/// use windrow::Counter;
/// use windrow::export::Source;
///
/// static HITS: Counter = Counter::new();
///
/// let hits = Arc::new(Counter::new());
/// let sources: [Box<dyn Source>; 3] =
///     [Box::new(&HITS), Box::new(Arc::downgrade(&hits)), Box::new(hits)];
/// let mut series = 0;
/// for source in &sources {
///     source.visit(&mut |_| series += 1);
/// }
/// assert_eq!(series, 3);
/// ```
pub trait Source: Send + Sync {
    /// Returns the outline of the source.
    ///
    /// For a family of windows or histograms this makes one metric and drops it again: call it when
    /// the source is registered, not at each export.
    fn outline(&self) -> Outline;

    /// Calls `see` with each series, the overflow series last.
    fn visit(&self, see: &mut dyn FnMut(&dyn Series));

    /// Returns the number of uses of the overflow series, in which refused sets of labels count.
    ///
    /// `None` where there can be [no such series](Outline::overflows), and for a [`Weak`] whose
    /// source was dropped.
    fn refused(&self) -> Option<u64> {
        None
    }
}

/// A series of a [`Source`]: a metric and its labels.
///
/// Other types may implement it, for a source of the program's own: each series needs a number of
/// its own, and the same labels at each visit.
pub trait Series {
    /// Returns a number that is unique among the source's series for all time. For exporters that
    /// remember the values they have exported for each series.
    ///
    /// Labels do not identify a series: a set of labels that is used again after a
    /// [removal](Family::remove) has a new series, which begins at zero and has another number. (If
    /// all labels are enums, a set keeps its series and its number.) Each [`Handle`] is a series:
    ///
    /// ```
    /// use windrow::export::Series;
    /// use windrow::{Counter, Family, labels};
    ///
    /// labels! { pub struct Route { route: str } pub struct Flag { on: bool } }
    ///
    /// let routes: Family<Route, Counter> = Family::new();
    /// let first = routes.handle(Route { route: "/a" }).number();
    /// assert_eq!(routes.handle(Route { route: "/a" }).number(), first);
    /// routes.remove(Route { route: "/a" });
    /// assert_ne!(routes.handle(Route { route: "/a" }).number(), first);
    ///
    /// let flags: Family<Flag, Counter> = Family::new();
    /// let first = flags.handle(Flag { on: true }).number();
    /// flags.remove(Flag { on: true });
    /// assert_eq!(flags.handle(Flag { on: true }).number(), first);
    /// ```
    fn number(&self) -> u64;

    /// Returns whether it is the overflow series of a family.
    fn is_overflow(&self) -> bool;

    /// Returns the time at which the series was made, by the system's clock; `None` for a metric
    /// without labels, where it is not known.
    ///
    /// Exporters show it as the start time of the series. A series whose labels are all enums
    /// continues after a removal, so its time stays.
    fn created(&self) -> Option<SystemTime>;

    /// Calls `see` with the name and the value of each label. The overflow series has one label:
    /// `overflow` is `true`.
    fn labels(&self, see: &mut dyn FnMut(&str, LabelValue<'_>));

    /// Returns the metric.
    ///
    /// Calls the function that was given to [`field`](super::field()), if there is one.
    fn metric(&self) -> AnyMetric<'_>;
}

/// A metric without labels, as a single series.
pub(super) struct Single<'m, M>(pub(super) &'m M);

impl<M: Exported> Series for Single<'_, M> {
    #[inline]
    fn number(&self) -> u64 {
        0
    }

    #[inline]
    fn is_overflow(&self) -> bool {
        false
    }

    #[inline]
    fn created(&self) -> Option<SystemTime> {
        None
    }

    #[inline]
    fn labels(&self, _: &mut dyn FnMut(&str, LabelValue<'_>)) {}

    #[inline]
    fn metric(&self) -> AnyMetric<'_> {
        self.0.any()
    }
}

macro_rules! single {
    ($([$($parameter:tt)*] $metric:ty;)+) => {
        $(
            impl<$($parameter)*> Source for $metric {
                #[inline]
                fn outline(&self) -> Outline {
                    Outline::from(self.any().form())
                }

                #[inline]
                fn visit(&self, see: &mut dyn FnMut(&dyn Series)) {
                    see(&Single(self));
                }
            }
        )+
    };
}

single! {
    [] Counter;
    [] Gauge;
    [] InFlight;
    [] Maximum;
    [] Minimum;
    [] Histogram;
    [E: Events, C: Clock + Send + Sync + 'static] SlidingWindow<E, C>;
}

impl<L: Labels, M: Exported> Series for Handle<L, M> {
    fn number(&self) -> u64 {
        Handle::number(self)
    }

    fn is_overflow(&self) -> bool {
        Handle::labels(self).is_none()
    }

    fn created(&self) -> Option<SystemTime> {
        Some(Handle::created(self))
    }

    fn labels(&self, see: &mut dyn FnMut(&str, LabelValue<'_>)) {
        self.each_pair(see);
    }

    fn metric(&self) -> AnyMetric<'_> {
        self.any()
    }
}

/// A series of a family, with the function that returns what is exported of its metric.
struct OfField<'s, L: Labels, M, G> {
    series: &'s Handle<L, M>,
    get: &'s G,
}

impl<L: Labels, M, G: Fn(&M) -> AnyMetric<'_>> Series for OfField<'_, L, M, G> {
    fn number(&self) -> u64 {
        self.series.number()
    }

    fn is_overflow(&self) -> bool {
        self.series.labels().is_none()
    }

    fn created(&self) -> Option<SystemTime> {
        Some(self.series.created())
    }

    fn labels(&self, see: &mut dyn FnMut(&str, LabelValue<'_>)) {
        self.series.each_pair(see);
    }

    fn metric(&self) -> AnyMetric<'_> {
        (self.get)(self.series)
    }
}

/// Returns the outline of a family with a metric of this form in each series.
pub(super) fn outline_of<L: Labels, M: Metric, F>(family: &Family<L, M, F>, form: Form) -> Outline {
    Outline {
        form,
        labels: family.names().iter().map(|&name| name.to_owned()).collect(),
        max_series: family.max_series(),
        overflows: L::COMBINATIONS.is_none(),
        series_return: L::COMBINATIONS.is_some(),
        fields: Vec::new(),
    }
}

/// Returns the uses of a family's overflow series, if it can have one.
pub(super) fn refused<L: Labels, M: Metric, F>(family: &Family<L, M, F>) -> Option<u64> {
    L::COMBINATIONS.is_none().then(|| family.refused())
}

/// Visits a family, of whose metrics `get` returns what is exported.
pub(super) fn visit_fields<L: Labels, M: Metric, F>(
    family: &Family<L, M, F>,
    get: impl Fn(&M) -> AnyMetric<'_>,
    see: &mut dyn FnMut(&dyn Series),
) {
    for series in family {
        see(&OfField { series: &series, get: &get });
    }
}

impl<L, M, F> Source for Family<L, M, F>
where
    L: Labels,
    M: Metric + Exported,
    F: Fn() -> M + Send + Sync,
{
    fn outline(&self) -> Outline {
        let sample = self.sample();
        outline_of(self, sample.any().form()).with_fields_of(sample.any())
    }

    fn visit(&self, see: &mut dyn FnMut(&dyn Series)) {
        self.iter().for_each(|series| see(&series));
    }

    fn refused(&self) -> Option<u64> {
        refused(self)
    }
}

/// A pointer that holds a source while it is visited.
macro_rules! holders {
    ($($holder:ty),+) => {
        $(
            impl<S: Source + ?Sized> Source for $holder {
                fn outline(&self) -> Outline {
                    (**self).outline()
                }

                fn visit(&self, see: &mut dyn FnMut(&dyn Series)) {
                    (**self).visit(see);
                }

                fn refused(&self) -> Option<u64> {
                    (**self).refused()
                }
            }
        )+
    };
}

holders!(&S, Arc<S>, Box<S>);

/// Has no series once the last `Arc` is dropped, and then the outline of a counter without labels.
impl<S: Source + ?Sized> Source for Weak<S> {
    fn outline(&self) -> Outline {
        let gone = || Outline::from(Form::Counter);
        self.upgrade().map_or_else(gone, |source| source.outline())
    }

    fn visit(&self, see: &mut dyn FnMut(&dyn Series)) {
        if let Some(source) = self.upgrade() {
            source.visit(see);
        }
    }

    fn refused(&self) -> Option<u64> {
        self.upgrade()?.refused()
    }
}

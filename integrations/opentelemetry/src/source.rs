//! What can be observed: a metric, a family, a field of a family's metrics; by reference or weakly.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use opentelemetry::{Key, KeyValue};
use windrow::{
    Clock, Counter, Events, Family, Gauge, Histogram, InFlight, LabelValue, Labels, Maximum,
    Metric, Minimum, SlidingWindow,
};

use crate::show::{Attributes, Part, Show, Value};
use crate::sums::OVERFLOW;

/// What an [`Observer`](crate::Observer) takes: `&'static T` or `&Arc<T>`, where `T` is a
/// [`Counter`], [`Gauge`], [`InFlight`],
/// [`Histogram`], [`Maximum`], [`Minimum`], [`SlidingWindow`], or a [`Family`] of one of them; or a [`Field`] of a family's metrics.
///
/// Of an `Arc` it keeps a `Weak`: what was observed is exported until the last `Arc` is dropped.
pub trait Source: Look {}

impl<S: Look> Source for S {}

/// What there can be, whatever it counts.
#[derive(Debug)]
pub struct Outline {
    pub(crate) parts: &'static [Part],
    pub(crate) labels: Vec<String>,
    /// The attributes beside those.
    pub(crate) more: &'static [&'static str],
    /// Whether there may be labels that find no room: then there is a part more, which says how
    /// often.
    pub(crate) overflows: bool,
    /// How many series there can be.
    pub(crate) series: usize,
    /// How many sets of attributes a part of a series has at most, and a part that is a gauge.
    pub(crate) most: (usize, usize),
    /// Whether a series that is not there may return with what it had counted.
    pub(crate) returns: bool,
}

/// What was read of a part of a series.
#[derive(Debug)]
pub struct Reading<'r> {
    /// The number of the series.
    pub(crate) series: u64,
    /// Whether it is the series of all sets that found no room.
    pub(crate) is_overflow: bool,
    /// Those of the series.
    pub(crate) attributes: &'r [KeyValue],
    /// Each with the attributes beside those. If reading has panicked, those before.
    pub(crate) values: Vec<(Attributes, Value)>,
}

/// Where readings go.
pub(crate) type Put<'p> = &'p mut dyn FnMut(Reading<'_>);

/// Reads a part, by its number, and puts what there is of each series.
pub(crate) type Looking = Arc<dyn Fn(usize, Put<'_>) + Send + Sync>;

/// Something that can be looked at as long as it is there.
pub trait Look {
    fn outline(&self) -> Outline;
    fn look(self) -> Looking;
}

/// What is looked at the same, however it is held.
pub trait Observed: Send + Sync + 'static {
    fn outline(&self) -> Outline;
    fn observe(&self, part: usize, put: Put<'_>);
}

impl<T: Observed> Look for &'static T {
    fn outline(&self) -> Outline {
        T::outline(self)
    }

    fn look(self) -> Looking {
        Arc::new(|part, put| self.observe(part, put))
    }
}

impl<T: Observed> Look for &Arc<T> {
    fn outline(&self) -> Outline {
        T::outline(self)
    }

    fn look(self) -> Looking {
        let weak = Arc::downgrade(self);
        Arc::new(move |part, put| {
            if let Some(there) = weak.upgrade() {
                there.observe(part, put);
            }
        })
    }
}

/// A metric without labels.
macro_rules! observed {
    ($([$($parameter:tt)*] $metric:ty;)+) => {
        $(
            impl<$($parameter)*> Observed for $metric {
                fn outline(&self) -> Outline {
                    Outline {
                        parts: Self::PARTS,
                        labels: Vec::new(),
                        more: Self::ATTRIBUTES,
                        overflows: false,
                        series: 1,
                        most: (Self::MOST, Self::MOST_GAUGES),
                        returns: false,
                    }
                }

                fn observe(&self, part: usize, put: Put<'_>) {
                    put(Reading { series: 0, is_overflow: false, attributes: &[], values: read(|| self, part) });
                }
            }
        )+
    };
}

observed! {
    [] Counter;
    [] Gauge;
    [] InFlight;
    [] Histogram;
    [] Maximum;
    [] Minimum;
    [E: Events, C: Clock + Send + Sync + 'static] SlidingWindow<E, C>;
}

/// What a metric has of a part. If reading it panics, it has no more: what reads for an exporter
/// goes on.
fn read<'m, M: Show>(metric: impl FnOnce() -> &'m M, part: usize) -> Vec<(Attributes, Value)> {
    let mut read = Vec::new();
    let reading = || metric().show(part, &mut |more, value| read.push((more, value)));
    // A metric is not changed by being read. (And what panics has been told of by the panic
    // itself.)
    let _ = catch_unwind(AssertUnwindSafe(reading));
    read
}

impl<L, M, F> Observed for Family<L, M, F>
where
    L: Labels,
    M: Metric + Show,
    F: Send + Sync + 'static,
{
    fn outline(&self) -> Outline {
        outline_of_family::<L, M, F, M>(self)
    }

    fn observe(&self, part: usize, put: Put<'_>) {
        observe_family(self, |metric| metric, part, put);
    }
}

/// A field of the metrics of a family: from [`field`].
#[derive(Clone, Copy)]
pub struct Field<S: OfFamily, N> {
    family: S,
    field: fn(&S::Metric) -> &N,
}

/// A field of each metric of a family whose metrics are structs of several: each field has a name
/// of its own.
///
/// ```
/// use opentelemetry::global::meter;
/// use windrow::{Counter, Family, Gauge, Metric, labels};
/// use windrow_opentelemetry::{Observer, field};
///
/// labels! { pub struct Route { route: str } }
///
/// #[derive(Default)]
/// struct Endpoint { requests: Counter, open: Gauge }
///
/// impl Metric for Endpoint {
///     type Total = (u64, i64);
///     fn total(&self) -> (u64, i64) { (self.requests.total(), self.open.total()) }
///     fn merge(one: &mut (u64, i64), other: (u64, i64)) {
///         Counter::merge(&mut one.0, other.0);
///         Gauge::merge(&mut one.1, other.1);
///     }
/// }
///
/// static ENDPOINTS: Family<Route, Endpoint> = Family::new();
///
/// let mut observer = Observer::new(meter("shop"));
/// observer.observe("requests", "Requests by route", field(&ENDPOINTS, |endpoint| &endpoint.requests))?;
/// observer.observe("open", "Open requests by route", field(&ENDPOINTS, |endpoint| &endpoint.open))?;
/// # Ok::<(), windrow_opentelemetry::ObserveError>(())
/// ```
pub fn field<S: OfFamily, N>(family: S, field: fn(&S::Metric) -> &N) -> Field<S, N> {
    Field { family, field }
}

impl<S: OfFamily, N: Show> Look for Field<S, N> {
    fn outline(&self) -> Outline {
        self.family.outline_of::<N>()
    }

    fn look(self) -> Looking {
        self.family.look_at(self.field)
    }
}

/// A family, by reference or shared.
pub trait OfFamily {
    type Metric;

    fn outline_of<N: Show>(&self) -> Outline;
    fn look_at<N: Show>(self, field: fn(&Self::Metric) -> &N) -> Looking;
}

impl<L: Labels, M: Metric, F: Send + Sync + 'static> OfFamily for &'static Family<L, M, F> {
    type Metric = M;

    fn outline_of<N: Show>(&self) -> Outline {
        outline_of_family::<L, M, F, N>(self)
    }

    fn look_at<N: Show>(self, field: fn(&M) -> &N) -> Looking {
        Arc::new(move |part, put| observe_family(self, field, part, put))
    }
}

impl<L: Labels, M: Metric, F: Send + Sync + 'static> OfFamily for &Arc<Family<L, M, F>> {
    type Metric = M;

    fn outline_of<N: Show>(&self) -> Outline {
        outline_of_family::<L, M, F, N>(self)
    }

    fn look_at<N: Show>(self, field: fn(&M) -> &N) -> Looking {
        let weak = Arc::downgrade(self);
        Arc::new(move |part, put| {
            if let Some(there) = weak.upgrade() {
                observe_family(&there, field, part, put);
            }
        })
    }
}

fn outline_of_family<L: Labels, M: Metric, F, N: Show>(family: &Family<L, M, F>) -> Outline {
    let overflows = L::COMBINATIONS.is_none();
    Outline {
        parts: N::PARTS,
        labels: family.names().iter().map(|&name| name.to_owned()).collect(),
        more: N::ATTRIBUTES,
        overflows,
        series: family.max_series(),
        most: (N::MOST, N::MOST_GAUGES),
        returns: L::COMBINATIONS.is_some(),
    }
}

fn observe_family<L: Labels, M: Metric, F, N: Show>(
    family: &Family<L, M, F>,
    field: impl Fn(&M) -> &N,
    part: usize,
    put: Put<'_>,
) {
    if part == N::PARTS.len() {
        let values = vec![([None, None], Value::Unsigned(family.refused()))];
        return put(Reading { series: 0, is_overflow: false, attributes: &[], values });
    }
    // Copied once: a key's clone shares the text.
    let keys: Vec<Key> =
        family.names().iter().map(|&name| Key::from(Arc::<str>::from(name))).collect();
    let mut attributes = Vec::new();
    for series in family {
        attributes.clear();
        if series.labels().is_some() {
            let values = series.pairs().map(|(_, value)| value);
            attributes.extend(keys.iter().zip(values).map(|(key, value)| attribute(key, value)));
        } else {
            attributes.push(KeyValue::new(OVERFLOW, "true"));
        }
        put(Reading {
            series: series.number(),
            is_overflow: series.labels().is_none(),
            attributes: &attributes,
            values: read(|| field(&series), part),
        });
    }
}

fn attribute(key: &Key, value: LabelValue<'_>) -> KeyValue {
    let key = key.clone();
    match value {
        LabelValue::Signed(number) => KeyValue::new(key, number),
        LabelValue::Unsigned(number) if number <= i64::MAX.cast_unsigned() => {
            KeyValue::new(key, number.cast_signed())
        }
        text => KeyValue::new(key, text.to_string()),
    }
}

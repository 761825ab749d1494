//! What can be registered: a metric, a family, a field of a family's metrics; by reference or
//! shared.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder};
use prometheus_client::metrics::MetricType;
use windrow::{
    Clock, Counter, Events, Family, Gauge, Handle, Histogram, InFlight, LabelValue, Labels,
    Maximum, Metric, Minimum, SlidingWindow,
};

use crate::buckets::Buckets;
use crate::show::{NoPairs, Pairs, Part, Samples, Show, Value};

/// What [`register`](crate::register) takes: `&'static T`, or an `Arc<T>` or
/// [`Shared<T>`](crate::Shared), where `T` is a [`Counter`], [`Gauge`], [`InFlight`],
/// [`Histogram`], [`Maximum`], [`Minimum`], [`SlidingWindow`], or a [`Family`] of one of them; or a
/// [`Field`] of a family's metrics; or one of these with other [`buckets`](crate::buckets).
pub trait Source: Encode {}

impl<T: Encode> Source for T {}

/// What it looks like, whatever it counts.
#[derive(Debug)]
pub struct Outline<'s> {
    pub(crate) parts: &'static [Part],
    pub(crate) labels: &'s [&'s str],
    /// The labels beside those.
    pub(crate) more: &'static [&'static str],
    /// Whether there may be labels that find no room.
    pub(crate) overflows: bool,
}

impl<'s> Outline<'s> {
    const fn of<M: Show>(labels: &'s [&'s str], overflows: bool) -> Outline<'s> {
        Outline { parts: M::PARTS, labels, more: M::LABELS, overflows }
    }

    /// Of all the samples' labels.
    pub(crate) fn label_names(&self) -> impl Iterator<Item = &'s str> {
        self.labels.iter().chain(self.more).copied()
    }
}

/// A part with its full name and help.
#[derive(Debug)]
pub struct Named {
    pub(crate) name: String,
    pub(crate) help: String,
    pub(crate) kind: MetricType,
}

impl Named {
    pub(crate) fn descriptor<'e>(
        &'e self,
        encoder: &'e mut DescriptorEncoder<'_>,
    ) -> Result<MetricEncoder<'e>, fmt::Error> {
        encoder.encode_descriptor(&self.name, &self.help, None, self.kind)
    }
}

/// Writes what a scrape shows.
pub trait Encode: Send + Sync + 'static {
    fn outline(&self) -> Outline<'_>;

    /// As of [`Show::below`].
    fn below(&self) -> u64;

    /// How its histograms are shown.
    fn buckets(&self) -> &Buckets {
        &Buckets::DEFAULT
    }

    /// `parts` are those of the outline; and, where labels may find no room, the number of these.
    fn encode(
        &self,
        parts: &[Named],
        buckets: &Buckets,
        encoder: &mut DescriptorEncoder<'_>,
    ) -> fmt::Result;
}

/// What is encoded the same, however it is held.
pub trait Held: Send + Sync + 'static {
    fn outline(&self) -> Outline<'_>;
    fn below(&self) -> u64;
    fn encode(
        &self,
        parts: &[Named],
        buckets: &Buckets,
        encoder: &mut DescriptorEncoder<'_>,
    ) -> fmt::Result;
}

impl<T: Held> Encode for &'static T {
    fn outline(&self) -> Outline<'_> {
        T::outline(self)
    }

    fn below(&self) -> u64 {
        T::below(self)
    }

    fn encode(
        &self,
        parts: &[Named],
        buckets: &Buckets,
        encoder: &mut DescriptorEncoder<'_>,
    ) -> fmt::Result {
        T::encode(self, parts, buckets, encoder)
    }
}

impl<T: Held> Encode for Arc<T> {
    fn outline(&self) -> Outline<'_> {
        T::outline(self)
    }

    fn below(&self) -> u64 {
        T::below(self)
    }

    fn encode(
        &self,
        parts: &[Named],
        buckets: &Buckets,
        encoder: &mut DescriptorEncoder<'_>,
    ) -> fmt::Result {
        T::encode(self, parts, buckets, encoder)
    }
}

/// A metric without labels.
macro_rules! held {
    ($([$($parameter:tt)*] $metric:ty;)+) => {
        $(
            impl<$($parameter)*> Held for $metric {
                fn outline(&self) -> Outline<'_> {
                    Outline::of::<$metric>(&[], false)
                }

                fn below(&self) -> u64 {
                    Show::below(self)
                }

                fn encode(
                    &self,
                    parts: &[Named],
                    buckets: &Buckets,
                    encoder: &mut DescriptorEncoder<'_>,
                ) -> fmt::Result {
                    encode_metric(self, parts, buckets, encoder)
                }
            }
        )+
    };
}

held! {
    [] Counter;
    [] Gauge;
    [] InFlight;
    [] Histogram;
    [] Maximum;
    [] Minimum;
    [E: Events, C: Clock + Send + Sync + 'static] SlidingWindow<E, C>;
}

fn encode_metric<M: Show>(
    metric: &M,
    parts: &[Named],
    buckets: &Buckets,
    encoder: &mut DescriptorEncoder<'_>,
) -> fmt::Result {
    let reading = metric.read();
    for (index, part) in parts.iter().enumerate() {
        let mut encoder = part.descriptor(encoder)?;
        M::show(&reading, index, &mut Samples::new(&mut encoder, &NoPairs, buckets))?;
    }
    Ok(())
}

impl<L: Labels, M> Pairs for Handle<L, M> {
    fn any(&self) -> bool {
        Handle::pairs(self).next().is_some()
    }

    fn pairs(&self) -> impl Iterator<Item = (&str, LabelValue<'_>)> {
        Handle::pairs(self)
    }
}

impl<L, M, F> Held for Family<L, M, F>
where
    L: Labels,
    M: Metric + Show,
    F: Fn() -> M + Send + Sync + 'static,
{
    fn outline(&self) -> Outline<'_> {
        Outline::of::<M>(self.names(), L::COMBINATIONS.is_none())
    }

    fn below(&self) -> u64 {
        self.sample().below()
    }

    fn encode(
        &self,
        parts: &[Named],
        buckets: &Buckets,
        encoder: &mut DescriptorEncoder<'_>,
    ) -> fmt::Result {
        encode_family(self, |metric| metric, parts, buckets, encoder)
    }
}

/// A field of the metrics of a family: from [`field`].
#[derive(Clone, Copy)]
pub struct Field<S, M, N> {
    family: S,
    field: fn(&M) -> &N,
}

/// A field of each metric of a family whose metrics are structs of several: each field has a name
/// of its own.
///
/// ```
/// use prometheus_client::{encoding::text::encode, registry::Registry};
/// use windrow::{Counter, Family, Gauge, Metric, labels};
/// use windrow_prometheus::{field, register};
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
/// let mut registry = Registry::default();
/// let requests = field(&ENDPOINTS, |endpoint| &endpoint.requests);
/// register(&mut registry, "requests", "Requests by route", requests)?;
/// register(&mut registry, "open", "Open requests by route", field(&ENDPOINTS, |endpoint| &endpoint.open))?;
///
/// ENDPOINTS.with(Route { route: "/cart" }).requests.add(3);
/// let mut text = String::new();
/// encode(&mut text, &registry)?;
/// assert!(text.contains("\nrequests_total{route=\"/cart\"} 3\n"));
/// assert!(text.contains("\nopen{route=\"/cart\"} 0\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn field<S, L, M, F, N>(family: S, field: fn(&M) -> &N) -> Field<S, M, N>
where
    S: Deref<Target = Family<L, M, F>>,
    L: Labels,
    M: Metric,
{
    Field { family, field }
}

impl<S, L, M, F, N> Encode for Field<S, M, N>
where
    S: Deref<Target = Family<L, M, F>> + Send + Sync + 'static,
    L: Labels,
    M: Metric,
    F: Fn() -> M + 'static,
    N: Show,
{
    fn outline(&self) -> Outline<'_> {
        Outline::of::<N>(self.family.names(), L::COMBINATIONS.is_none())
    }

    fn below(&self) -> u64 {
        (self.field)(&self.family.sample()).below()
    }

    fn encode(
        &self,
        parts: &[Named],
        buckets: &Buckets,
        encoder: &mut DescriptorEncoder<'_>,
    ) -> fmt::Result {
        encode_family(&self.family, self.field, parts, buckets, encoder)
    }
}

/// Writes part by part: the samples of a name stand together.
fn encode_family<L: Labels, M: Metric, F, N: Show>(
    family: &Family<L, M, F>,
    field: impl Fn(&M) -> &N,
    parts: &[Named],
    buckets: &Buckets,
    encoder: &mut DescriptorEncoder<'_>,
) -> fmt::Result {
    let (own, overflow) = parts.split_at(N::PARTS.len());
    if let [only] = own {
        // A series is read, written and let go while it is in the processor's cache.
        let mut encoder = only.descriptor(encoder)?;
        for series in family {
            let mut samples = Samples::new(&mut encoder, &series, buckets);
            N::show(&field(&series).read(), 0, &mut samples)?;
        }
    } else {
        // A series is read once: its samples are of one moment.
        let read = |series: Handle<L, M>| {
            let reading = field(&series).read();
            (series, reading)
        };
        let all: Vec<_> = family.iter().map(read).collect();
        for (index, part) in own.iter().enumerate() {
            let mut encoder = part.descriptor(encoder)?;
            for (series, reading) in &all {
                N::show(reading, index, &mut Samples::new(&mut encoder, series, buckets))?;
            }
        }
    }
    for part in overflow {
        let mut encoder = part.descriptor(encoder)?;
        let mut samples = Samples::new(&mut encoder, &NoPairs, buckets);
        samples.put(Value::Count(family.refused()))?;
    }
    Ok(())
}

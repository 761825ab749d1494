//! Metrics that fit what `prometheus-client` asks of its own.

use std::fmt::{self, Debug, Formatter};
use std::ops::Deref;
use std::sync::Arc;

use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, MetricEncoder};
use prometheus_client::metrics::{MetricType, TypedMetric};

use crate::buckets::Buckets;
use crate::show::{NoPairs, Samples, Show};
use crate::source::{Encode, Held, Named, Outline};

/// A windrow metric that is shared by `clone`, as `prometheus-client`'s own are, and stands
/// wherever one of those does: in its `Registry` and in its `Family`. It dereferences to the
/// metric.
///
/// ```
/// use prometheus_client::metrics::family::Family;
/// use prometheus_client::{encoding::text::encode, registry::Registry};
/// use windrow_prometheus::Counter;
///
/// let requests = Family::<Vec<(String, String)>, Counter>::default();
/// let mut registry = Registry::default();
/// registry.register("requests", "Requests", requests.clone());
///
/// requests.get_or_create(&vec![("route".to_owned(), "/cart".to_owned())]).add(3);
///
/// let mut text = String::new();
/// encode(&mut text, &registry)?;
/// assert!(text.contains("requests_total{route=\"/cart\"} 3\n"));
/// # Ok::<(), std::fmt::Error>(())
/// ```
///
/// That registry checks nothing. [`register`](crate::register) takes a clone too, and does.
pub struct Shared<M>(Arc<M>);

/// Shown as a counter: what was ever added, drained or not.
pub type Counter = Shared<windrow::Counter>;
/// Shown as a gauge: the level.
pub type Gauge = Shared<windrow::Gauge>;
/// Shown as a histogram, with a bucket for each power of two: what was ever recorded, drained or
/// not.
pub type Histogram = Shared<windrow::Histogram>;
/// Shown as a gauge: the level.
pub type InFlight = Shared<windrow::InFlight>;
/// Shown as a gauge; without a sample as long as nothing was recorded.
pub type Maximum = Shared<windrow::Maximum>;
/// Shown as a gauge; without a sample as long as nothing was recorded.
pub type Minimum = Shared<windrow::Minimum>;

/// A metric that is shown as one of Prometheus'.
pub trait Single: Show {}

impl Single for windrow::Counter {}
impl Single for windrow::Gauge {}
impl Single for windrow::Histogram {}
impl Single for windrow::InFlight {}
impl Single for windrow::Maximum {}
impl Single for windrow::Minimum {}

impl<M: Single> TypedMetric for Shared<M> {
    const TYPE: MetricType = M::PARTS[0].kind;
}

impl<M: Single> EncodeMetric for Shared<M> {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        M::show(&self.read(), 0, &mut Samples::new(&mut encoder, &NoPairs, &Buckets::DEFAULT))
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

impl<M: Held> Encode for Shared<M> {
    fn below(&self) -> u64 {
        M::below(self)
    }

    fn outline(&self) -> Outline<'_> {
        M::outline(self)
    }

    fn encode(
        &self,
        parts: &[Named],
        buckets: &Buckets,
        encoder: &mut DescriptorEncoder<'_>,
    ) -> fmt::Result {
        M::encode(self, parts, buckets, encoder)
    }
}

impl<M> From<M> for Shared<M> {
    fn from(metric: M) -> Shared<M> {
        Shared(Arc::new(metric))
    }
}

impl<M: Default> Default for Shared<M> {
    fn default() -> Shared<M> {
        Shared::from(M::default())
    }
}

impl<M> Clone for Shared<M> {
    fn clone(&self) -> Shared<M> {
        Shared(Arc::clone(&self.0))
    }
}

impl<M> Deref for Shared<M> {
    type Target = M;

    #[inline]
    fn deref(&self) -> &M {
        &self.0
    }
}

/// Shows the metric.
impl<M: Debug> Debug for Shared<M> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

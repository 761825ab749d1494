//! Metrics that fit the traits of `prometheus-client`'s own.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use prometheus_client::encoding::{EncodeMetric, MetricEncoder};
use prometheus_client::metrics::{MetricType, TypedMetric};

use windrow::export::{Exported, Outline, Series, Source};

use super::show::write_plain;

/// A windrow metric that is shared by `clone`, as `prometheus-client`'s own are, and can be used
/// wherever one of those can: in its `Registry` and in its `Family`. It dereferences to the metric.
///
/// ```
/// use prometheus_client::metrics::family::Family;
/// use prometheus_client::{encoding::text::encode, registry::Registry};
/// use windrow_prometheus::registry::Counter;
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
/// That registry checks nothing. [`register`](super::register) also takes a clone, and checks it.
#[derive(Debug, Default)]
pub struct Shared<M>(Arc<M>);

/// A counter, shown as its all-time total, drained or not.
pub type Counter = Shared<windrow::Counter>;
/// A level, shown as a gauge.
pub type Gauge = Shared<windrow::Gauge>;
/// A histogram, shown with a bucket for each power of two: its all-time distribution, drained or
/// not.
pub type Histogram = Shared<windrow::Histogram>;
/// A level, shown as a gauge.
pub type InFlight = Shared<windrow::InFlight>;
/// An extreme, shown as a gauge; it has no sample before a value is recorded.
pub type Maximum = Shared<windrow::Maximum>;
/// An extreme, shown as a gauge; it has no sample before a value is recorded.
pub type Minimum = Shared<windrow::Minimum>;

impl TypedMetric for Counter {
    const TYPE: MetricType = MetricType::Counter;
}

impl TypedMetric for Gauge {
    const TYPE: MetricType = MetricType::Gauge;
}

impl TypedMetric for Histogram {
    const TYPE: MetricType = MetricType::Histogram;
}

impl TypedMetric for InFlight {
    const TYPE: MetricType = MetricType::Gauge;
}

impl TypedMetric for Maximum {
    const TYPE: MetricType = MetricType::Gauge;
}

impl TypedMetric for Minimum {
    const TYPE: MetricType = MetricType::Gauge;
}

impl<M: Exported> EncodeMetric for Shared<M>
where
    Shared<M>: TypedMetric,
{
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        let reading = self.any().read();
        let mut parts = reading.form.parts();
        parts.try_for_each(|part| write_plain(&reading, part, &mut encoder))
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

impl<S: Source> Source for Shared<S> {
    fn outline(&self) -> Outline {
        self.0.outline()
    }

    fn visit(&self, see: &mut dyn FnMut(&dyn Series)) {
        self.0.visit(see);
    }

    fn refused(&self) -> Option<u64> {
        self.0.refused()
    }
}

impl<M> From<M> for Shared<M> {
    fn from(metric: M) -> Shared<M> {
        Shared(Arc::new(metric))
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

//! The counters that crates publish, each as its documentation says that it is used.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use contatori::counters::Observable;
use contatori::counters::unsigned::Unsigned;
use fast_counter::ConcurrentCounter;
use metrics::{Counter as Handle, Key, KeyName, Metadata, SharedString, Unit};
use metrics_util::registry::{AtomicStorage, Registry};
use prometheus::IntCounter;
use prometheus_client::metrics::counter::Counter as PrometheusCounter;

use crate::harness::{Contender, Rival, cores, rival};

rival! { Unsigned:
    add(self, n) => Unsigned::add(self, n as usize);
    sum(self) => self.value().as_u64();
}

rival! { ConcurrentCounter:
    add(self, n) => ConcurrentCounter::add(self, n.cast_signed() as isize);
    sum(self) => (ConcurrentCounter::sum(self) as i64).cast_unsigned();
}

rival! { PrometheusCounter:
    add(self, n) => self.inc_by(n);
    sum(self) => self.get();
}

rival! { IntCounter:
    add(self, n) => self.inc_by(n);
    sum(self) => self.get();
}

/// The `metrics` facade with a handle that is kept: what the documentation advises.
struct MetricsHandle {
    handle: Handle,
    cell: Arc<AtomicU64>,
}

rival! { MetricsHandle:
    add(self, n) => self.handle.increment(n);
    sum(self) => self.cell.load(Ordering::Relaxed);
}

/// The registry that exporters of `metrics` are built on, as a recorder.
pub(crate) struct ToRegistry(pub(crate) Arc<Registry<Key, AtomicStorage>>);

impl metrics::Recorder for ToRegistry {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Handle {
        self.0.get_or_create_counter(key, |counter| counter.clone().into())
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> metrics::Gauge {
        self.0.get_or_create_gauge(key, |gauge| gauge.clone().into())
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> metrics::Histogram {
        self.0.get_or_create_histogram(key, |histogram| histogram.clone().into())
    }
}

/// Returns the registry of this process's recorder.
pub(super) fn registry() -> &'static Registry<Key, AtomicStorage> {
    static REGISTRY: OnceLock<Arc<Registry<Key, AtomicStorage>>> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        let registry = Arc::new(Registry::atomic());
        let recorder = ToRegistry(Arc::clone(&registry));
        metrics::set_global_recorder(recorder).expect("the only recorder of this process");
        registry
    })
}

/// The name of fast-counter's contender, the yardstick of portable counters.
pub const FAST_COUNTER: &str = "fast-counter";
/// The name of contatori's counter.
pub const CONTATORI: &str = "contatori";

/// fast-counter, fresh.
pub fn fast_counter() -> Contender {
    // At least the sixteen stripes of its own benches.
    Contender::new(FAST_COUNTER, ConcurrentCounter::new(cores().max(16)))
}

/// Every counter here, fresh.
///
/// # Panics
/// Never: the name is sound.
pub fn all() -> Vec<Contender> {
    let cell = Arc::new(AtomicU64::new(0));
    let handle = Handle::from_arc(Arc::clone(&cell));
    let int_counter = IntCounter::new("requests", "what is counted").expect("a sound name");
    vec![
        Contender::new(CONTATORI, Unsigned::new()),
        fast_counter(),
        Contender::new("prometheus", int_counter),
        Contender::new("prometheus-client", PrometheusCounter::default()),
        Contender::new("metrics, handle kept", MetricsHandle { handle, cell }),
    ]
}

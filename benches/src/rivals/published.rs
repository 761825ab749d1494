//! The counters that crates publish, each as its documentation says that it is used.

use std::cell::RefCell;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use contatori::counters::Observable;
use contatori::counters::unsigned::Unsigned;
use crossbeam_utils::CachePadded;
use fast_counter::ConcurrentCounter;
use fast_telemetry::Counter as TelemetryCounter;
use hdrhistogram::Histogram;
use hdrhistogram::sync::{Recorder as HdrRecorder, SyncHistogram};
use metrics::{Counter as Handle, Key, KeyName, Metadata, SharedString, Unit};
use metrics_util::registry::{AtomicStorage, Registry};
use prometheus::IntCounter;
use prometheus_client::metrics::counter::Counter as PrometheusCounter;
use thread_local::ThreadLocal;

use crate::harness::{Contender, Rival, cores, rival};

rival! { Unsigned:
    add(self, n) => Unsigned::add(self, n as usize);
    sum(self) => self.value().as_u64();
}

rival! { ConcurrentCounter:
    add(self, n) => ConcurrentCounter::add(self, n.cast_signed() as isize);
    sum(self) => (ConcurrentCounter::sum(self) as i64).cast_unsigned();
}

rival! { TelemetryCounter:
    add(self, n) => TelemetryCounter::add(self, n.cast_signed() as isize);
    sum(self) => (TelemetryCounter::sum(self) as i64).cast_unsigned();
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

/// The name of the one counter of the macro.
const REQUESTS: &str = "requests";

/// `metrics::counter!(..).increment(..)` at each add. There is one such counter in a process.
struct MetricsMacro {
    before: u64,
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

impl MetricsMacro {
    fn new() -> MetricsMacro {
        registry();
        let mut new = MetricsMacro { before: 0 };
        new.before = new.sum();
        new
    }
}

rival! { MetricsMacro:
    add(self, n) => metrics::counter!(REQUESTS).increment(n);
    sum(self) => {
        let key = Key::from_static_name(REQUESTS);
        let total = registry().get_or_create_counter(&key, |cell| cell.load(Ordering::Relaxed));
        total - self.before
    };
}

/// countme counts the values that were made of a type; here of this one.
struct Made;

/// countme, which counts objects for the whole process: their number, and their maximum at a time.
struct CountMe {
    before: u64,
}

impl CountMe {
    fn new() -> CountMe {
        countme::enable(true);
        CountMe { before: countme::get::<Made>().total as u64 }
    }
}

rival! { CountMe:
    add(self, n) => {
        for _ in 0..n {
            // Counted when it is made; its drop would be another count.
            std::mem::forget(black_box(countme::Count::<Made>::new()));
        }
    };
    sum(self) => countme::get::<Made>().total as u64 - self.before;
}

/// A cell for each thread, by the crate `thread_local`; padded, or two threads would share a line.
#[derive(Default)]
struct PerThread(ThreadLocal<CachePadded<AtomicU64>>);

rival! { PerThread:
    add(self, n) => {
        let cell = self.0.get_or_default();
        // No other thread writes it, so a load and a store suffice.
        cell.store(cell.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    };
    sum(self) => self.0.iter().map(|cell| cell.load(Ordering::Relaxed)).sum();
}

/// hdrhistogram's histogram for many threads, each of which has a recorder of its own: its count is
/// the sum. A read waits until every recorder has recorded once more or is gone.
struct Hdr {
    histogram: Mutex<SyncHistogram<u64>>,
}

impl Hdr {
    fn new() -> Hdr {
        let histogram = Histogram::new_with_bounds(1, 1000, 1).expect("sound bounds");
        Hdr { histogram: Mutex::new(histogram.into_sync()) }
    }

    fn recorder(&self) -> HdrRecorder<u64> {
        self.histogram.lock().expect("no thread panics in here").recorder()
    }
}

impl Rival for Hdr {
    fn add(&self, n: u64) {
        let mut recorder = self.recorder();
        (0..n).for_each(|_| recorder.saturating_record(1));
        drop(recorder);
    }

    fn sum(&self) -> u64 {
        let mut histogram = self.histogram.lock().expect("no thread panics in here");
        histogram.refresh();
        histogram.len()
    }

    /// A thread gets its recorder once.
    fn add_many(&self, times: u64) {
        let recorder = RefCell::new(self.recorder());
        let mut recorder = recorder.borrow_mut();
        for _ in 0..times {
            recorder.saturating_record(black_box(1));
        }
    }
}

/// The name of fast-counter's contender, the yardstick of portable counters.
pub const FAST_COUNTER: &str = "fast-counter";
/// The name of fast-telemetry's counter.
pub const FAST_TELEMETRY: &str = "fast-telemetry";
/// The name of contatori's counter.
pub const CONTATORI: &str = "contatori";
/// The name of the counter on the crate `thread_local`.
pub const THREAD_LOCAL: &str = "thread_local, a cell a thread";

/// Returns the number of stripes for crates that need it: at least the sixteen of fast-counter's
/// own benches.
pub(super) fn enough_stripes() -> usize {
    cores().max(16)
}

/// fast-counter, fresh.
pub fn fast_counter() -> Contender {
    Contender::new(FAST_COUNTER, concurrent_counter())
}

/// Returns the contender.
pub(super) fn concurrent_counter() -> ConcurrentCounter {
    ConcurrentCounter::new(enough_stripes())
}

/// Every counter here, fresh.
///
/// # Panics
/// If the process has a recorder of `metrics` that is not ours.
pub fn all() -> Vec<Contender> {
    let cell = Arc::new(AtomicU64::new(0));
    let handle = Handle::from_arc(Arc::clone(&cell));
    let int_counter = IntCounter::new(REQUESTS, "what is counted").expect("a sound name");
    vec![
        Contender::new(CONTATORI, Unsigned::new()),
        fast_counter(),
        Contender::new(FAST_TELEMETRY, TelemetryCounter::new(enough_stripes())),
        Contender::new(THREAD_LOCAL, PerThread::default()),
        Contender::new("prometheus", int_counter),
        Contender::new("prometheus-client", PrometheusCounter::default()),
        Contender::new("metrics, handle kept", MetricsHandle { handle, cell }),
        Contender::new("metrics, macro", MetricsMacro::new()),
        Contender::new("countme", CountMe::new()),
        Contender::new("hdrhistogram, recorders", Hdr::new()),
    ]
}

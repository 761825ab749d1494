//! The counters that crates publish, each as its documentation says that it is used.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use contatori::counters::Observable;
use contatori::counters::unsigned::Unsigned;
use fast_counter::ConcurrentCounter;
use metrics::Counter as Handle;
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

/// The name of fast-counter's contender, the yardstick of portable counters.
pub const FAST_COUNTER: &str = "fast-counter";
/// Every counter here, fresh.
///
/// # Panics
/// Never: the name is sound.
pub fn all() -> Vec<Contender> {
    let cell = Arc::new(AtomicU64::new(0));
    let handle = Handle::from_arc(Arc::clone(&cell));
    let int_counter = IntCounter::new("requests", "what is counted").expect("a sound name");
    vec![
        Contender::new("contatori", Unsigned::new()),
        // At least the sixteen stripes of its own benches.
        Contender::new(FAST_COUNTER, ConcurrentCounter::new(cores().max(16))),
        Contender::new("prometheus", int_counter),
        Contender::new("prometheus-client", PrometheusCounter::default()),
        Contender::new("metrics, handle kept", MetricsHandle { handle, cell }),
    ]
}

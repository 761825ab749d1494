//! The recorder, and the handle that reads its metrics.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, SharedString, Unit};

use crate::cache::{self, Cached};
use crate::counter::CounterCell;
use crate::gauge::GaugeCell;
use crate::histogram::HistogramCell;
use crate::kind::Kind;
use crate::own::{Overflow, Own};
use crate::registry::{Registry, Target};
use crate::snapshot::Snapshot;
use crate::text::text;

/// A [`metrics::Recorder`]: counts the updates of the macros `counter!`, `gauge!` and `histogram!`.
///
/// [`install`](crate::install) makes one the recorder of the process. A recorder can also be used
/// for a while on one thread, as in tests, or be put into another recorder:
///
/// ```
/// let recorder = windrow_metrics::Recorder::builder().build()?;
/// metrics::with_local_recorder(&recorder, || metrics::counter!("requests").increment(1));
/// assert_eq!(recorder.handle().render(), "# TYPE requests counter\nrequests 1\n\n");
/// # Ok::<(), windrow_metrics::BuildError>(())
/// ```
#[must_use = "it records nothing before it is installed"]
pub struct Recorder {
    registry: Arc<Registry>,
}

impl Recorder {
    pub(crate) fn new(registry: Registry) -> Recorder {
        Recorder { registry: Arc::new(registry) }
    }

    /// Returns a handle that reads the recorder, also after it is installed.
    pub fn handle(&self) -> Handle {
        Handle { registry: Arc::clone(&self.registry) }
    }

    fn describe(&self, name: &KeyName, unit: Option<Unit>, text: SharedString) {
        // A macro with a description describes at each call.
        let (number, key) = (self.registry.number(), Key::from_name(name.clone()));
        if cache::find(number, &key, Cached::described).is_none() {
            self.registry.describe(name.as_str(), unit, text);
            if name.as_str().len() <= self.registry.config.key_bytes {
                cache::keep(number, key.to_retained(), Cached::Described);
            }
        }
    }
}

impl metrics::Recorder for Recorder {
    fn describe_counter(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        self.describe(&name, unit, text);
    }

    fn describe_gauge(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        self.describe(&name, unit, text);
    }

    fn describe_histogram(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        self.describe(&name, unit, text);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        let number = self.registry.number();
        if let Some(counter) = cache::find(number, key, Cached::counter) {
            return counter;
        }
        match self.registry.target::<CounterCell>(key) {
            Target::Series(cell, key) => {
                let own = Arc::new(Own(cell));
                cache::keep(number, key, Cached::Counter(Arc::clone(&own)));
                Counter::from_arc(own)
            }
            Target::Overflow(cell) => {
                let dropped = Arc::clone(self.registry.dropped(Kind::Counter));
                Counter::from_arc(Arc::new(Overflow(cell, dropped)))
            }
            Target::Nowhere => Counter::noop(),
        }
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        let number = self.registry.number();
        if let Some(gauge) = cache::find(number, key, Cached::gauge) {
            return gauge;
        }
        match self.registry.target::<GaugeCell>(key) {
            Target::Series(cell, key) => {
                let own = Arc::new(Own(cell));
                cache::keep(number, key, Cached::Gauge(Arc::clone(&own)));
                Gauge::from_arc(own)
            }
            Target::Overflow(_) | Target::Nowhere => {
                Gauge::from_arc(Arc::clone(self.registry.dropped(Kind::Gauge)))
            }
        }
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        let number = self.registry.number();
        if let Some(histogram) = cache::find(number, key, Cached::histogram) {
            return histogram;
        }
        match self.registry.target::<HistogramCell>(key) {
            Target::Series(cell, key) => {
                let own = Arc::new(Own(cell));
                cache::keep(number, key, Cached::Histogram(Arc::clone(&own)));
                Histogram::from_arc(own)
            }
            Target::Overflow(cell) => Histogram::from_arc(Arc::new(Own(cell))),
            Target::Nowhere => Histogram::noop(),
        }
    }
}

/// Shows the number of keys.
impl Debug for Recorder {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("keys", &self.registry.keys()).finish_non_exhaustive()
    }
}

/// Reads what a [`Recorder`] has counted, from any thread, at any time. Clones read the same
/// recorder.
///
/// A read is not a snapshot of one moment: updates during the read may be in it or not. Each
/// counter lies between its value when the read began and its value when the read returned, and
/// never goes back; a histogram's count is the sum of its buckets, and its sum covers the counted
/// values, and perhaps some that were just being recorded.
#[derive(Clone)]
#[must_use = "a handle shows nothing before `render` or `snapshot`"]
pub struct Handle {
    registry: Arc<Registry>,
}

impl Handle {
    /// Returns all metrics in Prometheus' text format (version 0.0.4), for a response of type
    /// [`CONTENT_TYPE`].
    ///
    /// Metrics are ordered by kind (counters, gauges, histograms), then by name, then by labels. A
    /// scrape costs a load for each core and counter, and the writing of the text.
    ///
    /// [`CONTENT_TYPE`]: crate::CONTENT_TYPE
    pub fn render(&self) -> String {
        text(&self.snapshot())
    }

    /// Returns all metrics as values, with the [problems](Snapshot::problems) found.
    pub fn snapshot(&self) -> Snapshot {
        self.registry.snapshot()
    }
}

/// Shows the number of keys of its recorder knows.
impl Debug for Handle {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").field("keys", &self.registry.keys()).finish_non_exhaustive()
    }
}

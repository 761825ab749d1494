//! The recorder, and the handle that reads its metrics.

use std::sync::Arc;

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, SharedString, Unit};

use crate::buckets::{Buckets, Shape};
use crate::builder::Builder;
use crate::cache::{self, Cached, Missing};
use crate::counter::CounterCell;
use crate::error::{BuildError, InstallError};
use crate::gauge::GaugeCell;
use crate::histogram::HistogramCell;
use crate::kind::Kind;
use crate::own::{Overflow, Own};
use crate::registry::{Registry, Tabled, Target};
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
#[derive(Debug)]
#[must_use = "it records nothing before it is installed"]
pub struct Recorder {
    registry: Arc<Registry>,
}

impl Builder {
    /// Returns the recorder.
    ///
    /// # Errors
    /// Returns an error if bounds of buckets are missing, not finite or not ascending, or if the
    /// number of steps is zero.
    pub fn build(mut self) -> Result<Recorder, BuildError> {
        self.buckets = self.buckets.checked()?;
        Ok(Recorder { registry: Arc::new(Registry::new(self)) })
    }

    /// Builds the recorder and installs it as the recorder of the process.
    ///
    /// # Errors
    /// Returns an error if the process has a recorder already, or if [`build`](Self::build) fails.
    pub fn install(self) -> Result<Handle, InstallError> {
        let recorder = self.build()?;
        let handle = recorder.handle();
        metrics::set_global_recorder(recorder).map_err(|_| InstallError::AlreadyInstalled)?;
        Ok(handle)
    }
}

impl Recorder {
    /// Returns a builder with default settings.
    pub fn builder() -> Builder {
        Builder {
            buckets: Buckets { default: Shape::DEFAULT, matched: Vec::new() },
            global_labels: Vec::new(),
            keys: 100_000,
            keys_per_name: 10_000,
            key_bytes: 1_024,
            idle: None,
            recommended_naming: false,
        }
    }

    /// Returns a handle that reads the recorder, also after it is installed.
    pub fn handle(&self) -> Handle {
        Handle { registry: Arc::clone(&self.registry) }
    }

    fn describe(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        // A macro with a description describes at each call.
        let (number, key) = (self.registry.number(), Key::from_name(name));
        if let Err(missing) = cache::find(number, &key, Cached::described) {
            self.registry.describe(key.name(), unit, text);
            if missing.keeps && key.name().len() <= cache::NAME {
                let key = Key::from_name(key.name_shared().to_retained());
                cache::keep(number, key.get_hash(), Cached::Described(Box::new(key)));
            }
        }
    }

    /// Returns where a key counts that the thread does not keep: in a handle of its own, which it
    /// keeps from now on, if it should keep the key.
    #[inline]
    fn target<T: Tabled>(
        &self,
        missing: Missing,
        number: u64,
        key: &Key,
        cached: fn(Arc<Own<T>>) -> Cached,
    ) -> Target<T> {
        let target = self.registry.target(key);
        if let Target::Series(cell) = &target
            && missing.keeps
            && let Some(key) = T::index(&self.registry).kept(key)
        // unless it was just removed
        {
            let (hash, own) = (key.get_hash(), Arc::new(Own { cell: Arc::clone(cell), key }));
            cache::keep(number, hash, cached(Arc::clone(&own)));
            return Target::Own(own);
        }
        target
    }
}

impl metrics::Recorder for Recorder {
    fn describe_counter(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        self.describe(name, unit, text);
    }

    fn describe_gauge(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        self.describe(name, unit, text);
    }

    fn describe_histogram(&self, name: KeyName, unit: Option<Unit>, text: SharedString) {
        self.describe(name, unit, text);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        let number = self.registry.number();
        cache::find(number, key, Cached::counter).unwrap_or_else(|missing| {
            match self.target::<CounterCell>(missing, number, key, Cached::Counter) {
                Target::Own(own) => Counter::from_arc(own),
                Target::Series(cell) => Counter::from_arc(cell),
                Target::Overflow(cell) => {
                    let dropped = Arc::clone(&self.registry.dropped[Kind::Counter as usize]);
                    Counter::from_arc(Arc::new(Overflow(cell, dropped)))
                }
                Target::Nowhere => Counter::noop(),
            }
        })
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        let number = self.registry.number();
        cache::find(number, key, Cached::gauge).unwrap_or_else(|missing| {
            match self.target::<GaugeCell>(missing, number, key, Cached::Gauge) {
                Target::Own(own) => Gauge::from_arc(own),
                Target::Series(cell) => Gauge::from_arc(cell),
                Target::Overflow(_) | Target::Nowhere => {
                    Gauge::from_arc(Arc::clone(&self.registry.dropped[Kind::Gauge as usize]))
                }
            }
        })
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        let number = self.registry.number();
        cache::find(number, key, Cached::histogram).unwrap_or_else(|missing| {
            match self.target::<HistogramCell>(missing, number, key, Cached::Histogram) {
                Target::Own(own) => Histogram::from_arc(own),
                Target::Series(cell) | Target::Overflow(cell) => Histogram::from_arc(cell),
                Target::Nowhere => Histogram::noop(),
            }
        })
    }
}

/// Reads what a [`Recorder`] has counted, from any thread, at any time. Clones read the same
/// recorder.
///
/// A read is not a snapshot of one moment: updates during the read may be in it or not. Each
/// counter lies between its value when the read began and its value when the read returned, and
/// never goes back; a histogram's count is the sum of its buckets, and its sum covers the counted
/// values, and perhaps some that were just being recorded.
#[derive(Clone, Debug)]
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use metrics::{counter, gauge, histogram};

    use super::*;
    use crate::secret::chosen;
    use crate::snapshot::Value;

    #[test]
    fn keys_of_one_hash_of_the_facade_count_apart_on_all_threads() {
        let recorder = Recorder::builder().build().expect("sound settings");
        let metadata = Metadata::new("", metrics::Level::INFO, None);
        let count = || {
            for round in 0..50 {
                for (key, n) in chosen::keys().zip(1_u32..) {
                    let facade: &dyn metrics::Recorder = &recorder;
                    facade.register_counter(&key, &metadata).increment(u64::from(n));
                    facade.register_gauge(&key, &metadata).set(n);
                    facade.register_histogram(&key, &metadata).record(n * round);
                }
            }
        };
        thread::scope(|scope| {
            scope.spawn(count);
            scope.spawn(count);
        });
        let snapshot = recorder.handle().snapshot();
        for (key, n) in chosen::keys().zip(1_u32..) {
            let labels: Vec<_> = key.labels().map(|label| (label.key(), label.value())).collect();
            assert_eq!(snapshot.get("x", &labels), Some(&Value::Counter(100 * u64::from(n))));
            assert_eq!(snapshot.get("x_gauge", &labels), Some(&Value::Gauge(n.into())));
            let values = snapshot.get("x_histogram", &labels);
            let Some(Value::Histogram(values)) = values else { panic!("{values:?}") };
            assert_eq!((values.count(), values.sum()), (100, f64::from(2 * 1_225 * n)));
        }
    }

    #[test]
    fn a_known_key_waits_neither_for_new_keys_nor_for_exports() {
        let recorder = Recorder::builder().build().expect("sound settings");
        let count = || {
            metrics::with_local_recorder(&recorder, || {
                counter!("c").increment(1);
                gauge!("g").set(1);
                histogram!("h").record(1);
            });
        };
        count();
        thread::scope(|scope| {
            let (done, wait) = channel();
            let state = recorder.registry.write();
            scope.spawn(move || {
                count();
                done.send(()).expect("it is waited for");
            });
            let waited = wait.recv_timeout(Duration::from_secs(60));
            drop(state);
            assert!(waited.is_ok(), "a known key waits for the lock of the state");
        });
    }
}

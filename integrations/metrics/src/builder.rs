//! A recorder's settings.

use std::time::Duration;

use windrow::histogram::Scale;

use crate::buckets::{Buckets, Cells, Matcher, Shape};
use crate::error::{BuildError, InstallError};
use crate::recorder::{Handle, Recorder};
use crate::registry::{Config, Registry};

/// A recorder to be, from [`Recorder::builder`].
///
/// ```
/// use windrow_metrics::{Matcher, Recorder};
///
/// let recorder = Recorder::builder()
///     .global_label("zone", "eu")
///     .buckets(&[0.001, 0.01, 0.1, 1.0])
///     .buckets_for(Matcher::Suffix("_bytes".into()), &[1e3, 1e6, 1e9])
///     .keys_per_name(1_000)
///     .build()?;
/// # drop(recorder);
/// # Ok::<(), windrow_metrics::BuildError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a builder builds nothing by itself"]
pub struct Builder {
    shape: Shape,
    matched: Vec<(Matcher, Shape)>,
    global_labels: Vec<(String, String)>,
    keys: usize,
    keys_per_name: usize,
    key_bytes: usize,
    idle: Option<Duration>,
    recommended_naming: bool,
}

impl Recorder {
    /// Returns a recorder to be, with default settings.
    pub fn builder() -> Builder {
        Builder {
            shape: Shape::DEFAULT,
            matched: Vec::new(),
            global_labels: Vec::new(),
            keys: 100_000,
            keys_per_name: 10_000,
            key_bytes: 1_024,
            idle: None,
            recommended_naming: false,
        }
    }
}

impl Builder {
    /// Has histograms count in the cells of a [`Scale`]: so they have percentiles, right to its
    /// [error](Scale::error_bound). A value is counted as the whole number of steps that is nearest
    /// to it, of which `steps` make one.
    ///
    /// By default [`Scale::DEFAULT`] and a thousand million steps: values are seconds, told apart
    /// as nanoseconds, from half a microsecond to 69 s. For bytes, say, take one step and another
    /// scale: [`cells_for`](Self::cells_for).
    ///
    /// What is exported are the [octaves](Scale::octaves) of the scale as bounds of buckets (28 by
    /// default). Counts there are exact. Values below the scale, and those below zero, are counted
    /// in the first bucket, and those above in the infinite one.
    pub fn cells(self, scale: Scale, steps: u32) -> Builder {
        Builder { shape: Shape::Cells(Cells { scale, steps }), ..self }
    }

    /// Returns the cells of some histograms. Of several matchers that match, a full name counts
    /// before a prefix and a prefix before a suffix, then a longer one before a shorter one, then
    /// the last one given.
    ///
    /// ```
    /// use windrow::histogram::Scale;
    /// use windrow_metrics::{Matcher, Recorder, Value};
    ///
    /// let bytes = Scale::new(2, 64, 1 << 30)?;
    /// let recorder =
    ///     Recorder::builder().cells_for(Matcher::Suffix("_bytes".into()), bytes, 1).build()?;
    /// metrics::with_local_recorder(&recorder, || {
    ///     for kilobytes in 1..=100 {
    ///         metrics::histogram!("answer_bytes").record(f64::from(kilobytes) * 1e3);
    ///     }
    /// });
    /// let snapshot = recorder.handle().snapshot();
    /// let Some(Value::Histogram(answers)) = snapshot.get("answer_bytes", &[]) else { panic!() };
    /// let p90 = answers.quantile(0.9).unwrap();
    /// assert!((p90 - 90_000.0).abs() <= 90_000.0 * bytes.error_bound() + 0.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cells_for(mut self, matcher: Matcher, scale: Scale, steps: u32) -> Builder {
        self.matched.push((matcher, Shape::Cells(Cells { scale, steps })));
        self
    }

    /// Has histograms count at bounds of your choice alone: ascending and finite; an infinite one
    /// follows by itself.
    ///
    /// Counts are exact at each bound, whatever it is. But such a histogram has no percentiles.
    pub fn buckets(self, bounds: &[f64]) -> Builder {
        Builder { shape: Shape::Bounds(bounds.into()), ..self }
    }

    /// Returns the bounds of some histograms' buckets. Matchers are ranked as by
    /// [`cells_for`](Self::cells_for), and with those.
    pub fn buckets_for(mut self, matcher: Matcher, bounds: &[f64]) -> Builder {
        self.matched.push((matcher, Shape::Bounds(bounds.into())));
        self
    }

    /// A label of all series, unless a key has one of that name. Of two with one name the last one
    /// given counts.
    pub fn global_label(mut self, name: impl Into<String>, value: impl Into<String>) -> Builder {
        self.global_labels.push((name.into(), value.into()));
        self
    }

    /// Returns how many keys there may be, of all names and kinds: 100 000 by default.
    ///
    /// A key is a name with labels. One that comes when there are as many is *refused*: what it
    /// counts goes to the series of its name with the label `overflow="true"`, or to
    /// `windrow_metrics_overflow_counter` or `.._histogram` if the name is new as well.
    /// [`Snapshot::problems`](crate::Snapshot::problems) and the metric
    /// `windrow_metrics_refused_total` tell how many calls had such a key. A refused gauge is in no
    /// series, and neither is an `absolute`: `windrow_metrics_dropped_total` tells how many updates
    /// there were of them.
    pub fn keys(self, keys: usize) -> Builder {
        Builder { keys, ..self }
    }

    /// Returns how many keys of one name and kind there may be: 10 000 by default. So a label that
    /// anybody can choose the values of does not use up what other names need.
    pub fn keys_per_name(self, keys: usize) -> Builder {
        Builder { keys_per_name: keys, ..self }
    }

    /// Returns how long a key may be: 1024 bytes by default, of its name and of each label's name
    /// and value, and 4 for each label. A longer one is refused, as by [`keys`](Self::keys): so
    /// what comes from outside takes a bounded part of the memory and of the text.
    ///
    /// ```
    /// let recorder = windrow_metrics::Recorder::builder().key_bytes(100).build()?;
    /// metrics::with_local_recorder(&recorder, || {
    ///     metrics::counter!("requests", "path" => "/").increment(1);
    ///     metrics::counter!("requests", "path" => "/long".repeat(20)).increment(2);
    /// });
    /// let text = recorder.handle().render();
    /// assert!(text.contains("requests{overflow=\"true\"} 2\n"));
    /// # Ok::<(), windrow_metrics::BuildError>(())
    /// ```
    pub fn key_bytes(self, bytes: usize) -> Builder {
        Builder { key_bytes: bytes, ..self }
    }

    /// Has keys leave that were not used for some time, between `after` and twice that: never, by
    /// default. They make room for new keys, and their series are no more exported.
    ///
    /// A key is used by a macro call. A key of which a handle is kept
    /// (`let requests = counter!(..)`), or which the calls of a thread have used that makes no
    /// calls any more but has not ended, stays; and so do two keys that share a series. So no count
    /// is lost: what a key has counted was in a snapshot or a text before it leaves. If it comes
    /// back, it begins at zero, which Prometheus takes for a restart. Idle keys are looked for by a
    /// render or a snapshot, every half of `after`; behind it, each thread's next call with a key
    /// takes the reader's lock.
    pub fn idle(self, after: Duration) -> Builder {
        Builder { idle: Some(after), ..self }
    }

    /// Returns whether names end as Prometheus recommends: counters in `_total`, and before that
    /// the unit that a metric was described with (`_seconds`; percent as `_ratio`; a count has
    /// none). Off by default: names are what the program says.
    ///
    /// ```
    /// use metrics::Unit;
    ///
    /// let recorder = windrow_metrics::Recorder::builder().recommended_naming(true).build()?;
    /// metrics::with_local_recorder(&recorder, || {
    ///     metrics::describe_counter!("sent", Unit::Bytes, "What was sent.");
    ///     metrics::counter!("sent").increment(512);
    /// });
    /// let text = "# HELP sent_bytes_total What was sent.\n# TYPE sent_bytes_total counter\n\
    ///             sent_bytes_total 512\n\n";
    /// assert_eq!(recorder.handle().render(), text);
    /// # Ok::<(), windrow_metrics::BuildError>(())
    /// ```
    pub fn recommended_naming(self, on: bool) -> Builder {
        Builder { recommended_naming: on, ..self }
    }

    /// Returns the recorder.
    ///
    /// # Errors
    /// If bounds of buckets are missing, not finite, or do not ascend, or no steps make one.
    pub fn build(self) -> Result<Recorder, BuildError> {
        let buckets = Buckets::new(self.shape, self.matched)?;
        let config = Config {
            buckets,
            global_labels: self.global_labels,
            keys: self.keys,
            keys_per_name: self.keys_per_name,
            key_bytes: self.key_bytes,
            idle: self.idle,
            recommended_naming: self.recommended_naming,
        };
        Ok(Recorder::new(Registry::new(config)))
    }

    /// Makes it the process's recorder.
    ///
    /// # Errors
    /// If the process has a recorder already, or as [`build`](Self::build).
    pub fn install(self) -> Result<Handle, InstallError> {
        let recorder = self.build()?;
        let handle = recorder.handle();
        match metrics::set_global_recorder(recorder) {
            Ok(()) => Ok(handle),
            Err(_) => Err(InstallError::AlreadyInstalled),
        }
    }
}

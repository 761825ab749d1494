//! A recorder's settings.

use std::time::Duration;

use windrow::histogram::Scale;

use crate::buckets::{Buckets, Matcher, Shape};

/// Builds a recorder: from [`Recorder::builder`](crate::Recorder::builder).
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
    pub(crate) buckets: Buckets,
    pub(crate) global_labels: Vec<(String, String)>,
    pub(crate) keys: usize,
    pub(crate) keys_per_name: usize,
    pub(crate) key_bytes: usize,
    /// The time after which an unused key is removed.
    pub(crate) idle: Option<Duration>,
    pub(crate) recommended_naming: bool,
}

impl Builder {
    /// Makes histograms count in the cells of a [`Scale`]. So they have percentiles, which are off
    /// by at most the scale's [error](Scale::error_bound). A value is rounded to a whole number of
    /// steps, which is then counted. `steps` is the number of steps in a value of 1.
    ///
    /// The default is [`Scale::DEFAULT`] and 1 000 000 000 steps, for values in seconds: a step is
    /// a nanosecond, and the scale reaches from half a microsecond to 69 s. For bytes, for example,
    /// take 1 step and another scale: [`cells_for`](Self::cells_for).
    ///
    /// The exported buckets end at the [octaves](Scale::octaves) of the scale (28 by default).
    /// Their counts are exact. Values below the scale, negative ones included, are counted in the
    /// first bucket, and values above the scale in the infinite one.
    pub fn cells(mut self, scale: Scale, steps: u32) -> Builder {
        self.buckets.default = Shape::Cells { scale, steps };
        self
    }

    /// Sets the cells of the matching histograms. If several matchers match, a full name ranks
    /// before a prefix and a prefix before a suffix, then a longer matcher before a shorter one,
    /// then the one given last.
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
        self.buckets.matched.push((matcher, Shape::Cells { scale, steps }));
        self
    }

    /// Makes histograms count at these bounds only: ascending and finite; an infinite one is added
    /// at the end.
    ///
    /// Counts are exact at each bound, whatever its value. But such a histogram has no percentiles.
    pub fn buckets(mut self, bounds: &[f64]) -> Builder {
        self.buckets.default = Shape::Bounds(bounds.into());
        self
    }

    /// Sets the bounds of the matching histograms. Matchers are ranked as by
    /// [`cells_for`](Self::cells_for), and together with those.
    pub fn buckets_for(mut self, matcher: Matcher, bounds: &[f64]) -> Builder {
        self.buckets.matched.push((matcher, Shape::Bounds(bounds.into())));
        self
    }

    /// Adds a label to all series, except those of keys that have a label of this name. If a name
    /// is given twice, the last value counts.
    pub fn global_label(mut self, name: impl Into<String>, value: impl Into<String>) -> Builder {
        self.global_labels.push((name.into(), value.into()));
        self
    }

    /// Sets the limit of keys, of all names and kinds together: 100 000 by default.
    ///
    /// A key is a name with labels. A new key beyond the limit is *refused*: its counts go to the
    /// series of its name with the label `overflow="true"`, or to
    /// `windrow_metrics_overflow_counter` or `.._histogram` if the name is new as well.
    /// [`Snapshot::problems`](crate::Snapshot::problems) and the metric
    /// `windrow_metrics_refused_total` report the number of calls with such a key. A refused gauge
    /// is in no series, and neither is an `absolute`: `windrow_metrics_dropped_total` reports the
    /// number of such updates.
    pub fn keys(self, keys: usize) -> Builder {
        Builder { keys, ..self }
    }

    /// Sets the limit of keys of one name and kind: 10 000 by default. So a label whose values come
    /// from outside does not use up the keys of other names.
    pub fn keys_per_name(self, keys: usize) -> Builder {
        Builder { keys_per_name: keys, ..self }
    }

    /// Sets the limit of a key's length: 1024 bytes by default. The length is that of its name and
    /// of each label's name and value, plus 4 bytes for each label. A longer key is refused as by
    /// [`keys`](Self::keys). So keys from outside take a bounded part of the memory, and of the
    /// text of a render.
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

    /// Removes keys that were not used for some time, between `after` and twice that: never, by
    /// default. Their places become free for new keys, and their series are no longer exported.
    ///
    /// A macro call uses its key. A key stays while a handle of it is kept
    /// (`let requests = counter!(..)`), or while a thread that has used it makes no further calls
    /// but has not ended; two keys that share a series also stay. So no count is lost: the counts
    /// of a key were in a snapshot or a text before the key is removed. If the key comes back, it
    /// begins at zero, which Prometheus takes for a restart. A render or a snapshot looks for idle
    /// keys every half of `after`; afterwards, each thread's next call with a key takes the
    /// reader's lock.
    pub fn idle(self, after: Duration) -> Builder {
        Builder { idle: Some(after), ..self }
    }

    /// Sets whether names end as Prometheus recommends: counters in `_total`, and before that the
    /// unit with which a metric was described (`_seconds`; percent as `_ratio`; a count has none).
    /// Off by default: names are exported as the program gives them.
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
}

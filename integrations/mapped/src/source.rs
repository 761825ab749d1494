//! A file as a source for exporters.

use std::collections::BTreeSet;
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use windrow::export::{AnyMetric, Catalog, CatalogError, Form, Outline, Series, Source};
use windrow::histogram::Distribution;
use windrow::labels::LabelValue;

use crate::error::MappedError;
use crate::layout::MOST_NAMES;
use crate::reader::Reader;
use crate::reading::{Metric, Reading, Value};

/// An export reads all metrics within this time, and shows those of one reading.
const ONE_EXPORT: Duration = Duration::from_millis(100);

/// A file for exporters: `windrow-prometheus`, `windrow-otlp`, `windrow-opentelemetry`,
/// `windrow-console`.
///
/// [`add_to`](Self::add_to) adds each metric name of the file to a catalog as a source, whose
/// series are the sets of labels. A series that is registered later under such a name is exported
/// from then on. A *name* that is registered later is not, before `add_to` is called again. An
/// extreme is exported as a gauge, exactly up to 2^53. A histogram has the buckets that a
/// `windrow::Histogram` of its scale has.
///
/// A gauge `NAME`, and operations in progress, are exported as two gauges with the same labels,
/// exactly up to 2^53: `NAME` is the level of the processes that live, and `NAME_dead` is what dead
/// ones have left. So a sum over `NAME` counts the living alone, and an alert on `NAME_dead` tells
/// of processes that died in the middle of something. (A metric of the file that is itself called
/// `NAME_dead` has that name.)
///
/// ```
/// use windrow::export::Catalog;
/// use windrow_mapped::{File, FileSource, Reader};
///
/// # let directory = tempfile::tempdir_in("/dev/shm")?;
/// # let path = directory.path().join("app.windrow");
/// File::open(&path)?.counter("calls", &[("route", "cart")])?.add(3);
///
/// let mut catalog = Catalog::new();
/// FileSource::new(Reader::open(&path)?).add_to(&mut catalog)?;
/// let names: Vec<_> = catalog.iter().map(|metric| metric.name()).collect();
/// assert_eq!(names, ["calls"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Cost
///
/// An export reads the file once, by [`Reader::read`], whatever the number of names. If the file
/// cannot be read, an export has no series of it, and [`error`](Self::error) has the reason.
#[derive(Clone)]
pub struct FileSource(Arc<Shared>);

struct Shared {
    reader: Reader,
    last: Mutex<Option<Last>>,
}

/// The last reading, or the error instead, and its time.
struct Last {
    at: Instant,
    result: Result<Arc<Reading>, Arc<MappedError>>,
}

impl FileSource {
    /// Makes a source of a reader.
    pub fn new(reader: Reader) -> FileSource {
        FileSource(Arc::new(Shared { reader, last: Mutex::default() }))
    }

    /// Adds the names of the file that the catalog does not have, each as a source with an empty
    /// help text. Returns the number of names that were added.
    ///
    /// A name of the catalog stays what it is: its own metric, or a source from an earlier call.
    ///
    /// # Errors
    ///
    /// [`CatalogError::ReservedLabel`], if a metric has a label that exporters need. The names
    /// before it were added.
    pub fn add_to(&self, catalog: &mut Catalog) -> Result<usize, CatalogError> {
        let Ok(reading) = self.0.read() else { return Ok(0) };
        let mut seen: BTreeSet<String> =
            catalog.iter().map(|metric| metric.name().to_owned()).collect();
        let mut added = 0;
        for part in [Part::Whole, Part::Dead] {
            for metric in reading.metrics().filter(|metric| part.is_of(metric)) {
                let exported = format!("{}{}", metric.name(), part.suffix());
                if seen.insert(exported.clone()) {
                    let name = metric.name().to_owned();
                    let source = Named { shared: Arc::clone(&self.0), name, part };
                    catalog.add(&exported, "", source)?;
                    added += 1;
                }
            }
        }
        Ok(added)
    }

    /// Returns the error of the last read, if it was one.
    pub fn error(&self) -> Option<Arc<MappedError>> {
        self.0.read().err()
    }
}

/// Shows the reader.
impl Debug for FileSource {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("FileSource").field(&self.0.reader).finish()
    }
}

impl Shared {
    /// Returns the last reading, or a new one where that is older than an export.
    fn read(&self) -> Result<Arc<Reading>, Arc<MappedError>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let fresh = last.take().filter(|last| now.duration_since(last.at) < ONE_EXPORT);
        let result = || self.reader.read().map(Arc::new).map_err(Arc::new);
        let read = || Last { at: now, result: result() };
        last.insert(fresh.unwrap_or_else(read)).result.clone()
    }
}

/// The part of a metric that has a name of its own among the exported ones.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// All of it; of a level that of the living.
    Whole,
    /// The level that the dead have left.
    Dead,
}

impl Part {
    fn is_of(self, metric: &Metric<'_>) -> bool {
        self == Part::Whole || metric.level().is_some()
    }

    fn suffix(self) -> &'static str {
        match self {
            Part::Whole => "",
            Part::Dead => "_dead",
        }
    }
}

/// The metrics of a file with one name.
struct Named {
    shared: Arc<Shared>,
    name: String,
    part: Part,
}

impl Named {
    /// Calls `see` with each metric. They all have the kind of the first: a damaged file may have
    /// others.
    fn each(&self, mut see: impl FnMut(Read<'_>)) {
        let Ok(reading) = self.shared.read() else { return };
        let kind = reading.named(&self.name).next().map(|metric| metric.kind());
        for metric in reading.named(&self.name).filter(|metric| Some(metric.kind()) == kind) {
            see(Read { metric, values: metric.distribution(), part: self.part });
        }
    }
}

impl Source for Named {
    fn outline(&self) -> Outline {
        let mut outline = Outline::of_metric(Form::Counter);
        let mut labels = BTreeSet::new();
        self.each(|read| {
            outline.form = Series::metric(&read).form();
            labels.extend(read.metric.labels().map(|(label, _)| label.to_owned()));
        });
        outline.labels = labels.into_iter().collect();
        outline.max_series = MOST_NAMES as usize;
        outline
    }

    fn visit(&self, see: &mut dyn FnMut(&dyn Series)) {
        self.each(|read| see(&read));
    }
}

/// A metric that was read.
struct Read<'r> {
    metric: Metric<'r>,
    /// Those of a histogram.
    values: Option<Distribution>,
    part: Part,
}

impl Series for Read<'_> {
    fn number(&self) -> u64 {
        self.metric.number()
    }

    fn is_overflow(&self) -> bool {
        false
    }

    fn created(&self) -> Option<SystemTime> {
        None
    }

    fn labels(&self, see: &mut dyn FnMut(&str, LabelValue<'_>)) {
        self.metric.labels().for_each(|(label, value)| see(label, LabelValue::Text(value)));
    }

    fn metric(&self) -> AnyMetric<'_> {
        if let Some(values) = &self.values {
            return AnyMetric::Distribution(values);
        }
        match self.metric.value() {
            Value::Count(sum) => AnyMetric::Count(Some(sum)),
            Value::Extreme(value) => AnyMetric::Real(value.map_or(f64::NAN, |value| value as f64)),
            Value::Level(level) if self.part == Part::Dead => AnyMetric::Real(level.dead as f64),
            Value::Level(level) => AnyMetric::Real(level.live as f64),
            Value::Values { count, .. } => AnyMetric::Count(Some(count)),
        }
    }
}

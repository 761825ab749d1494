//! A file as a source for exporters.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use windrow::BuildError;
use windrow::export::{AnyMetric, Catalog, CatalogError, Form, Outline, Series, Source};
use windrow::labels::LabelValue;

use crate::error::MappedError;
use crate::layout::MOST_NAMES;
use crate::name_error::NameError;
use crate::reader::Reader;
use crate::reading::{Metric, Reading, Value};
use crate::text;
use crate::windows::{Geometry, Window, Windows};

/// An export reads all metrics within this time, and shows those of one reading.
const ONE_EXPORT: Duration = Duration::from_millis(100);

/// A file for exporters: `windrow-prometheus`, `windrow-otlp`, `windrow-opentelemetry`,
/// `windrow-console`.
///
/// [`add_to`](Self::add_to) adds each metric name of the file to a catalog as a source, whose
/// series are the sets of labels. A series that is registered later under such a name is exported
/// from then on. A *name* that is registered later is not, before `add_to` is called again. An
/// extreme is exported as a gauge, exactly up to 2^53.
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
    /// The label by whose values several files are told apart.
    label: Option<String>,
    files: Vec<Cached>,
}

/// A file, of which an export reads the metrics once.
struct Cached {
    /// The value of the label.
    file: String,
    reader: Reader,
    last: Mutex<Option<Last>>,
    windows: Option<Windows>,
}

/// The last reading, or the error instead, and its time.
struct Last {
    at: Instant,
    result: Result<Arc<Reading>, Arc<MappedError>>,
}

impl FileSource {
    /// Makes a source of a reader.
    pub fn new(reader: Reader) -> FileSource {
        let file = Cached::new(String::new(), reader);
        FileSource(Arc::new(Shared { label: None, files: vec![file] }))
    }

    /// Makes a source whose counters are sliding windows with this interval, of this number of
    /// buckets: for a console that shows rates and changes, and for a log of closed buckets.
    ///
    /// The windows are in this process, and are fed by reading the file. They count from the first
    /// reading on: what was added before is in none of them. What was added between two readings is
    /// in the bucket of the later one, so let an exporter ask at least once in each bucket.
    ///
    /// # Errors
    ///
    /// [`BuildError`], if no window can have this interval and this number of buckets.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::export::{Catalog, Form};
    /// use windrow_mapped::{File, FileSource, Reader};
    ///
    /// # let directory = tempfile::tempdir_in("/dev/shm")?;
    /// # let path = directory.path().join("app.windrow");
    /// File::open(&path)?.counter("calls", &[])?.add(3);
    ///
    /// let minute = Duration::from_secs(60);
    /// let mut catalog = Catalog::new();
    /// FileSource::with_windows(Reader::open(&path)?, minute, 60)?.add_to(&mut catalog)?;
    /// assert!(matches!(catalog.iter().next().unwrap().outline().form, Form::Window(..)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_windows(
        reader: Reader,
        interval: Duration,
        buckets: usize,
    ) -> Result<FileSource, BuildError> {
        let windows = Some(Windows::new(Geometry::new(interval, buckets)?));
        let file = Cached { windows, ..Cached::new(String::new(), reader) };
        Ok(FileSource(Arc::new(Shared { label: None, files: vec![file] })))
    }

    /// Makes one source of several files: all their series have a label with the value that its
    /// file is given here. Metrics of one name are one source, with the series of each file.
    ///
    /// A metric's own label of this name is exported with `exported_` before its name.
    ///
    /// # Errors
    ///
    /// [`NameError`], if the name cannot be that of a label.
    ///
    /// ```
    /// use windrow::export::Catalog;
    /// use windrow_mapped::{File, FileSource, Reader};
    ///
    /// # let directory = tempfile::tempdir_in("/dev/shm")?;
    /// # let [blue, green] = ["blue", "green"].map(|name| directory.path().join(name));
    /// File::open(&blue)?.counter("calls", &[])?.add(3);
    /// File::open(&green)?.counter("calls", &[])?.add(4);
    ///
    /// let files = [("blue", Reader::open(&blue)?), ("green", Reader::open(&green)?)];
    /// let mut catalog = Catalog::new();
    /// let added = FileSource::several("deployment", files)?.add_to(&mut catalog)?;
    /// assert_eq!(added, 1); // calls{deployment="blue"} and calls{deployment="green"}
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn several<V: Into<String>>(
        label: &str,
        readers: impl IntoIterator<Item = (V, Reader)>,
    ) -> Result<FileSource, NameError> {
        text::check_name(label)?;
        let files = readers.into_iter().map(|(file, reader)| Cached::new(file.into(), reader));
        let files = files.collect();
        Ok(FileSource(Arc::new(Shared { label: Some(label.to_owned()), files })))
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
        let mut seen: BTreeSet<String> =
            catalog.iter().map(|metric| metric.name().to_owned()).collect();
        let mut added = 0;
        for (_, _, reading) in self.0.readings() {
            for metric in reading.metrics() {
                if seen.insert(metric.name().to_owned()) {
                    let name = metric.name().to_owned();
                    let source = Named { shared: Arc::clone(&self.0), name };
                    catalog.add(metric.name(), "", source)?;
                    added += 1;
                }
            }
        }
        Ok(added)
    }

    /// Returns the error of the last read, if it was one; of several files, that of the first one
    /// that could not be read.
    pub fn error(&self) -> Option<Arc<MappedError>> {
        self.0.files.iter().find_map(|file| file.read().err())
    }
}

/// Shows the readers.
impl Debug for FileSource {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let readers: Vec<_> = self.0.files.iter().map(|file| &file.reader).collect();
        f.debug_tuple("FileSource").field(&readers).finish()
    }
}

impl Shared {
    /// Returns the readings of the files that can be read, with their numbers.
    fn readings(&self) -> impl Iterator<Item = (u64, &Cached, Arc<Reading>)> {
        let files = (0..).zip(&self.files);
        files.filter_map(|(number, file)| Some((number, file, file.read().ok()?)))
    }

    /// Returns the name under which a label of a metric is exported.
    fn exported<'l>(&self, label: &'l str) -> Cow<'l, str> {
        // A label whose name begins so may be there, too, and then has it twice.
        let own = label.trim_start_matches("exported_");
        match &self.label {
            Some(file) if own == file => Cow::Owned(format!("exported_{label}")),
            _ => Cow::Borrowed(label),
        }
    }
}

impl Cached {
    fn new(file: String, reader: Reader) -> Cached {
        Cached { file, reader, last: Mutex::default(), windows: None }
    }

    /// Returns the last reading, or a new one where that is older than an export.
    fn read(&self) -> Result<Arc<Reading>, Arc<MappedError>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let fresh = last.take().filter(|last| now.duration_since(last.at) < ONE_EXPORT);
        let read = || {
            let result = self.reader.read().map(Arc::new).map_err(Arc::new);
            if let (Some(windows), Ok(reading)) = (&self.windows, &result) {
                windows.feed(reading);
            }
            Last { at: now, result }
        };
        last.insert(fresh.unwrap_or_else(read)).result.clone()
    }

    /// Returns the window of a counter, if this source has windows.
    fn window(&self, metric: &Metric<'_>) -> Option<Arc<Window>> {
        self.windows.as_ref().and_then(|windows| windows.get(metric.number()))
    }
}

/// Returns a value as exporters show it: extremes as numbers that may go up and down.
fn of(value: Value) -> AnyMetric<'static> {
    match value {
        Value::Count(sum) => AnyMetric::Count(Some(sum)),
        Value::Extreme(value) => AnyMetric::Real(value.map_or(f64::NAN, |value| value as f64)),
    }
}

/// The metrics of a file with one name.
struct Named {
    shared: Arc<Shared>,
    name: String,
}

impl Source for Named {
    fn outline(&self) -> Outline {
        let mut outline = Outline::of_metric(Form::Counter);
        let (mut form, mut labels) = (None, BTreeSet::new());
        labels.extend(self.shared.label.clone());
        for (number, file, reading) in self.shared.readings() {
            for metric in reading.named(&self.name) {
                let read = Read::new(&self.shared, (number, file), metric);
                form.get_or_insert_with(|| read.metric().form());
                let exported = metric.labels().map(|(label, _)| self.shared.exported(label));
                labels.extend(exported.map(Cow::into_owned));
            }
        }
        outline.form = form.unwrap_or(Form::Counter);
        outline.labels = labels.into_iter().collect();
        outline.max_series = MOST_NAMES as usize * self.shared.files.len();
        outline
    }

    fn visit(&self, see: &mut dyn FnMut(&dyn Series)) {
        for (number, file, reading) in self.shared.readings() {
            for metric in reading.named(&self.name) {
                see(&Read::new(&self.shared, (number, file), metric));
            }
        }
    }
}

/// A metric that was read.
struct Read<'r> {
    metric: Metric<'r>,
    window: Option<Arc<Window>>,
    /// The number of its file, and the value of the label that tells it.
    number: u64,
    file: &'r str,
    shared: &'r Shared,
}

impl<'r> Read<'r> {
    fn new(shared: &'r Shared, (number, file): (u64, &'r Cached), metric: Metric<'r>) -> Read<'r> {
        Read { metric, window: file.window(&metric), number, file: &file.file, shared }
    }
}

impl Series for Read<'_> {
    fn number(&self) -> u64 {
        self.number << 32 | self.metric.number()
    }

    fn is_overflow(&self) -> bool {
        false
    }

    fn created(&self) -> Option<SystemTime> {
        None
    }

    fn labels(&self, see: &mut dyn FnMut(&str, LabelValue<'_>)) {
        if let Some(label) = &self.shared.label {
            see(label, LabelValue::Text(self.file));
        }
        for (label, value) in self.metric.labels() {
            see(&self.shared.exported(label), LabelValue::Text(value));
        }
    }

    fn metric(&self) -> AnyMetric<'_> {
        match &self.window {
            Some(window) => AnyMetric::Window(&**window),
            None => of(self.metric.value()),
        }
    }
}

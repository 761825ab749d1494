//! Files as a source for exporters.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use windrow::BuildError;
use windrow::export::{Catalog, CatalogError};

use crate::error::MappedError;
use crate::reader::Reader;
use crate::text;
use crate::windows::Windows;

mod files;
mod named;

use files::{Files, Watched};
use named::Named;

/// Files for exporters: `windrow-prometheus`, `windrow-otlp`, `windrow-opentelemetry`,
/// `windrow-console`.
///
/// [`add_to`](Self::add_to) adds each metric name of a file to a catalog as a source, whose
/// series are the sets of labels. A series that is registered later under such a name is exported
/// from then on. A *name* that is registered later is not, before `add_to` is called again. An
/// extreme is exported as a gauge, exactly up to 2^53. A histogram has the buckets that a
/// `windrow::Histogram` of its scale has. A pace is not exported.
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
/// let names: Vec<_> = catalog.iter().map(|metric| metric.name.clone()).collect();
/// assert_eq!(names, ["calls"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Cost
///
/// An export reads the file once, by [`Reader::read`], whatever the number of names. An export
/// within 100 ms of another one shows the same reading. If the file cannot be read, an export has
/// no series of it, and [`error`](Self::error) has the reason.
#[derive(Clone)]
pub struct FileSource(Arc<Files>);

impl FileSource {
    /// Makes a source of a reader.
    pub fn new(reader: Reader) -> FileSource {
        FileSource::of(None, vec![Watched::new(String::new(), reader, None)])
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
    /// assert!(matches!(catalog.iter().next().unwrap().source.outline().form, Form::Window(..)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_windows(
        reader: Reader,
        interval: Duration,
        buckets: usize,
    ) -> Result<FileSource, BuildError> {
        let windows = Some(Windows::new(interval, buckets)?);
        Ok(FileSource::of(None, vec![Watched::new(String::new(), reader, windows)]))
    }

    /// Makes one source of several files: all their series have a label with the value that its
    /// file is given here. Metrics of one name are one source, with the series of each file.
    ///
    /// A metric's own label of this name is exported with `exported_` before its name. A name that
    /// has another kind of metric, or another scale, in a later file is exported without that file.
    ///
    /// # Errors
    ///
    /// [`MappedError::BadName`], if the name cannot be that of a label.
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
    ) -> Result<FileSource, MappedError> {
        text::check_name(label)?;
        let watched = |(file, reader): (V, _)| Watched::new(file.into(), reader, None);
        let files = readers.into_iter().map(watched).collect();
        Ok(FileSource::of(Some(label.to_owned()), files))
    }

    fn of(label: Option<String>, files: Vec<Watched>) -> FileSource {
        FileSource(Arc::new(Files { label, files }))
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
        let mut seen: BTreeSet<String> = catalog.iter().map(|metric| metric.name.clone()).collect();
        let mut added = 0;
        let readings: Vec<_> = self.0.readings().map(|(_, _, reading)| reading).collect();
        for is_dead in [false, true] {
            let metrics = readings.iter().flat_map(|reading| reading.metrics());
            for metric in metrics.filter(|metric| !is_dead || metric.level().is_some()) {
                let exported = format!("{}{}", metric.name(), if is_dead { "_dead" } else { "" });
                if seen.insert(exported.clone()) {
                    catalog.add(&exported, "", Named::new(&self.0, &metric, is_dead))?;
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

shown! {
    /// Shows the readers.
    FileSource(source) {
        readers: source.0.files.iter().map(|file| &file.reader).collect::<Vec<_>>()
    }
}

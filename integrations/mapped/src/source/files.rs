//! The files of a source, each of which an export reads once.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crate::error::MappedError;
use crate::reader::Reader;
use crate::reading::{Metric, Reading};
use crate::windows::{Window, Windows};

/// An export reads all metrics within this time, and shows those of one reading.
const ONE_EXPORT: Duration = Duration::from_millis(100);

/// The files of a source.
pub(super) struct Files {
    /// The label by whose values several files are told apart.
    pub(super) label: Option<String>,
    pub(super) files: Vec<Watched>,
}

/// A file, of which an export reads the metrics once.
pub(super) struct Watched {
    /// The value of the label; empty if there is none.
    pub(super) file: String,
    pub(super) reader: Reader,
    /// The time at which the file was created, if its file system tells.
    pub(super) created: Option<SystemTime>,
    last: Mutex<Option<Last>>,
    windows: Option<Windows>,
}

/// The last reading, or the error instead, and its time.
struct Last {
    at: Instant,
    result: Result<Arc<Reading>, Arc<MappedError>>,
}

impl Files {
    /// Returns the readings of the files that can be read, with their numbers.
    pub(super) fn readings(&self) -> impl Iterator<Item = (u64, &Watched, Arc<Reading>)> {
        let files = (0..).zip(&self.files);
        files.filter_map(|(number, file)| Some((number, file, file.read().ok()?)))
    }

    /// Returns the name under which a label of a metric is exported.
    pub(super) fn exported<'l>(&self, label: &'l str) -> Cow<'l, str> {
        // A label whose name begins so may be there, too, and then has it twice.
        let own = label.trim_start_matches("exported_");
        match &self.label {
            Some(file) if own == file => Cow::Owned(format!("exported_{label}")),
            _ => Cow::Borrowed(label),
        }
    }
}

impl Watched {
    pub(super) fn new(file: String, reader: Reader, windows: Option<Windows>) -> Watched {
        let created = reader.file.metadata().and_then(|file| file.created()).ok();
        Watched { file, reader, created, last: Mutex::default(), windows }
    }

    /// Returns the last reading, or a new one where that is older than an export.
    pub(super) fn read(&self) -> Result<Arc<Reading>, Arc<MappedError>> {
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
    pub(super) fn window(&self, metric: &Metric<'_>) -> Option<Arc<Window>> {
        self.windows.as_ref().and_then(|windows| windows.get(metric.number()))
    }
}

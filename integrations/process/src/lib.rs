#![doc = include_str!("../README.md")]

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};

use metrics_process::collector::{Metrics, collect};
use windrow::export::{Catalog, CatalogError, from_fn, total_fn};

/// An export reads all numbers within this time, and shows those of one reading.
const ONE_EXPORT: Duration = Duration::from_millis(100);

/// A number of the process: its name, help text and unit, and the way to it.
type Gauge = (&'static str, &'static str, &'static str, fn(&Metrics) -> Option<u64>);

const GAUGES: [Gauge; 7] = [
    ("process_resident_memory_bytes", "Resident memory", "By", |all| all.resident_memory_bytes),
    ("process_virtual_memory_bytes", "Virtual memory", "By", |all| all.virtual_memory_bytes),
    ("process_virtual_memory_max_bytes", "Limit of the virtual memory", "By", |all| {
        limit(all.virtual_memory_max_bytes)
    }),
    ("process_open_fds", "Open file descriptors", "", |all| all.open_fds),
    ("process_max_fds", "Limit of open file descriptors", "", |all| limit(all.max_fds)),
    ("process_threads", "Threads of the operating system", "", |all| all.threads),
    ("process_start_time_seconds", "Start of the process, since 1970", "s", |all| {
        all.start_time_seconds
    }),
];

/// Adds the numbers of the process to a catalog, under the names of the [table](crate).
///
/// They are read at each export, on the exporter's thread. A number that the system does not tell
/// is absent.
///
/// # Errors
///
/// [`CatalogError::NameTaken`], if the catalog has one of the names. Those before it in the table
/// are added then.
///
/// ```
/// use windrow::export::{Catalog, CatalogError};
///
/// let mut catalog = Catalog::new();
/// windrow_process::add_to(&mut catalog)?;
/// assert!(windrow_process::add_to(&mut catalog).is_err(), "the names are taken");
/// # Ok::<(), CatalogError>(())
/// ```
pub fn add_to(catalog: &mut Catalog) -> Result<(), CatalogError> {
    let process = Arc::new(Process::default());
    let of = Arc::clone(&process);
    let mut seconds = total_fn(move || of.read(|all| all.cpu_seconds_total.unwrap_or(f64::NAN)));
    if let Some(start) = collect().start_time_seconds {
        seconds.since = Some(UNIX_EPOCH + Duration::from_secs(start));
    }
    catalog.add("process_cpu_seconds", "CPU time, user and system", seconds)?.unit = "s".into();
    for (name, help, unit, number) in GAUGES {
        let of = Arc::clone(&process);
        let number = from_fn(move || of.read(|all| number(all).map_or(f64::NAN, |n| n as f64)));
        catalog.add(name, help, number)?.unit = unit.into();
    }
    Ok(())
}

/// Returns a limit, unless there is none: that is a zero, or on macOS the greatest number.
fn limit(most: Option<u64>) -> Option<u64> {
    most.filter(|most| (1..i64::MAX as u64).contains(most))
}

/// The last reading, and its time.
#[derive(Default)]
struct Process {
    last: Mutex<Option<(Instant, Metrics)>>,
}

impl Process {
    /// Returns a number of the last reading, or of a new one where that is older than an export.
    fn read(&self, number: impl FnOnce(&Metrics) -> f64) -> f64 {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let fresh = last.take().filter(|(at, _)| now.duration_since(*at) < ONE_EXPORT);
        let (_, all) = last.insert(fresh.unwrap_or_else(|| (now, collect())));
        number(all)
    }
}

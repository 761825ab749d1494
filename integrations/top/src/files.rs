//! Frames of mapped files: what their metrics are, read once a second.
//!
//! Nothing is asked of the processes that count, so a file is read while they run, hang, or after
//! they were killed.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use windrow_mapped::{Kind, MappedError, Metric, Reader, Sampler, Value};

use crate::error::Error;
use crate::frame::{Frame, LONGEST_KEY, LONGEST_NAME, MOST_METRICS, NewMetric, NewRow};
use crate::frame::{Numbers, Owners, Whole};
use crate::legible::Legible;

/// The time between two frames.
const STEP: Duration = Duration::from_secs(1);

/// The span of rates, in steps.
const STEPS: u32 = 60;

/// The frames of files.
pub(crate) struct Frames {
    files: Vec<Watched>,
    begun: Instant,
    /// The time at which the last frame was made, and their number.
    last: Option<Instant>,
    number: u64,
    /// The metrics and the rows of the last frame.
    metrics: Vec<NewMetric>,
    rows: HashSet<u64>,
    /// The sum of all counters and histograms' counts, and the time at which it was another one.
    sum: Option<u64>,
    moved: Instant,
    /// The number of files that were replaced, by which a model tells that counters began anew.
    replaced: u64,
}

/// A file, with what it was when it was opened: another one may take its path.
struct Watched {
    path: String,
    file: Option<(u64, u64)>,
    sampler: Sampler,
}

impl Watched {
    fn open(path: &str) -> Result<Watched, Error> {
        let file = identity(path);
        let reader = Reader::open(path).map_err(error)?;
        Ok(Watched {
            path: path.to_owned(),
            file,
            sampler: Sampler::new(reader, STEPS as usize + 1),
        })
    }
}

/// Returns the device and the number of the file at a path; `None` if there is none.
fn identity(path: &str) -> Option<(u64, u64)> {
    let found = fs::symlink_metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

fn error(error: MappedError) -> Error {
    let is_unreadable = matches!(error, MappedError::Failed { .. });
    let error = Box::new(error);
    if is_unreadable { Error::Unreadable { error } } else { Error::NotCounters { error } }
}

impl Frames {
    pub(crate) fn open(paths: &[String]) -> Result<Frames, Error> {
        let files = paths.iter().map(|path| Watched::open(path)).collect::<Result<Vec<_>, _>>()?;
        let now = Instant::now();
        Ok(Frames {
            files,
            begun: now,
            last: None,
            number: 0,
            metrics: Vec::new(),
            rows: HashSet::new(),
            sum: None,
            moved: now,
            replaced: 0,
        })
    }

    /// Reads the files, a second after the last time.
    pub(crate) fn next(&mut self) -> Result<Frame, Error> {
        if let Some(last) = self.last {
            thread::sleep(STEP.saturating_sub(last.elapsed()));
        }
        self.last = Some(Instant::now());
        for at in 0..self.files.len() {
            let watched = &mut self.files[at];
            let now = identity(&watched.path);
            if now.is_some() && now != watched.file {
                *watched = Watched::open(&watched.path)?;
                (self.replaced, self.metrics) = (self.replaced + 1, Vec::new());
                self.begun = Instant::now();
            }
            self.files[at].sampler.sample().map_err(error)?;
        }
        Ok(self.frame())
    }

    /// Makes a frame of the last samples. It is a whole one if it has a metric that none had.
    fn frame(&mut self) -> Frame {
        let mut read = Read::default();
        for (file, watched) in self.files.iter().enumerate() {
            let several = (self.files.len() > 1).then_some(&*watched.path);
            read.file(file as u64, several, &watched.sampler);
        }
        let now = Instant::now();
        if self.sum.replace(read.sum) != Some(read.sum) {
            self.moved = now;
        }
        let millis = |time: Duration| time.as_secs_f64() * 1e3;
        let is_whole = self.metrics != read.metrics;
        let known = if is_whole { HashSet::new() } else { std::mem::take(&mut self.rows) };
        self.rows = read.rows.iter().map(|row| row.id).collect();
        let gone = known.difference(&self.rows).copied().collect();
        let is_known = |row: &NewRow| known.contains(&row.id);
        let (known, new): (Vec<_>, Vec<_>) = read.rows.into_iter().partition(is_known);
        self.number += 1;
        let frame = Frame {
            epoch: self.replaced.to_string(),
            number: self.number,
            age: millis(now - self.begun),
            time: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, millis),
            whole: is_whole.then(|| self.whole(&read.metrics)),
            rows: new,
            spans: known.iter().map(|row| (row.id, row.span)).collect(),
            changed: known.into_iter().map(|row| (row.id, row.numbers)).collect(),
            gone,
            still: millis(now - self.moved),
            owners: read.owners,
            ..Frame::default()
        };
        self.metrics = read.metrics;
        frame
    }

    fn whole(&self, metrics: &[NewMetric]) -> Whole {
        let names: Vec<&str> = self.files.iter().map(|watched| &*watched.path).collect();
        let service = Legible::of(&names.join(" "), LONGEST_NAME);
        Whole { service, is_of_files: true, metrics: metrics.to_vec(), ..Whole::default() }
    }
}

/// The percentiles of a histogram, as a console's rows have them.
const QUANTILES: [f64; 3] = [0.5, 0.9, 0.99];

/// The part of a row's number that says that it is what dead processes have left.
const DEAD: u64 = 1 << 31;

/// The rows of all files.
#[derive(Default)]
struct Read {
    metrics: Vec<NewMetric>,
    /// The index in `metrics` of each name.
    places: HashMap<String, usize>,
    rows: Vec<NewRow>,
    /// The sum of all counters and histograms' counts.
    sum: u64,
    owners: Owners,
}

impl Read {
    /// Adds the rows of a file. They have its path if it is one of `several`.
    fn file(&mut self, number: u64, several: Option<&str>, sampler: &Sampler) {
        let Some(reading) = sampler.latest() else { return };
        for owner in reading.owners() {
            let number = if owner.is_live { &mut self.owners.live } else { &mut self.owners.ended };
            *number += 1;
        }
        for (at, metric) in (0_u64..).zip(reading.metrics()) {
            let increase = sampler.increase_of(&metric, STEP * STEPS);
            let (form, numbers) = match metric.value() {
                Value::Count(sum) => {
                    self.sum = self.sum.wrapping_add(sum);
                    let closed = increase.map(|increase| increase.count() as f64);
                    ("window", vec![Some(sum as f64), closed])
                }
                Value::Extreme(value) => {
                    let is_maximum = metric.kind() == Kind::Maximum;
                    let form = if is_maximum { "maximum" } else { "minimum" };
                    (form, vec![value.map(|value| value as f64)])
                }
                Value::Values { count, .. } => {
                    self.sum = self.sum.wrapping_add(count);
                    ("histogram", of_values(&metric))
                }
                Value::Level(level) => {
                    if level.dead != 0 {
                        let name = format!("{}_dead", metric.name());
                        let dead = ("gauge", vec![Some(level.dead as f64)]);
                        self.row(number << 32 | DEAD | at, &name, &metric, several, dead);
                    }
                    ("gauge", vec![Some(level.live as f64)])
                }
                _ => continue, // of a later version
            };
            let span = increase.map_or(0.0, |increase| increase.span().as_nanos() as f64);
            let id = number << 32 | at;
            if let Some(row) = self.row(id, metric.name(), &metric, several, (form, numbers)) {
                row.span = span;
            }
        }
    }

    /// Adds a row, unless there are too many metrics. The form is one of a console's.
    fn row(
        &mut self,
        id: u64,
        name: &str,
        metric: &Metric<'_>,
        several: Option<&str>,
        (form, numbers): (&str, Numbers),
    ) -> Option<&mut NewRow> {
        let place = self.place(name, form)?;
        let key = key(name, metric, several);
        let row = NewRow { id, metric: place, key, span: 0.0, numbers, past: Vec::new() };
        self.rows.push(row);
        self.rows.last_mut()
    }

    /// Returns the index of a metric; `None` if there are too many.
    fn place(&mut self, name: &str, form: &str) -> Option<usize> {
        if let Some(place) = self.places.get(name) {
            return Some(*place);
        }
        let place = self.metrics.len();
        (place < MOST_METRICS).then(|| {
            // A counter is a window here: its sum, and the increase of the last minute.
            let count = || (String::new(), "Count".to_owned(), String::new());
            self.metrics.push(NewMetric {
                name: Legible::of(name, LONGEST_NAME),
                form: form.to_owned(),
                events: (form == "window").then(count).into_iter().collect(),
                unit: String::new(),
            });
            self.places.insert(name.to_owned(), place);
            place
        })
    }
}

/// Returns the numbers of a histogram's row, as a console writes them: the all-time count; and of
/// these values count, sum, minimum, maximum and percentiles.
fn of_values(metric: &Metric<'_>) -> Numbers {
    let Some(values) = metric.distribution() else { return Vec::new() };
    let count = Some(values.count() as f64);
    let mut numbers = vec![count, count, Some(values.sum() as f64)];
    let extremes = [values.min(), values.max()];
    let all = extremes.into_iter().chain(QUANTILES.map(|q| values.quantile(q)));
    numbers.extend(all.map(|value| value.map(|value| value as f64)));
    numbers
}

/// Returns the name of a row, as a console writes it: `calls{route="/cart"}`.
fn key(name: &str, metric: &Metric<'_>, file: Option<&str>) -> String {
    let mut key = name.to_owned();
    let labels = file.map(|file| ("file", file)).into_iter().chain(metric.labels());
    for (at, (label, value)) in labels.enumerate() {
        let begin = if at == 0 { '{' } else { ',' };
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let _ = write!(key, "{begin}{label}=\"{value}\""); // writing to a `String` cannot fail
    }
    if key.len() > name.len() {
        key.push('}');
    }
    key.chars().take(LONGEST_KEY).collect()
}

#[cfg(test)]
mod tests;

//! Rates and windows of a file's counters, by sampling in the reader.
//!
//! Processes that count know no windows: a reader keeps a ring of what it has read, and the
//! difference of two readings is what was added between them. So a rate costs the writers nothing,
//! and a process that hangs has one too.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::error::MappedError;
use crate::reader::Reader;
use crate::reading::{Metric, Reading};

/// A reader that keeps a ring of readings: rates and sliding windows of a file's counters.
///
/// Call [`sample`](Self::sample) in even steps, e.g. once a second. Windows are then as long as any
/// number of steps, up to the length of the ring.
///
/// ```
/// use std::time::Duration;
/// use windrow_mapped::{File, Reader, Sampler};
///
/// # let directory = tempfile::tempdir_in("/dev/shm")?;
/// # let path = directory.path().join("app.windrow");
/// let calls = File::open(&path)?.counter("calls", &[])?;
/// calls.add(3);
///
/// let mut sampler = Sampler::new(Reader::open(&path)?, 61); // a minute, by steps of a second
/// sampler.sample()?;
/// calls.add(4);
/// sampler.sample()?; // a second later
///
/// let increase = sampler.increase("calls", &[], Duration::from_secs(1))?;
/// assert_eq!(increase.map(|increase| increase.count()), Some(4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Promise
///
/// The count of an [`Increase`] is the difference of two sums, each of which lies between what had
/// been added when its reading began, and when it returned. So consecutive increases add up to the
/// sum, and nothing is counted twice or lost, whatever the times of the samples. A counter that was
/// registered between the two readings has begun at zero.
///
/// Other metrics have no windows: a greatest value, or a level, says nothing about the time before.
///
/// # Cost
///
/// A sample costs a [read](Reader::read), and keeps 8 bytes for each column.
pub struct Sampler {
    reader: Reader,
    most: usize,
    ring: VecDeque<Sample>,
}

struct Sample {
    /// The time at which the reading began.
    at: Instant,
    reading: Reading,
}

/// The amount that was added to a counter between two samples, by all processes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Increase {
    count: u64,
    span: Duration,
}

impl Increase {
    /// Returns what was added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the time between the two samples.
    pub fn span(&self) -> Duration {
        self.span
    }

    /// Returns the rate: what was added for each second of the span.
    pub fn per_second(&self) -> f64 {
        self.count as f64 / self.span.as_secs_f64()
    }
}

impl Sampler {
    /// Makes a sampler that keeps the given number of samples, and at least two.
    pub fn new(reader: Reader, samples: usize) -> Sampler {
        Sampler { reader, most: samples.max(2), ring: VecDeque::new() }
    }

    /// Reads the file, keeps what was read, and returns it. Forgets the oldest sample if the ring
    /// is full.
    ///
    /// # Errors
    ///
    /// The errors of [`Reader::read`]. The samples from before stay.
    pub fn sample(&mut self) -> Result<&Reading, MappedError> {
        let at = Instant::now();
        let reading = self.reader.read()?;
        Ok(self.keep(at, reading))
    }

    /// Returns the last sample; `None` before the first one.
    pub fn latest(&self) -> Option<&Reading> {
        self.ring.back().map(|sample| &sample.reading)
    }

    /// Returns what was added to a counter in the last `span`: from the newest sample that is at
    /// least that old to the last one; or from the oldest sample, if none is.
    ///
    /// `None` if there are no two samples, or the file has no such counter.
    ///
    /// # Errors
    ///
    /// [`MappedError::BadName`], if no file can have the name or the labels.
    pub fn increase(
        &self,
        name: &str,
        labels: &[(&str, &str)],
        span: Duration,
    ) -> Result<Option<Increase>, MappedError> {
        let Some((from, to)) = self.ends(span) else { return Ok(None) };
        let metric = to.reading.get(name, labels)?;
        Ok(metric.and_then(|metric| between(from, to, &metric)))
    }

    /// Returns what was added to a counter of the [last sample](Self::latest), as
    /// [`increase`](Self::increase) does, without a look for its name.
    pub fn increase_of(&self, metric: &Metric<'_>, span: Duration) -> Option<Increase> {
        self.ends(span).and_then(|(from, to)| between(from, to, metric))
    }

    fn keep(&mut self, at: Instant, reading: Reading) -> &Reading {
        if self.ring.len() == self.most {
            self.ring.pop_front();
        }
        self.ring.push_back(Sample { at, reading });
        &self.ring[self.ring.len() - 1].reading
    }

    /// Returns the sample with which a window begins, and the last one.
    fn ends(&self, span: Duration) -> Option<(&Sample, &Sample)> {
        let to = self.ring.back()?;
        let mut before = self.ring.iter().rev().skip(1);
        let old = before.find(|sample| to.at.saturating_duration_since(sample.at) >= span);
        let from = old.or_else(|| self.ring.front())?;
        (from.at < to.at).then_some((from, to))
    }
}

/// Returns what was added to a counter between two samples.
fn between(from: &Sample, to: &Sample, metric: &Metric<'_>) -> Option<Increase> {
    let sum = metric.sum()?;
    let count = sum.wrapping_sub(from.reading.sum_before(metric));
    Some(Increase { count, span: to.at.saturating_duration_since(from.at) })
}

shown! {
    /// Shows the reader and the number of samples.
    Sampler(sampler) { reader: sampler.reader, samples: sampler.ring.len() }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;
    use crate::file::File;

    /// A file and its sampler, whose samples a test takes at seconds of its own.
    struct Taken {
        file: File,
        sampler: Sampler,
        begun: Instant,
    }

    impl Taken {
        fn new(samples: usize) -> Taken {
            let file = File::builder().columns(8).sealed().unwrap();
            let open = file.as_fd().try_clone_to_owned().unwrap();
            let reader = Reader::from_file(open.into()).unwrap();
            Taken { file, sampler: Sampler::new(reader, samples), begun: Instant::now() }
        }

        fn sample(&mut self, second: u64) {
            let reading = self.sampler.reader.read().unwrap();
            self.sampler.keep(self.begun + Duration::from_secs(second), reading);
        }

        /// Returns the count and the seconds of a window.
        fn window(&self, seconds: u64) -> Option<(u64, u64)> {
            let increase = self.sampler.increase("calls", &[], Duration::from_secs(seconds));
            increase.unwrap().map(|increase| (increase.count(), increase.span().as_secs()))
        }
    }

    #[test]
    fn windows_have_what_was_added_between_two_samples() {
        let mut taken = Taken::new(4);
        assert!(taken.sampler.latest().is_none());
        taken.sample(0);
        let calls = taken.file.counter("calls", &[]).unwrap();
        calls.add(5);
        assert_eq!(taken.window(1), None, "one sample is no window");
        taken.sample(1); // it was registered since: all of it was added in this second
        assert_eq!(taken.window(1), Some((5, 1)));
        for second in [2, 3, 4] {
            calls.add(second);
            taken.sample(second);
        }
        assert_eq!([1, 2, 3].map(|span| taken.window(span).unwrap()), [(4, 1), (7, 2), (9, 3)]);
        assert_eq!(taken.window(60), Some((9, 3)), "the ring has four samples");
        // A late sample makes a longer window, and loses nothing.
        calls.add(6);
        taken.sample(9);
        assert_eq!((taken.window(1), taken.window(6)), (Some((6, 5)), Some((10, 6))));
        let increase = taken.sampler.increase("calls", &[], Duration::from_secs(1)).unwrap();
        assert_eq!(increase.map(|increase| increase.per_second()), Some(1.2));
    }

    #[test]
    fn all_counters_and_no_extremes_have_windows() {
        let mut taken = Taken::new(2);
        let [one, two] = ["one", "two"].map(|name| taken.file.counter(name, &[]).unwrap());
        taken.file.maximum("most", &[]).unwrap().record(9);
        one.add(u64::MAX);
        taken.sample(0);
        one.add(3); // the sum wraps, and the difference does not mind
        two.add(4);
        taken.sample(2);
        let by = |metric: Metric<'_>| taken.sampler.increase_of(&metric, Duration::ZERO);
        let all = taken.sampler.latest().unwrap().metrics();
        let all: Vec<_> = all.map(|metric| by(metric).map(|by| by.count())).collect();
        assert_eq!(all, [Some(3), Some(4), None]);
        assert_eq!(taken.sampler.increase("most", &[], Duration::ZERO).unwrap(), None);
        assert!(taken.sampler.increase("", &[], Duration::ZERO).is_err());
    }
}

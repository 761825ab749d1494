//! The changes that go on now, over all series.

use super::change::Change;
use super::watched::Watched;

/// The changes that a pass over all series has found.
#[derive(Default)]
pub(crate) struct Unusual {
    pub(crate) found: Vec<Found>,
    /// The milliseconds since the last change of any series ended; and those of the known past.
    ended: Option<u64>,
    known: Option<u64>,
    /// The windows, and those of them that have a past to compare with.
    pub(crate) windows: u64,
    pub(crate) compared: u64,
}

/// A change of a series.
pub(crate) struct Found {
    /// The position of the series' metric.
    pub(crate) metric: usize,
    pub(crate) key: String,
    pub(crate) change: Change,
    /// The milliseconds since it began.
    pub(crate) ago: u64,
    /// True if its values are nanoseconds.
    pub(crate) is_duration: bool,
}

impl Unusual {
    /// Takes what the watch of a series says. `is_duration` tells whether an event's values are
    /// nanoseconds. Without a watch, the series is one that is not compared.
    pub(crate) fn note(
        &mut self,
        (metric, key): (usize, &str),
        watched: Option<&Watched>,
        is_duration: impl Fn(usize) -> bool,
    ) {
        self.windows += 1;
        let Some(watched) = watched.filter(|watched| watched.watch.levels.is_ready()) else {
            return;
        };
        self.compared += 1;
        let watch = &watched.watch;
        let ended = watch.changes.ended().map(|at| watched.ago(at));
        self.ended = [self.ended, ended].into_iter().flatten().min();
        let known = watch.known_since.map(|at| watched.ago(at));
        self.known = [self.known, known].into_iter().flatten().max();
        for change in &watch.changes.on {
            let is_duration = watched.roles.values.is_some_and(&is_duration);
            let (key, ago) = (key.to_owned(), watched.ago(change.since));
            self.found.push(Found { metric, key, change: *change, ago, is_duration });
        }
    }

    /// Ends the pass: the most urgent comes first.
    pub(crate) fn sort(&mut self) {
        self.found.sort_by(|one, other| {
            let order = other.change.weight().total_cmp(&one.change.weight());
            order.then_with(|| one.key.cmp(&other.key))
        });
    }

    /// Returns the milliseconds since anything was unusual: since the end of the last change, or
    /// the beginning of the known past.
    pub(crate) fn calm(&self) -> Option<u64> {
        self.ended.or(self.known)
    }
}

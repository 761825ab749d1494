//! The readings of heavy keys: over which spans, and in which frames.

use std::time::{Duration, Instant};

use crate::shown::heavy::{Heavy, Top};

const MINUTE: Duration = Duration::from_secs(60);

const HOUR: Duration = Duration::from_secs(3_600);

/// The longest bucket of which some make a minute. The current one has only begun.
const FINE: Duration = Duration::from_secs(15);

/// A frame reads the keys anew after this many times the time that the last reading took.
const REST: u32 = 9;

/// Reads the heaviest keys of each span.
pub(crate) fn tops(heavy: &Heavy) -> Vec<Top> {
    spans(heavy).filter_map(|span| heavy.keys.top(span).ok()).collect()
}

/// Returns the last minute, if the buckets are fine enough, the interval, the last hour and the
/// longest span, as far as tiers reach.
fn spans(heavy: &Heavy) -> impl Iterator<Item = Duration> {
    let [bucket, interval, longest] = heavy.keys.lengths();
    let minute = (interval > MINUTE && bucket <= FINE).then_some(MINUTE);
    let hour = (interval < HOUR && longest > HOUR).then_some(HOUR);
    let longest = (longest > interval).then_some(longest);
    minute.into_iter().chain([interval]).chain(hour).chain(longest)
}

/// The times of the readings for frames.
#[derive(Default)]
pub(crate) struct Turns {
    /// The time of the last reading, and the time that it took.
    last: Option<(Instant, Duration)>,
}

impl Turns {
    /// Reads all, if it is time for it.
    pub(crate) fn read<'h>(&mut self, all: &'h [Heavy]) -> Option<Vec<(&'h Heavy, Vec<Top>)>> {
        if self.last.is_some_and(|(at, took)| at.elapsed() < took * REST) {
            return None;
        }
        let begun = Instant::now();
        let read = all.iter().map(|heavy| (heavy, tops(heavy))).collect();
        self.last = Some((Instant::now(), begun.elapsed()));
        Some(read)
    }
}

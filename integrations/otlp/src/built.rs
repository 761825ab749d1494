//! The times at which windows were built.

use std::cell::RefCell;
use std::collections::HashMap;
use std::mem::take;

/// The times at which windows were built that have no series of a family, by source and series.
///
/// Each is read once: a window derives it from the present time, which would make it another one at
/// each export.
pub(crate) struct Built {
    sources: RefCell<Vec<HashMap<u64, Known>>>,
}

struct Known {
    time: u64,
    /// True if the present collection has seen the series.
    is_seen: bool,
}

impl Built {
    /// Returns that of `sources`, without any series.
    pub(crate) fn new(sources: usize) -> Built {
        Built { sources: RefCell::new((0..sources).map(|_| HashMap::new()).collect()) }
    }

    /// Returns the time of a series, which `derived` returns if it is not known.
    pub(crate) fn time(&self, source: usize, series: u64, derived: impl FnOnce() -> u64) -> u64 {
        let mut sources = self.sources.borrow_mut();
        let derived = || Known { time: derived(), is_seen: true };
        let known = sources[source].entry(series).or_insert_with(derived);
        known.is_seen = true;
        known.time
    }

    /// Notes that a series is there, though it could not be read.
    pub(crate) fn see(&self, source: usize, series: u64) {
        if let Some(known) = self.sources.borrow_mut()[source].get_mut(&series) {
            known.is_seen = true;
        }
    }

    /// Forgets the series of a source that the present collection, which ends, has not seen.
    pub(crate) fn forget_removed(&self, source: usize) {
        self.sources.borrow_mut()[source].retain(|_, known| take(&mut known.is_seen));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_windows_that_are_there_are_kept() {
        let built = Built::new(2);
        let count = || built.sources.borrow().iter().map(HashMap::len).sum::<usize>();
        for series in 0..1_000 {
            assert_eq!(built.time(0, series, || series), series);
        }
        assert_eq!(built.time(1, 7, || 70), 70);
        built.forget_removed(0);
        assert_eq!(count(), 1_001);
        assert_eq!(built.time(0, 7, || unreachable!()), 7);
        built.see(0, 8);
        built.see(0, 1_000); // one that was never read
        built.forget_removed(0);
        assert_eq!(count(), 3);
        assert_eq!(built.time(0, 8, || unreachable!()), 8);
        assert_eq!(built.time(1, 7, || unreachable!()), 70);
    }
}

//! The times since which series count.

use std::collections::HashMap;
use std::fmt::{self, Debug, Formatter};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::metric::AnyMetric;
use super::source::Series;

/// The times since which the series of one [source](super::Source) have counted: start times, for
/// exporters of all-time totals.
///
/// A series of a family has counted since [it was made](Series::created), a window since it was
/// built, and any other metric since a time that the program gives.
///
/// ```
/// use std::time::{Duration, UNIX_EPOCH};
///
/// use windrow::export::{Source, StartTimes};
/// use windrow::{Counter, Family, labels};
///
/// labels! { pub struct Route { route: str } }
///
/// let (hits, requests) = (Counter::new(), Family::<Route, Counter>::new());
/// requests.with(Route { route: "/cart" }).increment();
///
/// let since = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
/// let starts = StartTimes::since(since);
/// hits.visit(&mut |series| assert_eq!(starts.of(series, series.metric()), since));
/// requests.visit(&mut |series| {
///     assert_eq!(Some(starts.of(series, series.metric())), series.created());
/// });
/// ```
pub struct StartTimes {
    since: SystemTime,
    /// The times at which windows were built that have no series of a family, by the numbers of
    /// their series. Each is read once: a window derives it from the present time, which would make
    /// it another one at each export.
    windows: Mutex<HashMap<u64, Derived>>,
}

struct Derived {
    time: SystemTime,
    /// The number of exports that have ended since the last one that has seen the series.
    missed: u32,
}

/// The number of exports for which the time of an absent series is kept. Exports that run at the
/// same time may end between the visit and the end of another.
const KEPT: u32 = 8;

impl StartTimes {
    /// Makes the start times of a source. `since` is the time since which metrics have counted that
    /// do not know it themselves.
    #[inline]
    pub fn since(since: SystemTime) -> StartTimes {
        StartTimes { since, windows: Mutex::default() }
    }

    /// Returns the time since which a series has counted, which is the same at each export.
    ///
    /// `metric` is the [metric](Series::metric) of the series.
    #[inline]
    pub fn of(&self, series: &dyn Series, metric: AnyMetric<'_>) -> SystemTime {
        series.created().unwrap_or_else(|| match metric {
            AnyMetric::Window(window) => {
                self.window(series.number(), || window.system_time(window.lifetime().start))
            }
            _ => self.since,
        })
    }

    fn window(&self, series: u64, derived: impl FnOnce() -> SystemTime) -> SystemTime {
        let mut windows = self.lock();
        let derived = || Derived { time: derived(), missed: 0 };
        let known = windows.entry(series).or_insert_with(derived);
        known.missed = 0;
        known.time
    }

    /// Notes that the series with a [number](Series::number) is there, though it could not be read.
    /// For `windrow-otlp`.
    #[doc(hidden)]
    #[inline]
    pub fn see(&self, series: u64) {
        if let Some(known) = self.lock().get_mut(&series) {
            known.missed = 0;
        }
    }

    /// Forgets the series that this export, which ends, and some before it have not seen.
    ///
    /// An exporter calls it after each visit, unless removed series [may
    /// return](super::Outline::series_return).
    #[inline]
    pub fn forget_removed(&self) {
        self.lock().retain(|_, known| {
            known.missed += 1;
            known.missed <= KEPT
        });
    }

    #[inline]
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Derived>> {
        // A clock of the program's own may panic under the lock: before anything is inserted.
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shows the program's time.
impl Debug for StartTimes {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("StartTimes").field("since", &self.since).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn the_time_of_a_window_stays_while_exports_overlap() {
        let starts = StartTimes::since(UNIX_EPOCH);
        for second in 0..100 {
            let derived = || UNIX_EPOCH + Duration::from_secs(second);
            assert_eq!([(); 2].map(|()| starts.window(0, derived)), [UNIX_EPOCH; 2]);
            starts.forget_removed();
            starts.forget_removed();
        }
    }

    #[test]
    fn only_windows_that_are_there_are_kept() {
        let starts = StartTimes::since(UNIX_EPOCH);
        let at = |seconds| UNIX_EPOCH + Duration::from_secs(seconds);
        let count = || starts.lock().len();
        for series in 0..1_000 {
            assert_eq!(starts.window(series, || at(series)), at(series));
        }
        for _ in 0..KEPT {
            starts.forget_removed();
            assert_eq!(count(), 1_000);
        }
        assert_eq!(starts.window(7, || unreachable!()), at(7));
        starts.see(8);
        starts.see(1_000); // one that was never read
        starts.forget_removed();
        assert_eq!(count(), 2);
        assert_eq!(starts.window(8, || unreachable!()), at(8));
    }
}

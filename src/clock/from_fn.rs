//! A clock that is a function.

use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use super::Clock;
use crate::timestamp::Timestamp;

/// Returns a clock that calls `now` for the time, and whose resolution is `resolution`.
///
/// Every add calls `now`, so it must neither block nor panic. The resolution is the smallest
/// difference between two different readings; zero for a function that can return any time.
/// (Functions do not implement [`Clock`](crate::Clock) themselves, because that would conflict with
/// its implementation for references.)
///
/// ```
/// use std::time::{Duration, Instant};
/// use windrow::{SlidingWindow, Timestamp, clock, events};
///
/// events! { enum Hits { Hit: Count } }
///
/// let begun = Instant::now();
/// let since = move || Timestamp::from_nanos(0) + begun.elapsed();
/// let window = SlidingWindow::<Hits>::builder()
///     .clock(clock::from_fn(since, Duration::from_micros(1)))
///     .build()?;
/// window.add(Hits::Hit, 1);
/// assert_eq!(window.lifetime(Hits::Hit).sum, 1);
/// # Ok::<(), windrow::BuildError>(())
/// ```
pub fn from_fn<F: Fn() -> Timestamp>(now: F, resolution: Duration) -> FromFn<F> {
    FromFn { now, resolution }
}

/// A clock that is a function: from [`from_fn`].
///
/// ```
/// use std::time::Duration;
/// use windrow::{Clock, Timestamp, clock};
///
/// let noon: clock::FromFn<_> = clock::from_fn(|| Timestamp::from_secs(43_200), Duration::ZERO);
/// assert_eq!(noon.now(), Timestamp::from_secs(43_200));
/// ```
#[derive(Clone, Copy)]
pub struct FromFn<F> {
    now: F,
    resolution: Duration,
}

impl<F: Fn() -> Timestamp> Clock for FromFn<F> {
    #[inline]
    fn now(&self) -> Timestamp {
        (self.now)()
    }

    fn resolution(&self) -> Duration {
        self.resolution
    }
}

/// Shows the resolution.
impl<F> Debug for FromFn<F> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFn").field("resolution", &self.resolution).finish_non_exhaustive()
    }
}

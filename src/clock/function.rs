//! A clock that is a function.

use std::time::Duration;

use super::Clock;
use crate::timestamp::Timestamp;

/// A function that returns the time, and its resolution.
///
/// Every add calls the function, so it must neither block nor panic. The resolution is the smallest
/// difference between two different readings; zero for a function that can return any time.
/// (Functions alone do not implement [`Clock`], because that would conflict with its
/// implementation for references.)
///
/// ```
/// use std::time::{Duration, Instant};
/// use windrow::{SlidingWindow, Timestamp, events};
///
/// events! { enum Hits { Hit: Count } }
///
/// let begun = Instant::now();
/// let since = move || Timestamp::from_nanos(0) + begun.elapsed();
/// let window = SlidingWindow::<Hits>::builder()
///     .clock((since, Duration::from_micros(1)))
///     .build()?;
/// window.add(Hits::Hit, 1);
/// assert_eq!(window.lifetime(Hits::Hit).sum, 1);
/// # Ok::<(), windrow::BuildError>(())
/// ```
impl<F: Fn() -> Timestamp> Clock for (F, Duration) {
    #[inline]
    fn now(&self) -> Timestamp {
        (self.0)()
    }

    fn resolution(&self) -> Duration {
        self.1
    }
}

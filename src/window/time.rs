//! The time of a window's clock, and the wall-clock time that corresponds to it.

use std::time::SystemTime;

use super::SlidingWindow;
use crate::clock::Clock;
use crate::event::Events;
use crate::timestamp::Timestamp;

/// # Time
impl<E: Events, C: Clock> SlidingWindow<E, C> {
    /// Returns the window's clock.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// use std::time::Duration;
    /// use windrow::{SlidingWindow, clock::Manual};
    ///
    /// let window = SlidingWindow::<Hits>::builder().clock(Manual::default()).build()?;
    /// window.add(Hits::Hit, 1);
    /// window.clock().advance(Duration::from_secs(1));
    /// assert_eq!(window.sum(Hits::Hit), 0);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    #[doc(alias = "now")]
    pub fn clock(&self) -> &C {
        self.ring.clock()
    }

    /// Returns the time, by the window's clock, at which the window was built.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// use std::time::Duration;
    /// use windrow::{Clock, SlidingWindow, clock::Manual};
    ///
    /// let window = SlidingWindow::<Hits>::builder().clock(Manual::default()).build()?;
    /// window.clock().advance(Duration::from_secs(5));
    /// assert_eq!(window.clock().now() - window.built(), Duration::from_secs(5));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn built(&self) -> Timestamp {
        self.ring.built()
    }

    /// Returns the wall-clock time of a moment on the window's clock, past or future; for the
    /// buckets that [`drain_closed`](Self::drain_closed) hands out, for example.
    ///
    /// It is as far from the wall clock's reading as `at` is from that of the window's clock. Its
    /// error, by which two calls may differ, is the resolution of both clocks, the time between the
    /// two readings, and any step of the wall clock between `at` and the call. A clock that does
    /// not run with real time ([`Manual`](crate::clock::Manual)) is taken to do so from now on.
    ///
    /// [`SystemTime::UNIX_EPOCH`] if the system cannot represent the time: on Windows before 1601,
    /// elsewhere none within 584 years of today.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// use std::time::{Duration, SystemTime};
    /// use windrow::Clock;
    ///
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// let started = window.system_time(window.clock().now() - Duration::from_secs(60));
    /// let ago = SystemTime::now().duration_since(started).unwrap_or_default();
    /// println!("a minute ago, so about {} s", ago.as_secs());
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn system_time(&self, at: Timestamp) -> SystemTime {
        let (now, wall) = (self.ring.clock().now(), SystemTime::now());
        let time = if at < now { wall.checked_sub(now - at) } else { wall.checked_add(at - now) };
        time.unwrap_or(SystemTime::UNIX_EPOCH)
    }
}

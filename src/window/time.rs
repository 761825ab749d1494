//! The time of a window's clock.

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
}

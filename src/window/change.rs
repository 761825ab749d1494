//! Changing a window's geometry, and clearing it.

use std::time::Duration;

use super::SlidingWindow;
use crate::clock::Clock;
use crate::error::BuildError;
use crate::event::Events;
use crate::ring::{Geometry, RingAndClock};

/// # Changes
impl<E: Events, C: Clock> SlidingWindow<E, C> {
    /// Changes the interval and the number of buckets, while other threads add and read.
    ///
    /// Each bucket of the old ring goes, with all its counts, into the new bucket that contains its
    /// start. If that bucket is outside the new ring, the counts remain in
    /// [`lifetime`](Self::lifetime) only. Nothing is lost, adds under way included. Afterwards the
    /// newest bucket is the one that contains the old newest start.
    ///
    /// The old ring's memory is kept until a change or two after this one, also if changes are
    /// frequent or a drain is running. No caller [retries without
    /// end](crate::guide::design::windows#changing-the-geometry).
    ///
    /// # Errors
    ///
    /// Those of [`WindowBuilder::build`](crate::WindowBuilder::build); then the window stays as it
    /// was. A clock too coarse for the new buckets is refused even if the builder
    /// [allowed](crate::WindowBuilder::allow_coarse_clock) it for the first ones.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// # use std::time::Duration;
    /// # let clock = windrow::clock::Manual::default();
    /// let window = windrow::SlidingWindow::<Hits>::builder().clock(clock.clone()).build()?;
    /// window.add(Hits::Hit, 4);
    /// window.reconfigure(Duration::from_secs(60), 60)?;
    /// assert_eq!(window.buckets(), 60);
    /// clock.advance(Duration::from_secs(59));
    /// assert_eq!(window.sum(Hits::Hit), 4);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn reconfigure(&self, interval: Duration, buckets: usize) -> Result<(), BuildError> {
        let geometry = Geometry::new(interval, buckets)?;
        geometry.check_clock(self.ring.clock())?;
        self.ring.reconfigure(geometry)
    }

    /// Empties the interval and begins anew, while adds and reads go on; for example when a circuit
    /// breaker opens.
    ///
    /// Each add is before the call or after it, as a whole. An add before it counts from then on
    /// only in [`lifetime`](Self::lifetime) and in the [tiers](crate::WindowBuilder::tier): no read
    /// of the interval and no [drain](Self::drain_closed) has it. An add after it counts as usual.
    /// No thread waits. Costs the same as [`reconfigure`](Self::reconfigure), and allocates a ring.
    ///
    /// If the clock has leapt ahead and come back, all adds are [late](Self::late) until it gets
    /// there again, unless [`max_lead`](crate::WindowBuilder::max_lead) prevents it; this call ends
    /// that at once. Adds at the clock's time then count in its bucket. If the [newest
    /// bucket](crate::guide::design::windows#changing-the-geometry) is now an earlier one, tiers
    /// may begin anew, and [`drain_closed`](Self::drain_closed) hands out it and later ones again.
    ///
    /// # Errors
    ///
    /// [`BuildError::TooManyBuckets`] if there is no memory for the new ring; then the window stays
    /// as it was.
    ///
    /// ```
    /// # windrow::events! { enum Hits { Hit: Count } }
    /// let window = windrow::SlidingWindow::<Hits>::builder().build()?;
    /// window.add(Hits::Hit, 3);
    /// window.clear()?;
    /// assert_eq!(window.sum(Hits::Hit), 0);
    /// window.add(Hits::Hit, 1);
    /// assert_eq!((window.sum(Hits::Hit), window.lifetime(Hits::Hit).sum), (1, 4));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn clear(&self) -> Result<(), BuildError> {
        self.ring.clear(|| self.nanos())
    }
}

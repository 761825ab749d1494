//! A clock that is set by hand.

use std::sync::Arc;
use std::time::Duration;

use super::{Clock, UNKNOWN};
use crate::sync::{AtomicU64, Ordering};
use crate::timestamp::Timestamp;
use crate::timestamp::saturating_nanos;

/// A clock that is set by hand, for tests and for replaying logs. It stands still until
/// [`set`](Self::set) or [`advance`](Self::advance) moves it.
///
/// It starts at zero. Clones share one time. Its resolution is zero, so every bucket length is
/// allowed.
///
/// Setting and reading are atomic (Release and Acquire): a thread that reads a time sees what was
/// done before that time was set.
///
/// ```
/// use std::time::Duration;
/// use windrow::{Clock, Timestamp, clock::Manual};
///
/// let clock = Manual::default();
/// let handle = clock.clone();
/// handle.set(Timestamp::from_millis(5));
/// handle.advance(Duration::from_millis(2));
/// assert_eq!(clock.now(), Timestamp::from_millis(7));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Manual {
    nanos: Arc<AtomicU64>,
}

impl Manual {
    /// Sets the time, forward or back.
    ///
    /// ```
    /// use windrow::{Clock, Timestamp, clock::Manual};
    ///
    /// let clock = Manual::default();
    /// clock.set(Timestamp::from_nanos(9));
    /// clock.set(Timestamp::from_nanos(3));
    /// assert_eq!(clock.now().as_nanos(), 3);
    /// ```
    #[inline]
    pub fn set(&self, at: Timestamp) {
        // Release: pairs with the Acquire in `now`.
        self.nanos.store(at.as_nanos(), Ordering::Release);
    }

    /// Moves the time forward; it stops at the end of time instead of wrapping.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Clock, clock::Manual};
    ///
    /// let clock = Manual::default();
    /// clock.advance(Duration::from_nanos(4));
    /// clock.advance(Duration::MAX);
    /// assert_eq!(clock.now().as_nanos(), u64::MAX);
    /// ```
    #[inline]
    pub fn advance(&self, by: Duration) {
        let by = saturating_nanos(by);
        let forward = |nanos: u64| Some(nanos.saturating_add(by));
        // Release: as in `set`. A read-modify-write: it keeps what the `set` before it published.
        // Its load is Relaxed, because the value loaded does not leave this function.
        let _ = self.nanos.fetch_update(Ordering::Release, Ordering::Relaxed, forward);
    }
}

impl Clock for Manual {
    #[inline]
    fn now(&self) -> Timestamp {
        // Acquire: pairs with the Release in `set` and `advance`.
        Timestamp::from_nanos(self.nanos.load(Ordering::Acquire))
    }

    #[inline]
    fn kept(_at: Timestamp) -> Timestamp {
        UNKNOWN
    }

    fn resolution(&self) -> Duration {
        Duration::ZERO
    }
}

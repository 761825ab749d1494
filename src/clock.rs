//! Clocks: where a window gets its time from.
//!
//! Reading the time costs more than the add itself, so the clock is a type parameter of the window:
//!
//! | clock | resolution | for |
//! |---|---|---|
//! | [`Coarse`] (the default) | the kernel's tick, 1 to 10 ms | buckets of 100 ms and more |
//! | [`Precise`] | nanoseconds | short buckets |
//! | [`Ticker`] | chosen, 1 ms by default | the cheapest adds; one thread publishes the time |
//! | [`Manual`] | - | tests, and replaying logs |
//!
//! None of them need agree with another: a window only ever compares readings of its own clock.
//! Steps back are survived: see [`SlidingWindow::add`](crate::SlidingWindow::add).

use std::sync::Arc;
use std::time::Duration;

use crate::timestamp::Timestamp;

mod manual;
pub use manual::Manual;

// A model has no operating system to ask for the time; it brings a clock of its own.
#[cfg(not(any(loom, shuttle)))]
mod monotonic;
#[cfg(not(any(loom, shuttle)))]
mod precise;
#[cfg(not(any(loom, shuttle)))]
mod ticker;
#[cfg(not(any(loom, shuttle)))]
pub(crate) use ticker::{Chore, forks};
/// A model has one process.
#[cfg(any(loom, shuttle))]
pub(crate) mod forks {
    pub(crate) fn process() -> u32 {
        1
    }

    pub(crate) fn watch() {}
}
#[cfg(not(any(loom, shuttle)))]
pub use {monotonic::Coarse, precise::Precise, ticker::Ticker};

/// In a model, [`Manual`] under the name of the default clock.
#[cfg(any(loom, shuttle))]
pub type Coarse = Manual;

/// In place of the time: [`quick`](Clock::quick) could not tell. It is the end of time, up to which no
/// window's live bucket reaches (but one that was opened then), so that an add with it is off the quick path
/// without asking.
pub(crate) const UNKNOWN: Timestamp = Timestamp::from_nanos(u64::MAX);

/// Where a window gets its time from.
///
/// `now`, or `quick`, is on the path of every add: it must neither block nor panic. It may step back, stand
/// still or leap; no count is lost by it.
///
/// ```
/// use std::time::Duration;
/// use windrow::{Clock, SlidingWindow, Timestamp, events};
///
/// events! { enum Hits { Hit: Count } }
///
/// /// It is always noon.
/// struct Noon;
///
/// impl Clock for Noon {
///     fn now(&self) -> Timestamp {
///         Timestamp::from_millis(12 * 3_600_000)
///     }
///     fn resolution(&self) -> Duration {
///         Duration::ZERO
///     }
/// }
///
/// let window = SlidingWindow::<Hits>::builder().clock(Noon).build()?;
/// window.add(Hits::Hit, 3);
/// assert_eq!(window.sum(Hits::Hit), 3);
/// # Ok::<(), windrow::BuildError>(())
/// ```
pub trait Clock {
    /// The time now.
    fn now(&self) -> Timestamp;

    /// As [`now`](Self::now), for an add: what takes long, or happens once, may be left out. A clock that
    /// cannot tell at once answers the end of time, `Timestamp::from_nanos(u64::MAX)`; then the add leaves
    /// its quick path, and asks `now`.
    ///
    /// A clock that is made of another passes this on beside `now`; it is right without, and slower.
    ///
    /// ```
    /// use windrow::{Clock, clock::Manual};
    ///
    /// let clock = Manual::default();
    /// assert_eq!(clock.quick(), clock.now());
    /// ```
    #[inline]
    fn quick(&self) -> Timestamp {
        self.now()
    }

    /// How far apart two different readings are at least; zero for a clock that can show any time.
    ///
    /// The builder refuses a clock whose resolution is coarser than a tenth of a bucket.
    fn resolution(&self) -> Duration;
}

impl<C: Clock + ?Sized> Clock for &C {
    #[inline]
    fn now(&self) -> Timestamp {
        (**self).now()
    }

    #[inline]
    fn quick(&self) -> Timestamp {
        (**self).quick()
    }

    fn resolution(&self) -> Duration {
        (**self).resolution()
    }
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    #[inline]
    fn now(&self) -> Timestamp {
        (**self).now()
    }

    #[inline]
    fn quick(&self) -> Timestamp {
        (**self).quick()
    }

    fn resolution(&self) -> Duration {
        (**self).resolution()
    }
}

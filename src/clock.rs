//! Clocks: the sources of time for windows, gates and paces.
//!
//! Reading the time costs more than the add itself, so the clock is a type parameter of the window:
//!
//! | clock | resolution | for |
//! |---|---|---|
//! | [`Coarse`] (the default) | the kernel's tick, 1 to 10 ms | buckets of 100 ms and more |
//! | [`Precise`] | measured: some 10 ns to 1 µs | short buckets |
//! | [`Ticker`] | chosen, 1 ms by default | the cheapest adds; one thread publishes the time |
//! | [`Manual`] | - | tests, and replaying logs |
//! | `(function, resolution)` | yours | any [other](crate::Clock#implementors) source of time |
//!
//! Clocks need not agree with each other, because a window compares only readings of its own clock.
//! A clock may step back: see [`SlidingWindow::add`](crate::SlidingWindow::add).

use std::sync::Arc;
use std::time::Duration;

use crate::timestamp::Timestamp;

mod function;
mod manual;
pub use manual::Manual;

// A model has no operating system to ask for the time: it uses `Manual`.
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

/// The result of [`quick`](Clock::quick) if the clock cannot tell the time at once: the end of
/// time. No window's live bucket reaches it (except one that was opened then), so an add with it
/// leaves the quick path without a comparison of its own.
pub(crate) const UNKNOWN: Timestamp = Timestamp::from_nanos(u64::MAX);

/// Returns the time, by the quick way if the clock can tell it so.
#[inline]
pub(crate) fn quick_now(clock: &impl Clock) -> Timestamp {
    match clock.quick() {
        UNKNOWN => clock.now(),
        now => now,
    }
}

/// A clock: the source of time for a window or a gate.
///
/// Every add calls `now` or `quick`, so they must neither block nor panic. The time may step back,
/// stand still or leap: no count is lost.
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
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no clock",
    label = "not a clock",
    note = "a function that returns a `Timestamp` is one together with its resolution: a pair \
            `(function, Duration)`"
)]
#[doc(alias = "from_fn")]
#[doc(alias = "FromFn")]
pub trait Clock {
    /// Returns the time now.
    fn now(&self) -> Timestamp;

    /// Returns the time [now](Self::now), for an add or a sum. It may skip work that takes long or
    /// happens only once. A clock that cannot tell the time at once returns the end of time,
    /// `Timestamp::from_nanos(u64::MAX)`. The caller then leaves its quick path and calls `now`.
    ///
    /// A clock that wraps another should forward this call as well as `now`. If it does not, it is
    /// correct, but slower.
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

    /// Returns what an add keeps of a time that it has [read](Self::quick), for the case that it
    /// leaves its quick path: the time; or the end of time, and the add reads the clock again. The
    /// latter saves an instruction on the quick path.
    #[doc(hidden)]
    #[inline]
    fn kept(at: Timestamp) -> Timestamp
    where
        Self: Sized,
    {
        at
    }

    /// Returns the resolution: the smallest difference between two different readings; zero for a
    /// clock that can show any time.
    ///
    /// The builder refuses a clock whose resolution is coarser than a tenth of a bucket, unless
    /// such a clock is [allowed](crate::WindowBuilder::allow_coarse_clock).
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

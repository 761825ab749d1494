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

use crate::Timestamp;

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
pub use {monotonic::Coarse, precise::Precise, ticker::Ticker};

/// In a model, [`Manual`] under the name of the default clock.
#[cfg(any(loom, shuttle))]
pub type Coarse = Manual;

/// Where a window gets its time from.
///
/// `now` is on the path of every add: it must neither block nor panic. It may step back, stand
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

    fn resolution(&self) -> Duration {
        (**self).resolution()
    }
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    #[inline]
    fn now(&self) -> Timestamp {
        (**self).now()
    }

    fn resolution(&self) -> Duration {
        (**self).resolution()
    }
}

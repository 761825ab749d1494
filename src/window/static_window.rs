//! Windows in statics.

use std::marker::PhantomData;
use std::time::Duration;

use super::SlidingWindow;
use super::ring_and_clock::Made;
use crate::clock::Coarse;
use crate::event::{Events, Positions};
use crate::ring::Geometry;

/// # In a static
impl<E: Events> SlidingWindow<E, Coarse> {
    /// Makes a window for a `static`, of `interval` cut into `buckets`, on the [`Coarse`] clock,
    /// without tiers.
    ///
    /// The window is made at its first use, an add or a read, whose time [`built`](Self::built)
    /// returns. Threads that use it meanwhile wait some microseconds for the thread that makes it.
    /// (So a process should not fork just then.) From then on it behaves and costs the same as any
    /// other window. Until then it takes no memory but its own.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{SlidingWindow, events};
    ///
    /// events! { enum Http { Pass: Count, Rt: Histogram } }
    ///
    /// static HTTP: SlidingWindow<Http> = SlidingWindow::of(Duration::from_secs(60), 60);
    ///
    /// HTTP.add(Http::Pass, 1);
    /// assert_eq!(HTTP.sum(Http::Pass), 1);
    /// ```
    ///
    /// Do not put it into a `const`: each mention is another window, and loses what is added to it.
    ///
    /// # Panics
    ///
    /// If the interval or the number of buckets is zero, the buckets do not divide the interval
    /// into whole nanoseconds, a bucket is shorter than 100 ms, or there are more than 100 000. In
    /// a `static`, each of these is a compile-time error:
    ///
    /// ```compile_fail,E0080
    /// use std::time::Duration;
    /// use windrow::{SlidingWindow, events};
    ///
    /// events! { enum Http { Pass: Count } }
    ///
    /// static HTTP: SlidingWindow<Http> = SlidingWindow::of(Duration::from_secs(60), 7);
    /// # HTTP.add(Http::Pass, 1);
    /// ```
    #[must_use]
    pub const fn of(interval: Duration, buckets: usize) -> SlidingWindow<E, Coarse> {
        let geometry = Geometry::in_static(interval, buckets);
        let layout = <E::Cells as Positions<E>>::LAYOUT;
        let ring = Made::at_first_use(geometry, layout, Coarse::NEW);
        SlidingWindow { ring, events: PhantomData }
    }
}

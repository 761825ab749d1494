//! Windows in statics.

use std::marker::PhantomData;
use std::time::Duration;

use super::SlidingWindow;
use super::made::Made;
use crate::clock::Coarse;
use crate::event::{Events, Positions};
use crate::ring::Geometry;

/// # In a static
impl<E: Events> SlidingWindow<E, Coarse> {
    /// Makes a window of an interval, cut into so many buckets, that can stand in a `static`. By
    /// the [`Coarse`] clock, without tiers.
    ///
    /// It is made at its first use, whatever that is: an add or a read. Threads that come meanwhile
    /// wait for the one that makes it, some microseconds. (So a process should not fork just then.)
    /// From then on it is as any other window: an add costs the same. Until then it takes no memory
    /// but its own, and [`built`](Self::built) tells of that moment.
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
    /// (A `const` is no `static`: each mention of it is another window, and what is added to it is
    /// lost.)
    ///
    /// # Panics
    ///
    /// Where a [builder](Self::builder) would return an error: if the interval or the number of
    /// buckets is zero, or the buckets do not divide the interval into whole nanoseconds. And if
    /// buckets are shorter than 100 ms, or more than 100 000. In a `static`, each of these is an
    /// error of the compiler:
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

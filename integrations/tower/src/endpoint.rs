//! What is counted of one method of one route.

use std::time::Duration;

use windrow::{Gauge, LifetimeTotals, Metric, SlidingWindow};

windrow::events! {
    /// What is counted of requests.
    pub enum Http {
        /// Requests that reached the service.
        Pass: Count,
        /// Requests that failed by the service's fault, as a [`Classify`](crate::Classify) says; or by an error or a
        /// panic of the service or of its body.
        Exception: Count,
        /// Requests that were given up before it was known how they end: the future was dropped.
        Cancelled: Count,
        /// The time from the call to the head of the response, in nanoseconds: with percentiles, right to 4.3 %.
        Rt: Histogram,
    }
}

/// What is counted of one method of one route.
///
/// ```
/// use windrow_tower::{Endpoint, Http};
///
/// let endpoint = Endpoint::default();
/// assert_eq!((endpoint.window().interval().as_secs(), endpoint.window().buckets()), (60, 60));
/// assert_eq!((endpoint.window().sum(Http::Pass), endpoint.in_flight().sum()), (0, 0));
/// ```
#[derive(Debug)]
pub struct Endpoint {
    window: SlidingWindow<Http>,
    in_flight: Gauge,
}

impl Endpoint {
    /// One that counts in a window.
    ///
    /// ```
    /// use windrow::SlidingWindow;
    /// use windrow_tower::Endpoint;
    ///
    /// let endpoint = Endpoint::new(SlidingWindow::builder().buckets(10).build()?);
    /// assert_eq!(endpoint.window().buckets(), 10);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn new(window: SlidingWindow<Http>) -> Endpoint {
        Endpoint { window, in_flight: Gauge::new() }
    }

    /// The requests by time.
    ///
    /// ```
    /// use windrow_tower::{Endpoint, Http};
    ///
    /// let slowest = Endpoint::default().window().stats(Http::Rt).max; // in nanoseconds
    /// assert_eq!(slowest, None);
    /// ```
    pub fn window(&self) -> &SlidingWindow<Http> {
        &self.window
    }

    /// The requests that are in flight. While requests come and go it may be wrong for a moment, even below zero: see
    /// [`Gauge::sum`].
    ///
    /// ```
    /// assert_eq!(windrow_tower::Endpoint::default().in_flight().sum(), 0);
    /// ```
    pub fn in_flight(&self) -> &Gauge {
        &self.in_flight
    }
}

/// A minute in sixty buckets, on the clock [`Coarse`](windrow::clock::Coarse).
impl Default for Endpoint {
    fn default() -> Endpoint {
        let builder = SlidingWindow::builder().interval(Duration::from_secs(60)).buckets(60);
        Endpoint::new(builder.build().expect("a minute in sixty buckets"))
    }
}

/// The total is that of the window, event by event, and how many are in flight.
impl Metric for Endpoint {
    type Total = (LifetimeTotals<Http>, i64);

    fn total(&self) -> (LifetimeTotals<Http>, i64) {
        (self.window.total(), self.in_flight.total())
    }

    fn merge(one: &mut (LifetimeTotals<Http>, i64), other: (LifetimeTotals<Http>, i64)) {
        SlidingWindow::<Http>::merge(&mut one.0, other.0);
        Gauge::merge(&mut one.1, other.1);
    }
}

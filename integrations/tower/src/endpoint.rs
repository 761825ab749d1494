//! The metrics of one method of one route.

use std::sync::OnceLock;
use std::time::Duration;

use windrow::family::Metric;
use windrow::in_flight::{LevelOwner, Peaks};
use windrow::snapshot::Totals;
use windrow::{InFlight, SlidingWindow};

windrow::events! {
    /// The events of requests.
    pub enum Http {
        /// Requests that reached the layer, whether they were refused, failed or succeeded.
        Request: Count,
        /// Requests that a limit behind the layer has refused (see [`Blocked`](crate::Blocked)), or
        /// the service itself, by [`Outcome::Refused`](crate::Outcome::Refused).
        Block: Count,
        /// Requests that failed by the service's fault, according to the
        /// [`Classify`](crate::Classify), or by an error or a panic of the service or of its body.
        Exception: Count,
        /// Requests whose future was dropped before their outcome was known.
        Cancelled: Count,
        /// The time from the call to the head of the response, in nanoseconds: with percentiles,
        /// right to 4.3 %.
        Rt: Histogram in "ns",
        /// The maximum number of requests in flight: see [`Endpoint::peaks`].
        InFlight: Maximum in "{request}",
    }
}

/// The metrics of one method of one route.
///
/// ```
/// use windrow_tower::{Endpoint, Http};
///
/// let endpoint = Endpoint::default();
/// assert_eq!((endpoint.window().interval().as_secs(), endpoint.window().buckets()), (60, 60));
/// assert_eq!((endpoint.window().sum(Http::Request), endpoint.in_flight().level()), (0, 0));
/// ```
#[derive(Debug)]
pub struct Endpoint {
    window: SlidingWindow<Http>,
    in_flight: InFlight,
    /// Set once the window has its geometry by the rules of its [`Routes`](crate::Routes).
    pub(crate) settled: OnceLock<()>,
}

impl Endpoint {
    /// Creates an endpoint that counts in a window.
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
        Endpoint { window, in_flight: InFlight::new(), settled: OnceLock::new() }
    }

    /// Returns the sliding window of the requests.
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

    /// Returns the gauge of requests in flight.
    ///
    /// ```
    /// assert_eq!(windrow_tower::Endpoint::default().in_flight().level(), 0);
    /// ```
    pub fn in_flight(&self) -> &InFlight {
        &self.in_flight
    }

    /// Returns the gauge of requests in flight together with their maximum in each bucket of the
    /// window.
    ///
    /// ```
    /// use windrow::snapshot::BucketSnapshot;
    /// use windrow_tower::{Endpoint, Http};
    ///
    /// let endpoint = Endpoint::default();
    /// let most = endpoint.peaks().peak(); // in the last minute
    /// let by_second = endpoint.window().snapshot();
    /// let most_of = |second: &BucketSnapshot<Http>| second.stats(Http::InFlight).max;
    /// let most_in_each = by_second.buckets().iter().map(most_of);
    /// assert_eq!((most, most_in_each.max()), (0, Some(None)));
    /// ```
    pub fn peaks(&self) -> Peaks<'_, Http> {
        self.in_flight.record_peaks(&self.window, Http::InFlight)
    }
}

/// Creates an endpoint whose window is a minute in sixty buckets, on the clock
/// [`Coarse`](windrow::clock::Coarse).
impl Default for Endpoint {
    fn default() -> Endpoint {
        let builder = SlidingWindow::builder().interval(Duration::from_secs(60)).buckets(60);
        Endpoint::new(builder.build().expect("a minute in sixty buckets"))
    }
}

/// A guard of an endpoint's handle leaves as a guard of its [peaks](Endpoint::peaks) does.
impl LevelOwner for Endpoint {
    fn in_flight(&self) -> &InFlight {
        &self.in_flight
    }

    fn left(&self, before: u64) {
        self.window.record(Http::InFlight, before);
    }
}

/// The total is that of the window, event by event, and the number of requests in flight.
impl Metric for Endpoint {
    type Total = (Totals<Http>, u64);

    fn total(&self) -> (Totals<Http>, u64) {
        (self.window.total(), self.in_flight.total())
    }

    fn merge(one: &mut (Totals<Http>, u64), other: (Totals<Http>, u64)) {
        SlidingWindow::<Http>::merge(&mut one.0, other.0);
        InFlight::merge(&mut one.1, other.1);
    }
}

//! What is in flight until it is dropped.

use std::fmt::{self, Debug, Formatter};
use std::mem;

/// Where something is in flight: an [`InFlight`](crate::InFlight), or that with a window, [`Peaks`](crate::Peaks).
///
/// Sealed: code outside the library cannot name it.
pub trait Place {
    #[doc(hidden)]
    fn left(&self, weight: u64);
}

/// Something in flight, of some weight: it leaves when this is dropped.
///
/// From [`InFlight::enter`](crate::InFlight::enter) and [`Peaks::enter`](crate::Peaks::enter), and from their `try_enter`. It may be dropped by
/// another thread. If it is never dropped ([`mem::forget`](std::mem::forget)), it stays in flight.
///
/// ```
/// use windrow::InFlight;
///
/// static OPEN: InFlight = InFlight::new();
///
/// let connection = OPEN.enter(1);
/// assert_eq!(OPEN.level(), 1);
/// drop(connection);
/// assert_eq!(OPEN.level(), 0);
/// ```
#[must_use = "it leaves when it is dropped, which is at once"]
pub struct Entered<P: Place> {
    place: P,
    weight: u64,
}

impl<P: Place> Entered<P> {
    pub(super) fn new(place: P, weight: u64) -> Entered<P> {
        Entered { place, weight }
    }

    /// Leaves it in flight. For an owner that cannot keep a borrow, because it has the place itself: a future, with an `Arc`. Such an
    /// owner calls `leave` when it is dropped, once, with the same weight.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use windrow::InFlight;
    ///
    /// struct Request {
    ///     open: Arc<InFlight>,
    /// }
    ///
    /// impl Request {
    ///     fn begin(open: Arc<InFlight>) -> Request {
    ///         open.enter(1).forget();
    ///         Request { open }
    ///     }
    /// }
    ///
    /// impl Drop for Request {
    ///     fn drop(&mut self) {
    ///         self.open.leave(1);
    ///     }
    /// }
    ///
    /// let open = Arc::new(InFlight::new());
    /// let request = Request::begin(Arc::clone(&open));
    /// assert_eq!(open.level(), 1);
    /// drop(request);
    /// assert_eq!(open.level(), 0);
    /// ```
    #[inline]
    pub fn forget(self) {
        mem::forget(self);
    }
}

impl<P: Place> Drop for Entered<P> {
    #[inline]
    fn drop(&mut self) {
        self.place.left(self.weight);
    }
}

/// Shows the weight.
impl<P: Place> Debug for Entered<P> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Entered").field(&self.weight).finish()
    }
}

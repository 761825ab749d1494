//! An exact gauge, kept in one atomic.

use std::fmt::{self, Debug, Display, Formatter};

use crossbeam_utils::CachePadded;

use crate::at_most::AtMost;
use crate::sync::{AtomicU64, Ordering, const_fn};

/// An exact gauge of operations in progress, with an optional concurrency limit (a semaphore that
/// counts but never waits): requests, connections, bytes in flight.
///
/// ```
/// use windrow::{InFlight, AtMost};
///
/// static REQUESTS: InFlight = InFlight::new();
///
/// fn answer() -> &'static str {
///     let Some(_request) = REQUESTS.try_enter(1, AtMost(100)) else { return "503" };
///     // ... at most 100 threads are here at once
///     "200"
/// }
///
/// assert_eq!(answer(), "200");
/// assert_eq!(REQUESTS.level(), 0);
/// ```
///
/// The [level](Self::level) and a [concurrency limit](Self::try_enter) are exact. With
/// [`record_peaks`](Self::record_peaks), a window also keeps the maximum of each bucket, and so of
/// the last second or minute.
///
/// A call never fails, panics, waits for another thread or takes a lock. Enters and leaves of all
/// threads go through one cache line, as with any atomic: an enter and its leave cost two atomic
/// additions to it. A [`Gauge`](crate::Gauge) is striped, so its adds do not contend; but its sum
/// is only approximate while it changes, and it offers neither a limit nor a maximum. (Rows cannot
/// yield a maximum: each has seen only a part of the operations, and their readings have no common
/// moment.)
///
/// # Range
///
/// The weights in flight at any time must sum to less than 2^64; otherwise the level is too low by
/// 2^64 until enough weight has left. A weight leaves once, by its guard, so the level never wraps
/// below zero.
///
/// # Memory order
///
/// All operations are in one order, and each happens after those before it. So a thread that reads
/// the level 0 sees everything that other threads did before they left; and after a successful
/// [`try_enter(1, AtMost(1))`](Self::try_enter) a thread works alone, as after taking a lock.
#[doc(alias = "concurrency limit")]
#[doc(alias = "semaphore")]
#[doc(alias = "ConcurrencyLimiter")]
pub struct InFlight {
    /// The sum of the weights in flight: each `rise` has one `fall`, by a guard.
    sum: CachePadded<AtomicU64>,
}

impl InFlight {
    const_fn! {
        /// Returns a level of zero.
        ///
        /// ```
        /// static OPEN: windrow::InFlight = windrow::InFlight::new();
        /// assert_eq!(OPEN.level(), 0);
        /// ```
        pub const fn new() -> InFlight {
            InFlight { sum: CachePadded::new(AtomicU64::new(0)) }
        }
    }

    /// Returns the weight in flight: the sum of all that entered and has not left. Acquire.
    ///
    /// It is exactly the level at one moment during the call.
    ///
    /// ```
    /// let bytes = windrow::InFlight::new();
    /// let upload = bytes.enter(700);
    /// assert_eq!(bytes.level(), 700);
    /// drop(upload);
    /// assert_eq!(bytes.level(), 0);
    /// ```
    #[inline]
    pub fn level(&self) -> u64 {
        // Acquire: pairs with the Release in `rise` and `fall`: a thread that reads zero sees
        // everything that other threads did before they left.
        self.sum.load(Ordering::Acquire)
    }

    /// Adds a weight, and returns the level after that.
    #[inline]
    pub(super) fn rise(&self, weight: u64) -> u64 {
        // Release: pairs with the Acquire here, in `fall`, `try_rise` and `level`: everything that
        // this thread has seen, the next operation's thread sees, the clock included. So no
        // operation counts in a bucket before one that its predecessor had seen. Acquire: the other
        // side of that pair; the clock is read after this.
        let before = self.sum.fetch_add(weight, Ordering::AcqRel);
        before.wrapping_add(weight)
    }

    /// Adds a weight, and returns the level after that, if it is at most `limit`.
    #[inline]
    pub(super) fn try_rise(&self, weight: u64, limit: AtMost) -> Option<u64> {
        let most = limit.0.checked_sub(weight)?;
        let mut before = self.sum.load(Ordering::Relaxed); // the exchange checks it
        while before <= most {
            let after = before + weight; // at most the limit
            // AcqRel: as in `rise`. Relaxed: a failure only tries again.
            let (order, failed) = (Ordering::AcqRel, Ordering::Relaxed);
            match self.sum.compare_exchange_weak(before, after, order, failed) {
                Ok(_) => return Some(after),
                Err(other) => before = other,
            }
        }
        None
    }

    /// Subtracts a weight, and returns the level before that.
    #[inline]
    pub(super) fn fall(&self, weight: u64) -> u64 {
        // AcqRel: as in `rise`.
        self.sum.fetch_sub(weight, Ordering::AcqRel)
    }
}

/// Returns a level of zero.
impl Default for InFlight {
    fn default() -> InFlight {
        InFlight::new()
    }
}

/// Formats the [level](InFlight::level) as a `u64`.
///
/// ```
/// let open = windrow::InFlight::new();
/// let one = open.enter(1);
/// assert_eq!(format!("{open:>3}"), "  1");
/// # drop(one);
/// ```
impl Display for InFlight {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.level(), f)
    }
}

/// Shows the level.
impl Debug for InFlight {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InFlight").field(&self.level()).finish()
    }
}

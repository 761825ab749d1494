//! The level: one atomic.

use std::fmt::{self, Debug, Display, Formatter};

use crossbeam_utils::CachePadded;

use crate::at_most::AtMost;
use crate::sync::{AtomicU64, Ordering, const_fn};

/// How many are in flight: requests, connections, bytes.
///
/// ```
/// use windrow::{InFlight, in_flight::AtMost};
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
/// The [level](Self::level) is exact, and so is a [limit](Self::try_enter). What was the most at
/// once in the last second or minute, and in each bucket of it, a window knows:
/// [`record_peaks`](Self::record_peaks).
///
/// A call never fails, panics, waits for another thread or takes a lock. Enters and leaves of all
/// threads go through one cache line, as with any atomic: an enter and its leave cost two atomic
/// additions to it. A [`Gauge`](crate::Gauge) is striped, and its adds do not wait for each other's
/// line; but its sum is no level that ever was while it moves, it limits nothing, and it knows no
/// maximum. (A maximum cannot be had from rows: each has seen a part, and no moment is common to
/// all of them.)
///
/// # Range
///
/// The weights that are in flight at once are to add up to less than 2^64; otherwise the level is
/// too low, by 2^64, until enough has left. A weight leaves once, by its guard, so the level is
/// never less than nothing.
///
/// # Memory order
///
/// All operations are in one order, and each sees what the threads of those before it did until
/// then. So who finds the level at 0 sees what those did who have left; and behind
/// [`try_enter(1, AtMost(1))`](Self::try_enter) one thread at a time works, as behind a lock.
pub struct InFlight {
    /// The weights in flight, added up: each rise has one fall, a guard's.
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

    /// Returns the weight in flight: what was entered and has not left. Acquire.
    ///
    /// It is what the level was at one moment of the call.
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
        // Acquire: pairs with the Release in `rise` and `fall`: a thread that reads zero sees what
        // those did that have left.
        self.sum.load(Ordering::Acquire)
    }

    /// Enters, and returns the level after that.
    #[inline]
    pub(super) fn rise(&self, weight: u64) -> u64 {
        // Release: pairs with the Acquire here, in `fall`, `try_rise` and `level`: what this thread
        // has seen, the next operation's sees, the clock included. So no operation counts in a
        // bucket before one that its predecessor had seen. Acquire: the same, from the other side;
        // and the clock is read behind this.
        let before = self.sum.fetch_add(weight, Ordering::AcqRel);
        before.wrapping_add(weight)
    }

    /// As `rise`, if that is at most `limit`.
    #[inline]
    pub(super) fn try_rise(&self, weight: u64, limit: AtMost) -> Option<u64> {
        let most = limit.0.checked_sub(weight)?;
        let mut before = self.sum.load(Ordering::Relaxed); // the exchange looks again
        while before <= most {
            let after = before + weight; // at most the limit
            // AcqRel: as in `rise`. Relaxed: it only tries again.
            let (order, failed) = (Ordering::AcqRel, Ordering::Relaxed);
            match self.sum.compare_exchange_weak(before, after, order, failed) {
                Ok(_) => return Some(after),
                Err(other) => before = other,
            }
        }
        None
    }

    /// Leaves, and returns the level before that.
    #[inline]
    pub(super) fn fall(&self, weight: u64) -> u64 {
        // AcqRel: as in `rise`.
        self.sum.fetch_sub(weight, Ordering::AcqRel)
    }
}

/// A level of zero.
impl Default for InFlight {
    fn default() -> InFlight {
        InFlight::new()
    }
}

/// Shows the [level](InFlight::level), as a `u64` is shown.
///
/// ```
/// let open = windrow::InFlight::new();
/// let one = open.enter(1);
/// assert_eq!(format!("{open:>3}"), "  1");
/// # drop(one);
/// ```
impl Display for InFlight {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.level(), f)
    }
}

/// Shows the level.
impl Debug for InFlight {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("InFlight").field(&self.level()).finish()
    }
}

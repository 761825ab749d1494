//! A turn that was reserved, and is given back if it is dropped too early.

use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use crate::clock::{Clock, Coarse};
use crate::sync::{AtomicU64, Ordering};
use crate::timestamp::saturating_nanos;

/// A turn that [`Pace::reserve`](crate::Pace::reserve) has reserved for a call.
///
/// The caller waits for [`wait`](Self::wait), calls [`keep`](Self::keep), and goes on. A caller
/// that gives up drops the reservation. Across an `await` that happens by itself: a future that is
/// dropped drops the reservation that it holds.
///
/// ```
/// use std::time::Duration;
/// use windrow::{Pace, pace::RefusedError};
///
/// async fn paced<T>(
///     pace: &Pace,
///     sleep: impl AsyncFnOnce(Duration), // tokio::time::sleep, for example
///     call: impl AsyncFnOnce() -> T,
/// ) -> Result<T, RefusedError> {
///     let turn = pace.reserve(1, Duration::from_secs(2))?;
///     sleep(turn.wait()).await; // dropped here: the turn is given back
///     turn.keep();
///     Ok(call().await)
/// }
/// ```
///
/// # What is given back
///
/// If the turn has not come yet, and no later call was admitted that was not given back itself, a
/// dropped reservation leaves the pace **as if it had never been**: as the other calls that were
/// admitted make it. (`src/pace.rs` has the proof.) Answers that were given meanwhile stay: a call
/// that was refused because of it is refused.
///
/// If a later call was admitted, nothing is given back: that call was told its time, and does not
/// come forward. The period stays empty, which costs its part of the rate, and exceeds nothing.
/// Reservations that are given back in the reverse of their order are given back in full.
///
/// A reservation that is dropped at its turn, or later, counts as used. The same holds if it is
/// dropped so shortly before that the [resolution](Clock::resolution) of the clock cannot tell. So
/// a caller that has slept, and forgets `keep`, mostly gives nothing back that it has used; but the
/// pace knows no other time than its clock's, which may be late or step back. Only `keep` is sure.
///
/// A drop costs the clock's reading and one compare-exchange. It never fails, panics or waits.
#[must_use = "a reservation that is dropped at once is given back"]
pub struct Reservation<'a, C: Clock = Coarse> {
    word: &'a AtomicU64,
    clock: &'a C,
    wait: u64,
    due: u64,
    /// The word before the call, and behind it.
    from: u64,
    to: u64,
}

impl<'a, C: Clock> Reservation<'a, C> {
    #[inline]
    pub(super) fn new(
        word: &'a AtomicU64,
        clock: &'a C,
        now: u64,
        due: u64,
        (from, to): (u64, u64),
    ) -> Reservation<'a, C> {
        Reservation { word, clock, wait: due - now, due, from, to }
    }

    /// Returns the time from the call of `reserve` to the turn; zero if it came at once.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let pace = windrow::Pace::builder(Duration::from_secs(1)).build()?;
    /// assert_eq!(pace.reserve(1, Duration::ZERO)?.wait(), Duration::ZERO);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn wait(&self) -> Duration {
        Duration::from_nanos(self.wait)
    }

    /// Keeps the turn: it counts as used, whenever that is.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Pace, clock::Manual};
    ///
    /// let second = Duration::from_secs(1);
    /// let pace = Pace::builder(second).clock(Manual::default()).build()?;
    /// pace.reserve(1, Duration::MAX)?.keep();
    /// pace.reserve(1, Duration::MAX)?.keep();
    /// assert_eq!(pace.idle_after(), 2 * second);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn keep(self) {
        std::mem::forget(self); // it owns nothing
    }

    /// Gives the turn back, as a drop does. Returns whether it could be given back.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Pace, clock::Manual};
    ///
    /// let second = Duration::from_secs(1);
    /// let pace = Pace::builder(second).clock(Manual::default()).build()?;
    /// assert!(pace.try_admit(1));
    /// let first = pace.reserve(1, Duration::MAX)?;
    /// let last = pace.reserve(1, Duration::MAX)?;
    /// assert!(last.cancel());
    /// assert!(first.cancel());
    /// let first = pace.reserve(1, Duration::MAX)?;
    /// pace.reserve(1, Duration::MAX)?.keep();
    /// assert!(!first.cancel()); // another call was told to come behind it
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[allow(clippy::must_use_candidate)] // most callers only give up
    pub fn cancel(self) -> bool {
        let is_given_back = self.give_back();
        self.keep();
        is_given_back
    }

    fn give_back(&self) -> bool {
        let now = self.clock.now().as_nanos();
        let latest = now.saturating_add(saturating_nanos(self.clock.resolution()));
        if self.wait == 0 || self.due <= latest {
            return false;
        }
        // Relaxed, as the exchanges of calls: see `src/pace.rs`.
        let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        self.word.compare_exchange(self.to, self.from, order, failed).is_ok()
    }
}

/// Gives the turn back if it has not come, and no later call is behind it.
impl<C: Clock> Drop for Reservation<'_, C> {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// Shows the wait.
impl<C: Clock> Debug for Reservation<'_, C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reservation").field("wait", &self.wait()).finish_non_exhaustive()
    }
}

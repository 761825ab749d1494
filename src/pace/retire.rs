//! Retiring a pace that is no longer needed.
//!
//! # Promise
//!
//! A retired pace has no call whose periods are still to come, and never admits one again. So a new
//! pace that replaces it admits, together with the old one, what one pace would.
//!
//! # Why
//!
//! One exchange takes an end that is over, `e <= t`, to one behind the last time. No call goes
//! behind that; and no reservation gives it back, since none has made it. A call that comes before
//! the exchange changes the end, so the exchange fails. From `t` on, the old pace would have
//! decided by `max(e, t)`, and the new one decides by `max(0, t)`, which is the same.

use crate::clock::Clock;
use crate::pace::Pace;
use crate::pace::end::Meaning;
use crate::pace::terms::RETIRED;
use crate::sync::Ordering;

/// # Retiring it
impl<C: Clock> Pace<C> {
    /// Retires the pace if it is idle: if the whole burst is left, and no call waits. Returns
    /// whether it is retired now.
    ///
    /// A retired pace refuses every weight except zero, for ever, and returns `retry_after: None`.
    /// If the pace is not idle, this does nothing and returns false: no call can come between that
    /// check and the end. Costs the clock's reading and one compare-exchange.
    ///
    /// The call is for paces that come and go, e.g. one per client. A pace that is dropped forgets
    /// its calls, and the client that comes again gets a second burst. A pace that replaces a
    /// retired one admits, together with that, what one pace would, on a clock that does not step
    /// back. A caller that finds a retired pace removes it, and looks again:
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{AtMost, Family, Pace, labels};
    ///
    /// labels! { pub struct Client { client: str } }
    ///
    /// /// 20 a second for each client, and up to 40 at once after a rest.
    /// static CLIENTS: Family<Client, Pace> =
    ///     Family::with_constructor(|| Pace::of(Duration::from_millis(50), AtMost(40)));
    ///
    /// fn try_admit(client: &str) -> bool {
    ///     loop {
    ///         let pace = CLIENTS.with(Client { client });
    ///         if pace.try_admit(1) {
    ///             return true;
    ///         } else if !pace.is_retired() {
    ///             return false;
    ///         }
    ///         drop(pace); // retired, but still in the family
    ///         CLIENTS.remove_if(Client { client }, Pace::is_retired);
    ///     }
    /// }
    ///
    /// /// From time to time.
    /// fn forget_idle() -> usize {
    ///     CLIENTS.retain(|pace, _| !pace.retire())
    /// }
    ///
    /// assert!((0..40).all(|_| try_admit("a")));
    /// assert_eq!((forget_idle(), CLIENTS.len()), (0, 1)); // not before two seconds have passed
    /// ```
    ///
    /// As with [`Gate::retire`](crate::Gate::retire), do not retire the paces of a family whose
    /// labels are all enums, nor that of the overflow series: a family keeps these series.
    #[must_use = "a pace that is not retired must not be replaced: another one admits a second burst"]
    pub fn retire(&self) -> bool {
        loop {
            // Relaxed, here and below: see the top of `src/pace.rs`, and `End::meaning`.
            let word = self.end.word().load(Ordering::Relaxed);
            let meaning = self.end.meaning(word);
            let found = match meaning {
                Meaning::End(end) => Err(end),
                Meaning::Changed(changed) => Ok((changed, changed.load())),
            };
            let end = found.map_or_else(|end| end, |(_, found)| found.state.end);
            if end == RETIRED {
                return true;
            }
            if end > self.clock.now().as_nanos() {
                return false;
            }
            let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
            let is_retired = match found {
                Err(end) => self.end.word().compare_exchange(end, RETIRED, order, failed).is_ok(),
                Ok((changed, found)) => changed.retire(&found),
            };
            if is_retired {
                return true;
            }
        }
    }

    /// Returns whether the pace is [retired](Self::retire). Costs a load, or a few.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let pace = windrow::Pace::builder(Duration::from_secs(1)).build()?;
    /// assert!(!pace.is_retired());
    /// assert!(pace.retire() && pace.is_retired());
    /// assert!(!pace.try_admit(1));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn is_retired(&self) -> bool {
        self.state().1 == RETIRED
    }

    /// Returns the weight whose periods are not over; zero if the pace is retired.
    pub(crate) fn in_use(&self) -> u64 {
        match (self.clock.now().as_nanos(), self.state()) {
            (_, (_, RETIRED)) => 0,
            (now, (terms, end)) => terms.in_use(end, now),
        }
    }
}

//! Changing a pace's rate and burst.
//!
//! # The protocol
//!
//! The first change takes the end `e` out of the pace's word, by one exchange, and puts the new
//! terms with their end where the word now leads ([`end`](super::end)). Each later change exchanges
//! these together ([`changed`](super::changed)). So each call is decided by one set of terms and
//! the end under them, and there is one moment from which on the new terms hold.
//!
//! Let `t` be the time of the change. Let `l` be the last moment that a caller was told: that is
//! `e - b T`, for the `e` that the last call under these terms has made. At `s = max(t, l)`, a
//! weight of `m = (e - s) / T` is in use: its periods are not over. Under a period `T'` and a burst
//! `b'` the end is
//!
//! ```text
//!    e' = e                              if e <= t
//!    e' = max(s + m T', l + b' T')       otherwise; the second only if l > t
//! ```
//!
//! (From `t` to `l` no more is in use, although the end is farther: otherwise a faster rate would
//! make very many units of that time, and a slower one after it a very long time of these.)
//!
//! # The theorem
//!
//! *Let `c` be the time of the change, or the last moment that a caller was told before it if that
//! is later. In each span the calls weigh at most the greater burst, and a unit for each `T` of the
//! part before `c` and each `T'` of the part behind it.* This is for a clock that has not stepped
//! back. On any clock, the calls that were decided before the change keep the old promise, and
//! those behind it the new one.
//!
//! The second part is the theorem of one pace, which does not ask where the end began. For the
//! first, let a span from `x` to `y` have calls of both sorts: `v` the weight of those before the
//! change, `w` of those behind. Each end is no earlier than the moment of its call, and rises with
//! each call by its periods: so `v T <= e - x`. And `w T' <= y + b' T' - max(e', t)`.
//!
//! - If no caller waits at the change, `l <= t`, then `max(e', t) >= t + m T'`, where `m` may be
//!   less than zero. So `v + w <= (e - x) / T + (y - t) / T' + b' - m`, which is
//!   `(t - x) / T + (y - t) / T' + b'`. (A span that begins behind `t` has calls behind the change
//!   only.)
//! - If one waits, let `f = l + b T` be the end that the last call has made. Then
//!   `v T <= f - x`, so `v <= b + (l - x) / T`; and `w <= (y - l) / T'`, since `e' >= l + b' T'`.

use std::time::Duration;

use crate::clock::Clock;
use crate::error::LimitError;
use crate::pace::Pace;
use crate::pace::changed::{Changed, State};
use crate::pace::end::Meaning;
use crate::pace::terms::{RETIRED, Terms};
use crate::sync::Ordering;

/// # Changing it
impl<C: Clock> Pace<C> {
    /// Changes the period, while other threads use the pace: one call in each `period` from now on.
    /// The burst stays.
    ///
    /// What was admitted stays in use: a unit that is missing of the burst is still missing, and
    /// comes back at the new rate. Callers that wait keep the moments that they were told, and no
    /// later call comes before the last of them. One call is decided by the old period, or by the
    /// new one.
    ///
    /// So in each span across the change, the calls weigh at most the burst, and one for each old
    /// period of the part before the change (or before the last moment that a caller was told until
    /// then), and for each new period of the part behind it. This is for a clock that does not step
    /// back. On any clock, the calls before the change keep the old promise, and those behind it
    /// the new one.
    ///
    /// A reservation from before the change that is dropped goes to other callers that come before
    /// its turn, as if a later call was admitted.
    ///
    /// The first change allocates 240 bytes, which the pace keeps. From then on a call costs
    /// what one of [`Paces`](crate::Paces) with one limit does. A change to the terms that the pace
    /// has changes nothing.
    ///
    /// # Errors
    ///
    /// [`LimitError`] if the period is zero; if the burst's periods would be longer together than
    /// 2^62 nanoseconds; if the clock is too coarse for them, even if the builder
    /// [allowed](crate::pace::PaceBuilder::allow_coarse_clock) it for the first ones; if what is in
    /// use would come back behind the end of time; or if the pace is [retired](Self::retire). Then
    /// it stays as it was.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Pace, clock::Manual, gate::Admission};
    ///
    /// let (clock, second) = (Manual::default(), Duration::from_secs(1));
    /// let pace = Pace::builder(second).burst(4).clock(clock.clone()).build()?;
    /// assert!(pace.try_admit(3));
    /// pace.set_rate(10 * second)?;
    /// assert_eq!((pace.left(), pace.idle_after()), (1, 30 * second));
    /// pace.set_rate(second / 10)?;
    /// assert_eq!((pace.left(), pace.idle_after()), (1, 3 * second / 10));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn set_rate(&self, period: Duration) -> Result<(), LimitError> {
        self.change(|terms| Terms::new(period, terms.burst()))
    }

    /// Changes the burst, while other threads use the pace. The period stays.
    ///
    /// What was admitted stays in use: a greater burst admits the difference at once. Under a
    /// smaller one calls wait until enough has come back.
    ///
    /// All that is said of [`set_rate`](Self::set_rate) holds, with the greater of the two bursts.
    ///
    /// # Errors
    ///
    /// Those of [`set_rate`](Self::set_rate), or if the burst is zero.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Pace, clock::Manual};
    ///
    /// let second = Duration::from_secs(1);
    /// let pace = Pace::builder(second).burst(4).clock(Manual::default()).build()?;
    /// assert!(pace.try_admit(3));
    /// pace.set_burst(10)?;
    /// assert_eq!(pace.left(), 7);
    /// pace.set_burst(2)?;
    /// assert_eq!((pace.left(), pace.idle_after()), (0, 3 * second));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn set_burst(&self, burst: u64) -> Result<(), LimitError> {
        self.change(|terms| Terms::new(Duration::from_nanos(terms.period()), burst))
    }

    /// Changes the period and the burst at one moment, as [`set_rate`](Self::set_rate) and
    /// [`set_burst`](Self::set_burst).
    ///
    /// # Errors
    ///
    /// Those of both.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let second = Duration::from_secs(1);
    /// let pace = windrow::Pace::builder(second).build()?;
    /// pace.reconfigure(second / 20, 40)?; // 20 a second, and 40 at once after a rest
    /// assert_eq!((pace.quota().refill, pace.quota().burst), (2 * second, 40));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn reconfigure(&self, period: Duration, burst: u64) -> Result<(), LimitError> {
        self.change(|_| Terms::new(period, burst))
    }

    /// Changes the terms, at one moment, to what is made of those that the pace has then.
    fn change(&self, to: impl Fn(Terms) -> Result<Terms, LimitError>) -> Result<(), LimitError> {
        loop {
            // Relaxed: see `End::meaning`.
            let word = self.end.word().load(Ordering::Relaxed);
            let is_changed = match self.end.meaning(word) {
                Meaning::End(end) => {
                    let (terms, told) = (self.end.first, self.end.first.told(end));
                    match self.next(State { terms, end, told, given: 0 }, &to)? {
                        Some(next) => self.end.replace(end, Changed::new(1, next)),
                        None => true,
                    }
                }
                Meaning::Changed(changed) => {
                    let found = changed.load();
                    match self.next(found.state, &to)? {
                        Some(next) => changed.change(&found, next),
                        None => true,
                    }
                }
            };
            if is_changed {
                return Ok(());
            }
        }
    }

    /// Returns the state behind the one that was found; `None` if the terms are the same.
    fn next(
        &self,
        found: State,
        to: impl Fn(Terms) -> Result<Terms, LimitError>,
    ) -> Result<Option<State>, LimitError> {
        let State { terms, end, told, given } = found;
        if end == RETIRED {
            return Err(LimitError::Retired);
        }
        let next = to(terms)?;
        if next == terms {
            return Ok(None);
        }
        next.check_clock(&self.clock)?;
        // Behind the look at the end: if the clock does not step back, no call that the end has in
        // it came later.
        let now = self.clock.now().as_nanos();
        let too_much = || LimitError::TooMuchInUse {
            in_use: terms.in_use(end, now),
            period: Duration::from_nanos(next.period()),
        };
        let end = terms.end_under(next, (end, told), now).ok_or_else(too_much)?;
        Ok(Some(State { terms: next, end, told, given }))
    }
}

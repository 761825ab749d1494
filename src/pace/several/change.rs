//! Changing one of several limits.
//!
//! # The protocol
//!
//! A change is an exchange of all ends, as a call is, and of the [name](super::rates) of their
//! rates. The end of the limit that is changed moves as that of a [pace](super::super::change).
//!
//! # The theorem
//!
//! *The calls that were decided before a change keep the old limits, and those behind it the new
//! ones.* Both parts are the theorem of [several limits](super). For the second, one of its steps
//! needs care: that a call `j` which waits for a limit `m` comes no later than `e(i) - n(j)
//! T(i)` for a slower limit `i`. It rests on a call at which the end of limit `m` was behind the
//! time. If there is none since the change, let `W` be the weight from the change to `j`:
//!
//! ```text
//!    due(j) = e(m) - b(m) T(m) + W T(m)      e(m) is the end at the change
//! ```
//!
//! and that is at most `e(i) + (W - n(j)) T(i)` if `e(i) >= e(m) - b(m) T(m) + n(j) T(m)`. No
//! `n(j)` is more than either burst. So a change makes it so: it moves the end of a limit that is
//! earlier than this for a faster one, if that is still to come. (It takes less than the slower
//! limit's burst, of what could not be used before the faster one admits.)

use std::time::Duration;

use super::rate::{MOST_LIMITS, Rate, Time};
use super::retire::RETIRED;
use super::{Paces, TOLD, WORDS, end, put};
use crate::clock::Clock;
use crate::error::LimitError;

/// # Changing them
impl<C: Clock> Paces<C> {
    /// Changes the limit of an index, in the order in which they were added, while other threads
    /// use them. All of it may come at once after a rest.
    ///
    /// What was admitted stays in use: a unit that is missing is still missing, and comes back at
    /// the new rate. Callers that wait keep the moments that they were told. One call is decided by
    /// the old limit, or by the new one. The calls before the change keep the old limits, and those
    /// behind it the new ones. To add or remove a limit, build others.
    ///
    /// The first change allocates 0.8 kilobytes, which the limits keep. A change to the terms that
    /// the limit has changes nothing.
    ///
    /// # Errors
    ///
    /// [`LimitError`] if there is no limit of this index; if the limit or the interval is zero; if
    /// the interval is longer than 2^62 nanoseconds; if the clock is too coarse, even if the
    /// builder [allowed](super::PacesBuilder::allow_coarse_clock) it for the first limits; if what
    /// is in use would come back behind the end of time; or if the limits are
    /// [retired](Self::retire). Then they stay as they were.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Paces, clock::Manual};
    ///
    /// let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
    /// let builder = Paces::builder().limit(10, second).limit(200, minute);
    /// let paces = builder.clock(Manual::default()).build()?;
    /// assert!(paces.try_admit(10));
    /// paces.set_limit(0, 30, second)?;
    /// paces.set_limit(1, 100, minute)?;
    /// let left: Vec<u64> = paces.quotas().map(|quota| quota.left).collect();
    /// assert_eq!(left, [20, 90]);
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn set_limit(&self, at: usize, limit: u64, interval: Duration) -> Result<(), LimitError> {
        self.set_limit_with_burst(at, limit, interval, limit)
    }

    /// Changes the limit of an index, of which `burst` may come at once after a rest, as
    /// [`set_limit`](Self::set_limit).
    ///
    /// # Errors
    ///
    /// Those of [`set_limit`](Self::set_limit); or if the burst is zero, or its periods are longer
    /// together than 2^62 nanoseconds.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Paces, clock::Manual};
    ///
    /// let second = Duration::from_secs(1);
    /// let paces = Paces::builder().limit(10, second).clock(Manual::default()).build()?;
    /// paces.set_limit_with_burst(0, 10, second, 3)?;
    /// assert_eq!(paces.left(), 3);
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn set_limit_with_burst(
        &self,
        at: usize,
        limit: u64,
        interval: Duration,
        burst: u64,
    ) -> Result<(), LimitError> {
        if at >= self.all.count {
            return Err(LimitError::NoSuchLimit { at, limits: self.all.count });
        }
        let rate = Rate::new(limit, interval, burst)?;
        rate.check_clock(&self.clock)?;
        loop {
            let (version, from) = self.all.ends.glance();
            let mut rates = self.all.rates.of(from[0]);
            if !self.all.ends.is_at(version) {
                continue;
            }
            if from == RETIRED {
                return Err(LimitError::Retired);
            }
            let before = rates[at];
            if before == rate {
                return Ok(());
            }
            // Behind the look at the ends, as for a pace.
            let now = self.clock.now().as_nanos();
            rates[at] = rate;
            let moved = before.end_under(&rate, (end(&from, at), from[TOLD]), now);
            let to = moved.and_then(|moved| self.ordered(&rates, &from, (at, moved), now));
            let Some(mut to) = to else {
                let in_use = before.in_use(end(&from, at), now);
                return Err(LimitError::TooMuchInUse { in_use, period: rate.period() });
            };
            let next = self.all.rates.prepare(&rates, from[0]);
            to[0] = next.name;
            if self.all.ends.exchange(version, to) {
                self.all.rates.free(from[0]);
                return Ok(());
            }
            next.free();
        }
    }

    /// Returns the ends with one that has moved, and those of slower limits where the faster ones
    /// need them. `None` if time ends before.
    fn ordered(
        &self,
        rates: &[Rate; MOST_LIMITS],
        from: &[u64; WORDS],
        (at, moved): (usize, Time),
        now: u64,
    ) -> Option<[u64; WORDS]> {
        let mut to = *from;
        put(&mut to, at, moved);
        // From the fastest: each end that moves is that of a slower one.
        for _ in 1..self.all.count {
            for fast in 0..self.all.count {
                for slow in
                    (0..self.all.count).filter(|slow| rates[fast].is_faster_than(&rates[*slow]))
                {
                    let least = rates[fast].least_end_of(&rates[slow], end(&to, fast))?;
                    if least.rounded_up() > now && least > end(&to, slow) {
                        put(&mut to, slow, least);
                    }
                }
            }
        }
        Some(to)
    }
}

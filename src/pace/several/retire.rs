//! Retiring several limits that are no longer needed: as [a pace](super::super::retire), by one
//! exchange of all ends.

use super::rates::NONE;
use super::{Paces, WORDS, end};
use crate::clock::Clock;

/// The ends of retired limits, and the name of no rates: behind the last time.
pub(super) const RETIRED: [u64; WORDS] = [NONE; WORDS];

/// # Retiring them
impl<C: Clock> Paces<C> {
    /// Retires the limits if all are idle: if each has its whole burst left, and no call waits.
    /// Returns whether they are retired now.
    ///
    /// It is [`Pace::retire`](crate::Pace::retire) for several limits, and all that is said there
    /// holds here. Costs the clock's reading and two compare-exchanges.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::Paces;
    ///
    /// let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
    /// let paces = Paces::builder().limit(10, second).limit(200, minute).build()?;
    /// assert!(paces.try_admit(1) && !paces.retire());
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    #[must_use = "limits that are not retired must not be replaced: others admit a second burst"]
    pub fn retire(&self) -> bool {
        loop {
            let (version, ends) = self.all.ends.glance();
            let now = self.clock.now().as_nanos();
            let is_idle = (0..self.all.count).all(|at| end(&ends, at).rounded_up() <= now);
            if is_idle && self.all.ends.exchange(version, RETIRED) {
                return true;
            }
            if !is_idle && self.all.ends.is_at(version) {
                return ends == RETIRED;
            }
        }
    }

    /// Returns whether the limits are [retired](Self::retire). Costs a load of all words.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let paces = windrow::Paces::builder().limit(10, Duration::from_secs(1)).build()?;
    /// assert!(!paces.is_retired());
    /// assert!(paces.retire() && paces.is_retired());
    /// assert!(!paces.try_admit(1));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn is_retired(&self) -> bool {
        self.all.ends.load() == RETIRED
    }

    /// Returns the weight whose periods are not over, of the limit that has most of it; zero if the
    /// limits are retired.
    pub(crate) fn in_use(&self) -> u64 {
        let (now, (rates, ends)) = (self.clock.now().as_nanos(), self.state());
        if ends == RETIRED {
            return 0;
        }
        let limits = rates[..self.all.count].iter().enumerate();
        limits.map(|(at, rate)| rate.in_use(end(&ends, at), now)).max().unwrap_or(0)
    }
}

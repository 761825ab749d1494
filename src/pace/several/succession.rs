//! Several limits that take over from others: as [a pace](super::super::succession).
//!
//! What is not back is the weight of the limit that has most of it, and each of the new limits
//! begins with that. So the promise holds for each pair of an old limit and a new one: that of the
//! old one was at most this weight.

use super::{Paces, end};
use crate::clock::Clock;
use crate::turn::{Reservation, State, Ticket};

impl<C: Clock> Paces<C> {
    /// Lets limits that have admitted nothing yet take over from `other`, for a caller that may have
    /// used anything of that. For `windrow-tower`.
    #[doc(hidden)]
    pub fn take_over(&self, other: &Paces<C>) {
        let (now, ends) = (other.clock.now().as_nanos(), other.ends.load());
        // Retired limits have no next moment, and nothing in use.
        let Some((_, from)) = other.behind(&ends, now, 0) else { return };
        let limits = other.rates().iter().enumerate();
        let used = limits.map(|(at, rate)| rate.in_use(end(&ends, at), from)).max().unwrap_or(0);
        loop {
            let (version, mut to) = self.ends.glance();
            for (at, rate) in self.rates().iter().enumerate() {
                let of_burst = used.min(rate.burst());
                let behind = rate.take(end(&to, at), from, of_burst).map(|it| it.0);
                let Some(behind) = behind else { return }; // time ends before
                (to[2 * at], to[2 * at + 1]) = (behind.nanos, behind.parts);
            }
            if self.ends.exchange(version, to) {
                return;
            }
        }
    }

    /// Returns the reservation of a ticket that these limits have given. For `windrow-tower`.
    #[doc(hidden)]
    pub fn redeem(&self, ticket: Ticket) -> Reservation<'_, C> {
        ticket.redeemed(State::Words(&self.ends), &self.clock, &self.vacancies)
    }
}

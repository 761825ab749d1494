//! Several limits that take over from others: as [a pace](super::super::succession).
//!
//! Each of the new limits begins with the weight in use of the old limit that has most of it, `u`.
//! So the promise holds for each pair of an old limit and a new one: that of the old one was at
//! most this weight.
//!
//! The ends fit together, as the [theorem](super::change) of changed limits needs it. For a slower
//! limit `i` beside a faster one `m`, and a weight `n` of at most either burst, it needs
//! `min(u, b(i)) T(i) >= (min(u, b(m)) - b(m) + n) T(m)`. The bracket is at most `n`, and if `u` is
//! less than `b(m)`, at most `u`.

use super::{Paces, behind, end, put};
use crate::clock::Clock;
use crate::turn::{Reference, Reservation, Ticket};

impl<C: Clock> Paces<C> {
    /// Lets limits that have admitted nothing yet take over from `other`, for a caller that may
    /// have used anything of that. For `windrow-tower`.
    #[doc(hidden)]
    pub fn take_over(&self, other: &Paces<C>) {
        let (now, (rates, ends)) = (other.clock.now().as_nanos(), other.state());
        let rates = &rates[..other.all.count];
        // Retired limits have no next moment, and nothing in use.
        let Some((_, from)) = behind(rates, &ends, now, 0) else { return };
        let limits = rates.iter().enumerate();
        let used = limits.map(|(at, rate)| rate.in_use(end(&ends, at), from)).max().unwrap_or(0);
        if used > 0 {
            self.begin_at(from, used);
        }
    }

    /// Lets each limit begin at `from` as if a weight were in use then, or its whole burst if that
    /// is less.
    fn begin_at(&self, from: u64, used: u64) {
        loop {
            let (version, mut to) = self.all.ends.glance();
            let rates = self.all.rates.of(to[0]);
            for (at, rate) in rates[..self.all.count].iter().enumerate() {
                // Without it, time ends before.
                if let Some((begin, _)) = rate.take(end(&to, at), from, used.min(rate.burst())) {
                    put(&mut to, at, begin);
                }
            }
            if self.all.ends.exchange(version, to) {
                return;
            }
        }
    }

    /// Returns the reservation of a ticket that these limits have given. For `windrow-tower`.
    #[doc(hidden)]
    pub fn redeem(&self, ticket: Ticket) -> Reservation<'_, C> {
        let words = Reference::Paces(&self.all.ends);
        ticket.redeemed(words, &self.clock, &self.vacancies, &self.all)
    }
}

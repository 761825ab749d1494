//! A pace that takes over from another one, of which a caller may have used anything.
//!
//! # Promise
//!
//! Take the calls of a caller that has asked one pace, with period `S` and burst `a`, together with
//! others, and then its own one, with `T` and `b`. In each span of `d` nanoseconds they weigh at
//! most `max(a, b) + (d - 1) / min(S, T)`: as if they had come to one pace, with the higher burst
//! and the shorter period.
//!
//! # Why
//!
//! To ask both paces for a while would not do: the end of the first one stays behind the time for
//! as long as calls come, and then the own pace would have its whole burst.
//!
//! So the own pace begins where the first one stands. Let `e` be the first one's end at the time
//! `t`. Its next call has a moment of `s = max(t, e - a S)` or later, and all its calls until now
//! have moments of `s` or earlier. At `s`, a weight of `u = (e - s) / S`, rounded up, is not back,
//! and `u <= a`. The own pace begins with the end `s + min(u, b) T`: nothing that `u` tells of is
//! left to it, and it has no moment before `s`.
//!
//! Let the caller have used a weight of `w` of the first pace, with moments from `x < s` on. Each
//! raised the first one's end by `S`, from `x` or later. So `w S <= e - x`, which is
//! `w <= u + (s - x) / S`. From `s` to `y`, its own pace admits at most
//! `b - min(u, b) + (y - s) / T`. If `u <= b`, the sum is at most `b + (y - x) / min(S, T)`. If
//! not, its own pace admits at most `(y - s) / T`, and the first one `a + (s - x) / S`.
//!
//! The promise is that of one such step. If the caller's own pace is retired later, and it shares
//! again, a weight above `b` that it had of the first pace is no longer known. So where `b < a`,
//! the promise is for spans of `b T` at most, which have no second step.

use std::time::Duration;

use crate::clock::Clock;
use crate::pace::Pace;
use crate::pace::end::{End, Meaning};
use crate::pace::terms::{RETIRED, Terms};
use crate::sync::Ordering;
use crate::turn::{Reference, Reservation, Ticket};

impl<C: Clock> Pace<C> {
    /// Lets a pace that has admitted nothing yet take over from `other`, for a caller that may have
    /// used anything of that. For `windrow-tower`.
    #[doc(hidden)]
    pub fn take_over(&self, other: &Pace<C>) {
        let (now, (terms, end)) = (other.clock.now().as_nanos(), other.state());
        // A retired pace has no next moment, and nothing in use.
        let Some((_, from)) = terms.take(end, now, 0) else { return };
        let used = terms.in_use(end, from);
        if used > 0 {
            self.begin_at(from, used);
        }
    }

    /// Lets the pace begin at `from` as if a weight were in use then, or its whole burst if that is
    /// less.
    fn begin_at(&self, from: u64, used: u64) {
        let behind = |terms: Terms, end| terms.take(end, from, used.min(terms.burst()));
        loop {
            // Relaxed: see `End::meaning`.
            let word = self.end.word().load(Ordering::Relaxed);
            let has_begun = match self.end.meaning(word) {
                Meaning::End(RETIRED) => true,
                Meaning::End(end) => behind(self.end.first, end).is_none_or(|(to, _)| {
                    // Relaxed: the caller orders the calls of the two paces.
                    let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
                    self.end.word().compare_exchange(end, to, order, failed).is_ok()
                }),
                Meaning::Changed(changed) => {
                    let found = changed.load();
                    let behind = behind(found.state.terms, found.state.end);
                    behind.is_none_or(|(to, _)| changed.take(&found, to).is_some())
                }
            };
            if has_begun {
                return;
            }
        }
    }

    /// Returns the pace with other terms, and as it was if it cannot have them. It has admitted
    /// nothing yet. For `windrow-tower`.
    #[doc(hidden)]
    #[must_use]
    pub fn begun_with(self, period: Duration, burst: u64) -> Pace<C> {
        let terms = Terms::new(period, burst);
        let is_possible = |terms: &Terms| terms.check_clock(&self.clock).is_ok();
        let terms = terms.ok().filter(is_possible).unwrap_or(self.end.first);
        Pace { end: End::new(terms), ..self }
    }

    /// Returns the reservation of a ticket that this pace has given. For `windrow-tower`.
    #[doc(hidden)]
    pub fn redeem(&self, ticket: Ticket) -> Reservation<'_, C> {
        let few = match self.end.now() {
            Meaning::End(_) => None,
            Meaning::Changed(changed) => Some(changed.words()),
        };
        let words = Reference::Pace { word: self.end.word(), few };
        ticket.redeemed(words, &self.clock, &self.vacancies, &self.end)
    }
}

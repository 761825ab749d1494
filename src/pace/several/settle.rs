//! Settling a call of several limits.
//!
//! A call that costs more than was reserved raises each end, as another call would. One that costs
//! less lowers each end to where a call of that weight had put it, if no other call is behind it
//! yet. Otherwise it counts as reserved: a caller that waits for one limit has been told a moment
//! that the other limits do not know, and relies on the first one's end.

use super::rate::{MOST_LIMITS, Rate, Time};
use super::retire::RETIRED;
use super::{Limits, WORDS, end, put};
use crate::turn::vacancies::Turn;
use crate::turn::{Settle, Undo};
use crate::wide::Version;

impl Rate {
    /// Returns the end behind a weight that is charged at `now`: at most the last time.
    #[inline]
    fn charged(&self, end: Time, now: u64, weight: u64) -> Time {
        let start = end.max(Time { nanos: now, parts: 0 });
        self.time_of(weight).and_then(|more| self.sum(start, more)).unwrap_or(Time::LAST)
    }
}

impl Limits {
    /// Returns the rates and the ends of one moment, and the version of the ends.
    #[inline]
    pub(super) fn load(&self) -> (Version, [Rate; MOST_LIMITS], [u64; WORDS]) {
        loop {
            let (version, ends) = self.ends.glance();
            let rates = self.rates.of(ends[0]);
            if self.ends.is_at(version) {
                return (version, rates, ends);
            }
        }
    }

    #[inline]
    fn give_back(&self, weight: u64, made: [u64; 3]) -> bool {
        loop {
            let (version, rates, from) = self.load();
            if from[..made.len()] != made || from == RETIRED {
                return false;
            }
            let mut to = from;
            for (at, rate) in rates[..self.count].iter().enumerate() {
                put(&mut to, at, rate.without(end(&from, at), weight));
            }
            if self.ends.exchange(version, to) {
                return true;
            }
        }
    }

    #[inline]
    fn charge(&self, weight: u64, clock: &dyn Fn() -> u64) {
        loop {
            let (version, rates, from) = self.load();
            if from == RETIRED {
                return;
            }
            let (mut to, now) = (from, clock());
            for (at, rate) in rates[..self.count].iter().enumerate() {
                put(&mut to, at, rate.charged(end(&from, at), now, weight));
            }
            if self.ends.exchange(version, to) {
                return;
            }
        }
    }
}

impl Settle for Limits {
    fn passes_on(&self, _: Turn) -> bool {
        true // moments and weights stay what they are, whatever the rates
    }

    fn settle(&self, turn: Turn, made: &Undo<'_>, actual: u64, clock: &dyn Fn() -> u64) -> bool {
        match (actual.checked_sub(turn.weight), made) {
            (None, Undo::Words { to, .. }) => self.give_back(turn.weight - actual, *to),
            (None, _) => false,
            (Some(more), _) => {
                self.charge(more, clock);
                false
            }
        }
    }
}

//! The client of a shared limit, as a state machine without I/O: when it asks, for what, and what
//! becomes of the answer.
//!
//! ```text
//!   idle -> asking (number, a stamp for each attempt) -> answered | abandoned -> idle
//! ```
//!
//! # Theorem
//!
//! A permit that a process uses was granted to it in a bucket of the engine's clock, and is used
//! before the end of the bucket that follows. A permit that is given back is not used.
//!
//! # Why
//!
//! - The script ran after the attempt was sent that it answers, and then the bucket had the age
//!   that the answer tells. So the end, `sent + (2 * length - age) * (1 - drift)`, comes before the
//!   end of the next bucket. Each attempt has a stamp of its own: with one stamp, moved by each
//!   repetition, a late answer to the first attempt would count from the last one.
//! - One answer to an ask is taken, whatever copies of it arrive.
//! - A permit that is given back was left in a lease that was ended by a swap ([`Permits`]), so it
//!   is not in use. It rides in one ask, which the script executes once. An abandoned ask is never
//!   sent again, and what it carried counts as used.
//!
//! All times are microseconds of one monotonic clock, which goes on while the machine is suspended.
//! It may run up to [`Terms::drift`] slower than the engine's.

use std::mem;

use crate::permits::{LEASES, MAX_PERMITS, Permits};
use returns::Returns;

mod answer;
mod ask;
mod returns;
mod terms;

pub(crate) use answer::{Answer, State};
pub(crate) use ask::{Ask, Attempt};
pub(crate) use returns::Return;
pub(crate) use terms::{DRIFT, LENGTHS, MAX_BUCKETS, MAX_LIMIT, Terms};

/// The client of a shared limit. One thread at a time uses it; requests take from [`Permits`].
#[derive(Debug, Default)]
pub(crate) struct Machine {
    /// The terms, with the limit that the engine has told last.
    pub(crate) terms: Terms,
    /// The number of the last ask.
    number: u64,
    /// The bucket and the epoch of each lease's permits.
    grants: [Grant; LEASES],
    /// The grants before those, for permits that are put back late.
    earlier: [Grant; LEASES],
    returns: Returns,
    pending: Option<Pending>,
    /// The refusal that the engine has told last.
    pub(crate) refusal: Refusal,
    /// The version of the limit that the engine is known to have heard of.
    heard: u64,
    /// The engine is to be asked for the limit alone.
    inquires: bool,
    /// The last wish.
    want: u64,
    /// The time of the last new ask, or of the first poll.
    asked: Option<u64>,
    /// The permits held at the last ask, with what was granted since.
    held: u64,
    /// The value of [`Permits::missed`] at the last ask.
    missed: u64,
    /// The permits of the last grant.
    last_granted: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Grant {
    end: u64,
    bucket: u64,
    born: u64,
}

#[derive(Clone, Debug)]
struct Pending {
    ask: Ask,
    /// The time of each attempt.
    sent: Vec<u64>,
}

/// The refusal that the engine has told: requests of at least this weight need not ask before this
/// time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Refusal {
    pub(crate) weight: u64,
    pub(crate) until: u64,
}

impl Refusal {
    /// Returns whether a request of this weight is refused without an ask.
    pub(crate) fn covers(&self, now: u64, weight: u64) -> bool {
        now < self.until && weight >= self.weight
    }
}

impl Machine {
    /// Makes the client of a limit. Its id on the engine must be new, after a fork as well.
    pub(crate) fn new(terms: Terms) -> Machine {
        Machine { terms, heard: terms.version, want: 1, last_granted: 1, ..Machine::default() }
    }

    /// Changes the limit for all processes, with an ask that is due for that alone. Returns its
    /// version, which is above all that this client has heard of.
    pub(crate) fn set_limit(&mut self, limit: u64) -> u64 {
        self.terms.limit = limit;
        self.terms.version += 1;
        self.refusal = Refusal::default();
        self.terms.version
    }

    /// Returns whether the engine may not have heard of a change of the limit.
    pub(crate) fn has_news(&self) -> bool {
        self.terms.version > self.heard
    }

    /// Returns the limit that holds, if the engine has heard of a change of this version.
    pub(crate) fn heard(&self, version: u64) -> Option<u64> {
        (self.heard >= version).then_some(self.terms.limit)
    }

    /// Tells a change of the limit with the next request's ask, and makes none for that alone.
    pub(crate) fn keep_news(&mut self) {
        self.heard = self.terms.version;
    }

    /// Asks for the limit in force, soon: it may have been raised.
    pub(crate) fn inquire(&mut self) {
        self.inquires = true;
    }

    /// Returns a new ask, if one is due. `need` is the largest weight of a request that waits; at
    /// least one permit is asked for, and never more than the limit: the engine would not take a
    /// number beyond its own for one.
    ///
    /// An ask under way comes first: it is answered, or abandoned, before there is another one.
    pub(crate) fn poll(&mut self, permits: &Permits, now: u64, need: u64) -> Option<Attempt> {
        let need = need.min(self.terms.limit).clamp(1, MAX_PERMITS);
        self.collect(permits, now);
        if self.pending.is_some() {
            return None;
        }
        let missed = permits.missed().wrapping_sub(self.missed);
        let left = permits.left(now);
        let used = self.held.saturating_sub(left);
        let is_starved = missed > 0 && left < need;
        let is_refused = self.refusal.covers(now, need);
        let gap = now.saturating_sub(*self.asked.get_or_insert(now));
        let is_cold = self.refusal.weight == 0 && now < self.refusal.until;
        let is_soon = gap < self.terms.length / 16;
        let is_low = permits.left(now + self.terms.length / 4) <= self.last_granted / 4;
        let is_ahead = is_low && (missed > 0 || used > 0) && !is_soon && !self.terms.is_small();
        let want = if !is_refused && (is_starved || is_ahead) {
            self.wish(used, missed, gap, need)
        } else if !self.returns.is_empty() && left == 0 && !is_soon && !is_cold
            || (self.has_news() || self.inquires) && !is_soon
        {
            0
        } else {
            return None;
        };
        self.missed = self.missed.wrapping_add(missed);
        (self.asked, self.held, self.inquires) = (Some(now), left, false);
        let back = self.returns.next().unwrap_or_default();
        self.number += 1;
        let ask = Ask { number: self.number, want, need, back };
        self.pending = Some(Pending { ask, sent: vec![now] });
        self.pending()
    }

    /// Returns the demand of a bucket: what was used and missed since the last ask, and a quarter.
    fn wish(&mut self, used: u64, missed: u64, gap: u64, need: u64) -> u64 {
        let most = self.terms.limit.clamp(1, MAX_PERMITS / 2);
        if self.terms.is_small() {
            return need;
        }
        let length = self.terms.length;
        let demand = used.saturating_add(missed).saturating_mul(length) / gap.max(length / 64);
        let demand = demand.saturating_add(demand / 4);
        self.want = demand.max(self.want / 2).min(8 * self.want).clamp(1, most);
        self.want.max(need)
    }

    /// Returns the ask that was not answered, to be sent again now: with the same number, so the
    /// engine executes it once.
    pub(crate) fn repeat(&mut self, now: u64) -> Option<Attempt> {
        self.pending.as_mut()?.sent.push(now);
        self.pending()
    }

    /// Gives up the ask: permits that it gave back count as used, and those that it is granted,
    /// too. Requests are refused until `until`.
    pub(crate) fn abandon(&mut self, until: u64) {
        self.pending = None;
        self.refusal = Refusal { weight: 0, until };
    }

    /// Returns the latest attempt at the ask under way.
    pub(crate) fn pending(&self) -> Option<Attempt> {
        let Pending { ask, sent } = self.pending.as_ref()?;
        let attempt = sent.len() - 1;
        Some(Attempt { ask: *ask, attempt, sent: sent[attempt], terms: self.terms })
    }

    /// Takes the answer to this attempt at the ask with this number. An answer to any other ask
    /// than the one under way changes nothing.
    pub(crate) fn answer(
        &mut self,
        permits: &Permits,
        now: u64,
        number: u64,
        attempt: usize,
        answer: &Answer,
    ) {
        let Some(Pending { ask, sent }) = self.pending.take_if(|p| p.ask.number == number) else {
            return;
        };
        let Some(&sent) = sent.get(attempt) else { return };
        if answer.version >= self.terms.version && answer.limit <= MAX_LIMIT {
            (self.terms.limit, self.terms.version) = (answer.limit, answer.version);
            self.heard = answer.version;
        }
        if ask.want == 0 {
            return;
        }
        if answer.granted == 0 {
            let longest = self.terms.length * (self.terms.buckets + 2);
            let wait = answer.wait.filter(|wait| *wait > 0).unwrap_or(self.terms.length);
            let weight = if answer.state == State::Cold { 0 } else { ask.need };
            self.refusal = Refusal { weight, until: now + wait.min(longest) };
            return;
        }
        let granted = answer.granted.min(ask.want).min(MAX_PERMITS); // the script grants no more
        let end = sent + self.terms.life(answer.age);
        self.last_granted = granted;
        let grant = Grant { end, bucket: answer.bucket, born: answer.born };
        if now >= end {
            self.give_back(grant, granted);
            return;
        }
        self.collect(permits, now);
        let place = self.place(permits);
        let rest = permits.end(place);
        self.held = (self.held + granted).saturating_sub(rest);
        self.give_back(self.grants[place], rest);
        self.earlier[place] = mem::replace(&mut self.grants[place], grant);
        permits.begin(place, end, permits.pay(granted));
    }

    /// Returns the place for a new lease: that of an empty one, or of the one that ends first.
    fn place(&self, permits: &Permits) -> usize {
        let empty = (0..LEASES).find(|place| permits.lease(*place).0 == 0);
        let first = || (0..LEASES).min_by_key(|place| self.grants[*place].end);
        empty.or_else(first).unwrap_or(0)
    }

    /// Collects what is left of leases that have ended, and what was put back after their end.
    fn collect(&mut self, permits: &Permits, now: u64) {
        for place in 0..LEASES {
            let (left, end) = permits.lease(place);
            if left > 0 && now >= end {
                let rest = permits.end(place);
                self.held = self.held.saturating_sub(rest);
                self.give_back(self.grants[place], rest);
            }
        }
        for (end, count) in permits.late() {
            let mut grants = self.grants.iter().chain(&self.earlier);
            if let Some(&grant) = grants.find(|grant| grant.end == end) {
                self.give_back(grant, count);
            }
        }
    }

    fn give_back(&mut self, grant: Grant, count: u64) {
        self.returns.add(Return { count, bucket: grant.bucket, born: grant.born });
    }
}

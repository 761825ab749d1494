//! The check that a window's numbers agree: a check that can fail.
//!
//! # The readings
//!
//! One thread reads an event's count in independent ways, one after the other: the all-time total
//! (a sum over all cores), the interval's count as a *difference of running totals* (twice), in
//! between the interval's count as the *walk* of its buckets, one by one, the late adds, and the
//! all-time total again.
//!
//! # The laws
//!
//! Adds run meanwhile, so the readings differ by these adds. Three laws hold nevertheless:
//!
//! 1. The walk lies between the difference before it and the one after it, if all three are of one
//!    bucket's time.
//! 2. The all-time total never goes back from one audit to the next.
//! 3. The all-time total is at least what the audit before saw: in the buckets, late, and gone from
//!    the interval.
//!
//! With no add running, the first says that both ways give the same number, and the last that no
//! count is missing from the total.
//!
//! # Adds in flight
//!
//! A back-dated add puts its number into its bucket, and then into the all-time total. A thread
//! that is preempted in between makes the total too small for as long as it waits. The first two
//! laws compare readings of the same words, so no add in flight can break them: a failure is
//! reported if [`ATTEMPTS`] readings in a row show it.
//! ([`SlidingWindow::clear`](windrow::SlidingWindow::clear) between two readings looks like one.)
//! The third law compares readings that are at least [`SETTLED`] apart, and a violation is
//! [`Audit::Pending`] until every audit of [`SURE`] has shown it: then an add in flight would have
//! to be that old.
//!
//! # Adds that have left the interval
//!
//! The count that has left the interval is known as a lower bound: the total less the counts in the
//! buckets and the late ones, with the total read first. The bound of an audit counts from when a
//! later audit has found that the third law held. It is forgotten if the geometry changes or the
//! window's clock goes back, because the adds that seemed to have left may then come into the
//! interval again.

mod readings;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use windrow::Timestamp;
use windrow::export::AnyWindow;

use readings::{Readings, Taken};

/// The number of readings in a row that a failure of the first two laws needs.
const ATTEMPTS: usize = 3;

/// The time after which most adds in flight have ended.
const SETTLED: Duration = Duration::from_secs(1);

/// The time for which the third law must have been broken before that is a failure.
const SURE: Duration = Duration::from_secs(10);

/// The number of audits that must have found it broken: a process that was stopped takes its
/// readings far apart.
const SURE_AUDITS: u32 = 5;

/// The result of an audit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audit {
    /// There is nothing to compare.
    Nothing,
    Holds,
    /// The all-time total is smaller than the count seen, and adds in flight could explain it.
    Pending,
    /// Two readings disagree by this number, beyond what adds could explain.
    Fails {
        by: u64,
    },
}

/// The readings of earlier audits of a series.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// The accounts, by event.
    accounts: Vec<Account>,
    /// The time at which the accounts were last compared; `None` before there are any.
    compared: Option<Instant>,
    /// The latest time of the window's clock that an audit saw, and the geometry then.
    at: Timestamp,
    geometry: (u64, usize),
    /// The time since which every audit has found the third law broken, and the number of these
    /// audits.
    broken: Option<(Instant, u32)>,
}

/// The known facts about an event's count.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// The greatest all-time total.
    lifetime: u64,
    /// A lower bound of the count that had left the interval, by an audit that the next one
    /// confirmed.
    left: u64,
    /// That bound at the last audit.
    left_next: u64,
    /// The count that the last audit saw: in buckets, late, and left.
    seen: u64,
}

impl Ledger {
    /// Audits a number that never goes back.
    pub(crate) fn only_grows(&mut self, now: u64) -> Audit {
        self.accounts.resize_with(1, Account::default);
        let account = &mut self.accounts[0];
        let by = account.lifetime.saturating_sub(now);
        account.lifetime = account.lifetime.max(now);
        if by == 0 { Audit::Holds } else { Audit::Fails { by } }
    }

    /// Audits a window.
    pub(crate) fn window(&mut self, window: &dyn AnyWindow) -> Audit {
        let mut by = 0;
        for _ in 0..ATTEMPTS {
            let Some(taken) = Taken::of(window) else { return Audit::Nothing };
            by = self.disagree(&taken.by_event);
            if by == 0 {
                return self.compare(&taken, Instant::now());
            }
        }
        Audit::Fails { by }
    }

    /// Returns whether the next frame is to audit the series again.
    pub(crate) fn is_pending(&self) -> bool {
        self.broken.is_some()
    }

    /// Returns the difference by which the first two laws are broken.
    fn disagree(&self, by_event: &[Readings]) -> u64 {
        let by = |(index, readings): (usize, &Readings)| {
            let before = self.accounts.get(index).map_or(0, |account| account.lifetime);
            readings.disagree().max(before.saturating_sub(readings.lifetime_first))
        };
        by_event.iter().enumerate().map(by).max().unwrap_or(0)
    }

    /// Checks the third law, and then updates the accounts for the next audit.
    fn compare(&mut self, taken: &Taken, now: Instant) -> Audit {
        self.accounts.resize_with(taken.by_event.len(), Account::default);
        for (account, readings) in self.accounts.iter_mut().zip(&taken.by_event) {
            account.lifetime = account.lifetime.max(readings.lifetime_first);
        }
        if self.compared.is_some_and(|then| now.saturating_duration_since(then) < SETTLED) {
            return if self.is_pending() { Audit::Pending } else { Audit::Holds };
        }
        let short = |(account, readings): (&Account, &Readings)| {
            account.seen.saturating_sub(readings.lifetime)
        };
        let by = self.accounts.iter().zip(&taken.by_event).map(short).max().unwrap_or(0);
        let is_later = taken.at >= self.at;
        let is_same = is_later && taken.geometry == self.geometry;
        for (account, readings) in self.accounts.iter_mut().zip(&taken.by_event) {
            if by == 0 {
                account.left = account.left_next;
            }
            if !is_same {
                account.left = 0;
            }
            account.left_next = if is_later { readings.left() } else { 0 };
            account.seen = account.left.saturating_add(readings.seen());
        }
        self.compared = Some(now);
        (self.at, self.geometry) = (self.at.max(taken.at), taken.geometry);
        if by == 0 {
            self.broken = None;
            return Audit::Holds;
        }
        let (since, audits) = self.broken.get_or_insert((now, 0));
        *audits += 1;
        let lasts = now.saturating_duration_since(*since) >= SURE && *audits >= SURE_AUDITS;
        if lasts { Audit::Fails { by } } else { Audit::Pending }
    }
}

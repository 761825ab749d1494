//! Whether a window's numbers agree: a check that can fail.
//!
//! # What is compared
//!
//! One thread reads an event's count in independent ways, one after the other: what was ever added (a sum of all that all
//! cores hold), what the interval holds as a *difference of running totals* (twice), in between what it holds as the
//! *walk* of its buckets, one by one, and what came late. While adds run these differ by what is added meanwhile; so they are
//! held to what must be so all the same:
//!
//! * The walk lies between the difference before it and the one after it, if all three are of one bucket's time.
//! * What the buckets hold and what came late is not more than what was ever added.
//! * What was ever added never goes back from one audit to the next.
//! * What has left the interval, which is all the rest, never goes back either, while neither the clock does nor the geometry
//!   changes.
//!
//! With no add running, the first says that both ways give the same number. A count that is lost or doubled in one of
//! them fails it; and so does a total that goes back.
//!
//! [`SlidingWindow::clear`](windrow::SlidingWindow::clear) between two readings looks like a loss. So what fails is read again:
//! only what fails [`ATTEMPTS`] times in a row is reported.

use windrow::{Clock, Event, SlidingWindow, Snapshot, Timestamp};

use crate::window::only_grows;

/// How often a series that does not agree is read.
const ATTEMPTS: usize = 3;

/// What an audit found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audit {
    /// There is nothing to compare.
    Nothing,
    Holds,
    /// By how much two readings disagree beyond what adds could explain.
    Fails {
        by: u64,
    },
}

/// What the last audit of a series read.
#[derive(Debug, Default)]
pub struct Ledger {
    /// By event.
    accounts: Vec<Account>,
    /// When, and of which geometry.
    at: Timestamp,
    geometry: (u64, usize),
}

/// What was ever counted, and what at least has left the interval.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    lifetime: u64,
    left: u64,
}

/// The readings of one event's count, in the order in which they are taken.
#[derive(Clone, Copy, Debug, Default)]
struct Readings {
    late_first: u64,
    lifetime_first: u64,
    difference_first: u64,
    walk: u64,
    difference: u64,
    late: u64,
    lifetime: u64,
    /// Whether the interval is the same in all of them.
    of_one_interval: bool,
}

impl Readings {
    /// By how much they disagree.
    fn disagree(&self, before: Option<Account>) -> u64 {
        let Readings { walk, late, lifetime, .. } = *self;
        let more = |one: u64, other: u64| one.saturating_sub(other);
        let mut by = more(walk.saturating_add(late), lifetime);
        if self.of_one_interval {
            by = by.max(more(self.difference_first, walk)).max(more(walk, self.difference));
        }
        if let Some(before) = before {
            by = by.max(more(before.lifetime, self.lifetime_first));
            // What has left at most.
            let left = lifetime.saturating_sub(self.difference).saturating_sub(self.late_first);
            if self.of_one_interval {
                by = by.max(more(before.left, left));
            }
        }
        by
    }

    fn account(&self) -> Account {
        let left = self.lifetime_first.saturating_sub(self.walk).saturating_sub(self.late);
        Account { lifetime: self.lifetime, left }
    }
}

impl Ledger {
    /// Of a number that never goes back.
    pub(crate) fn only_grows(&mut self, now: u64) -> Audit {
        let before = self.accounts.first().map_or(0, |account| account.lifetime);
        self.accounts = vec![Account { lifetime: now, left: 0 }];
        if now >= before { Audit::Holds } else { Audit::Fails { by: before - now } }
    }

    pub(crate) fn window<E: Event, C: Clock>(&mut self, window: &SlidingWindow<E, C>) -> Audit {
        let mut audit = Audit::Nothing;
        for _ in 0..ATTEMPTS {
            audit = self.attempt(window);
            if !matches!(audit, Audit::Fails { .. }) {
                break;
            }
        }
        audit
    }

    fn attempt<E: Event, C: Clock>(&mut self, window: &SlidingWindow<E, C>) -> Audit {
        // Only these never go back.
        let counted = |event: &&E| only_grows(event.kind());
        let events: Vec<E> = E::ALL.iter().filter(counted).copied().collect();
        if events.is_empty() {
            return Audit::Nothing;
        }
        let mut all = vec![Readings::default(); events.len()];
        for (readings, event) in all.iter_mut().zip(&events) {
            readings.late_first = window.late(*event).count;
            readings.lifetime_first = window.lifetime(*event).count;
        }
        let first = window.totals();
        let walk = window.snapshot();
        let second = window.totals();
        let geometry = geometry_of(&walk);
        let bucket = |at: Timestamp| at.as_nanos() / geometry.0.max(1);
        let interval = walk.interval();
        let of_one_interval = bucket(first.at()) == bucket(walk.at())
            && bucket(walk.at()) == bucket(second.at())
            && (first.interval(), second.interval()) == (interval, interval);
        for (readings, event) in all.iter_mut().zip(&events) {
            readings.difference_first = first.stats(*event).count;
            readings.walk = walk.stats(*event).count;
            readings.difference = second.stats(*event).count;
            readings.late = window.late(*event).count;
            readings.lifetime = window.lifetime(*event).count;
            readings.of_one_interval = of_one_interval;
        }

        let is_later = walk.at() >= self.at && geometry == self.geometry;
        let before = |index: usize| {
            let account = self.accounts.get(index).copied()?;
            Some(Account { left: if is_later { account.left } else { 0 }, ..account })
        };
        let by = all.iter().enumerate().map(|(index, one)| one.disagree(before(index)));
        let by = by.max().unwrap_or(0);
        if by == 0 {
            self.accounts = all.iter().map(Readings::account).collect();
            (self.at, self.geometry) = (walk.at(), geometry);
            Audit::Holds
        } else {
            Audit::Fails { by }
        }
    }
}

/// The length of a bucket, and how many there are.
fn geometry_of<E: Event>(walk: &Snapshot<E>) -> (u64, usize) {
    let buckets = walk.buckets();
    let length = buckets.first().map_or(0, |bucket| (bucket.end() - bucket.start()).as_nanos());
    (u64::try_from(length).unwrap_or(u64::MAX), buckets.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten were counted: four have left, one came late, five are in the buckets.
    const RIGHT: Readings = Readings {
        late_first: 1,
        lifetime_first: 10,
        difference_first: 5,
        walk: 5,
        difference: 5,
        late: 1,
        lifetime: 10,
        of_one_interval: true,
    };

    #[test]
    fn what_agrees_holds() {
        assert_eq!(RIGHT.disagree(None), 0);
        assert_eq!(RIGHT.disagree(Some(RIGHT.account())), 0);
        assert_eq!(RIGHT.account().left, 4);
    }

    #[test]
    fn adds_between_two_readings_are_no_loss() {
        let busy = Readings { walk: 8, difference: 9, lifetime: 15, ..RIGHT };
        assert_eq!(busy.disagree(Some(RIGHT.account())), 0);
    }

    #[test]
    fn a_count_that_the_walk_lacks_is_a_loss() {
        assert_eq!(Readings { walk: 3, ..RIGHT }.disagree(None), 2);
    }

    #[test]
    fn a_count_that_the_walk_has_twice_is_noticed() {
        assert_eq!(Readings { walk: 6, ..RIGHT }.disagree(None), 1);
    }

    #[test]
    fn buckets_never_hold_more_than_was_ever_added() {
        let moved = Readings { of_one_interval: false, walk: 12, ..RIGHT };
        assert_eq!(moved.disagree(None), 3);
    }

    #[test]
    fn a_total_that_goes_back_is_noticed() {
        let before = Account { lifetime: 12, left: 4 };
        assert_eq!(RIGHT.disagree(Some(before)), 2);
    }

    #[test]
    fn what_has_left_does_not_come_back() {
        let before = Account { lifetime: 10, left: 7 };
        assert_eq!(RIGHT.disagree(Some(before)), 3);
    }

    #[test]
    fn a_counter_that_goes_back_is_noticed() {
        let mut ledger = Ledger::default();
        assert_eq!(ledger.only_grows(5), Audit::Holds);
        assert_eq!(ledger.only_grows(5), Audit::Holds);
        assert_eq!(ledger.only_grows(3), Audit::Fails { by: 2 });
    }

    use windrow::Scale;

    windrow::events! { enum Seen { Passed: Count, Level: Signed, Took: Value, Most: Maximum, Size: Histogram(Scale::fixed::<0, 1, 16>()) } }

    #[test]
    fn nothing_disagrees_while_threads_count_and_buckets_come_and_go() {
        use std::sync::atomic::{AtomicBool, Ordering};
        use std::time::Duration;

        // Buckets so short that most audits see some begin, and of audits in a row some see none.
        let builder = SlidingWindow::<Seen>::builder().interval(Duration::from_millis(50));
        let window = builder.buckets(50).clock(windrow::clock::Precise::default()).build().unwrap();
        let done = AtomicBool::new(false);
        let mut ledger = Ledger::default();
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        window.add(Seen::Passed, 1);
                        window.record(Seen::Took, 5);
                        window.record(Seen::Size, 5);
                        let older = window.now() - Duration::from_millis(20);
                        let _ = window.add_at(older, Seen::Passed, 3);
                    }
                });
            }
            let audits: Vec<Audit> = (0..5_000).map(|_| ledger.window(&window)).collect();
            done.store(true, Ordering::Relaxed);
            assert!(audits.iter().all(|audit| *audit == Audit::Holds), "{ledger:?}");
        });
    }

    #[test]
    fn a_change_of_geometry_and_a_cleared_interval_are_no_loss() {
        use std::time::Duration;

        let clock = windrow::clock::Manual::default();
        clock.set(Timestamp::from_secs(60));
        let builder = SlidingWindow::<Seen>::builder().buckets(4).clock(clock.clone());
        let window = builder.build().unwrap();
        let mut ledger = Ledger::default();
        for step in 0..20_u64 {
            window.add(Seen::Passed, step);
            assert_eq!(ledger.window(&window), Audit::Holds);
            match step % 4 {
                0 => window.clear().unwrap(),
                1 => window.reconfigure(Duration::from_secs(1 + step), 4).unwrap(),
                2 => clock.set(Timestamp::from_secs(50 + step)), // back
                _ => clock.advance(Duration::from_secs(3)),
            }
            assert_eq!(ledger.window(&window), Audit::Holds, "{step}");
        }
    }
}

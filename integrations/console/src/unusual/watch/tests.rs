//! A watch that is fed by hand, second by second.

use super::*;

const HOUR: u64 = 3_600;

/// A series with the same operations each second.
#[derive(Default)]
struct Fed {
    watch: Watch,
    seen: Seen,
    /// The kinds of the changes that have begun, and the second.
    begun: Vec<(What, u64)>,
}

impl Fed {
    /// Feeds seconds of `all` operations, of which `failed` fail.
    fn feed(&mut self, seconds: u64, all: u64, failed: u64) {
        for _ in 0..seconds {
            self.seen.at += 1_000;
            self.seen.counts.all += all as u32;
            self.seen.counts.failed += failed as u32;
            let before: Vec<What> = self.kinds();
            self.watch.look(&self.seen);
            let new = self.kinds().into_iter().filter(|what| !before.contains(what));
            self.begun.extend(new.map(|what| (what, self.seen.at / 1_000)));
        }
    }

    /// Looks so rarely, at a hundred operations a second; of those between two looks some fail.
    fn poll(&mut self, looks: u64, apart: u64, failed: u64) {
        for _ in 0..looks {
            self.seen.at += (apart - 1) * 1_000;
            self.feed(1, 100 * apart, failed);
        }
    }

    fn kinds(&self) -> Vec<What> {
        self.watch.changes.on.iter().map(|change| change.what).collect()
    }
}

#[test]
fn a_series_that_always_failed_has_not_changed() {
    for (all, failed) in [(100, 100), (1_000, 999), (100, 60)] {
        let mut fed = Fed::default();
        fed.feed(3 * HOUR, all, failed);
        assert!(fed.watch.levels.is_ready());
        fed.feed(HOUR, all, all);
        assert_eq!(fed.begun, [], "{failed} of {all}");
    }
    // Less than half leaves room for a factor of two.
    let mut fed = Fed::default();
    fed.feed(3 * HOUR, 100, 40);
    fed.feed(60, 100, 100);
    assert_eq!(fed.kinds(), [What::Failing]);
}

#[test]
fn after_a_day_a_change_is_usual_and_does_not_begin_again() {
    for (all, failed, what) in [(100, 50, What::Failing), (10, 0, What::Quiet), (0, 0, What::Quiet)]
    {
        let mut fed = Fed::default();
        fed.feed(3 * HOUR, 100, 0);
        fed.feed(24 * HOUR - 60, all, failed);
        assert_eq!(fed.kinds(), [what], "a minute too soon");
        fed.feed(2 * HOUR, all, failed);
        assert_eq!(fed.kinds(), [], "{what:?} to {all}");
        let begun: Vec<What> = fed.begun.iter().map(|(what, _)| *what).collect();
        assert_eq!(begun, [what], "{:?}", fed.begun);
    }
}

#[test]
fn more_traffic_is_usual_after_an_hour() {
    let mut fed = Fed::default();
    fed.feed(3 * HOUR, 10, 0);
    fed.feed(4 * HOUR, 100, 0);
    assert_eq!(fed.kinds(), []);
    assert_eq!(fed.begun.len(), 1, "{:?}", fed.begun);
}

#[test]
fn failures_end_with_the_operations() {
    let mut fed = Fed::default();
    fed.feed(3 * HOUR, 100, 0);
    fed.feed(10, 100, 90);
    assert_eq!(fed.kinds(), [What::Failing]);
    fed.feed(300, 0, 0);
    assert_eq!(fed.kinds(), [What::Quiet]);
    let ended = fed.watch.changes.ended().unwrap();
    assert!(ended.abs_diff((3 * HOUR + 10) * 1_000) <= 90_000, "{ended}");
}

#[test]
fn failures_without_operations_are_a_share_of_one() {
    let mut fed = Fed::default();
    fed.feed(3 * HOUR, 100, 0);
    fed.feed(30, 0, 0);
    fed.feed(20, 0, 10);
    let failing = fed.watch.changes.on.iter().find(|change| change.what == What::Failing);
    assert!(failing.is_some_and(|change| change.to <= 1.0), "{failing:?}");
}

#[test]
fn looks_that_are_minutes_apart_teach_and_find_too() {
    let mut fed = Fed::default();
    fed.poll(60, 120, 0);
    assert!(fed.watch.levels.is_ready() && fed.begun.is_empty(), "{:?}", fed.begun);
    fed.poll(5, 120, 6_000);
    assert_eq!(fed.kinds(), [What::Failing]);
    // Without a look for long, nothing is known of the time in between.
    let mut fed = Fed::default();
    fed.poll(60, 3_600, 0);
    assert!(!fed.watch.levels.is_ready());
}

#[test]
fn minutes_end_at_different_seconds_whatever_the_number() {
    let phase = |number| Watch::new(number, Settings::default()).phase;
    assert_eq!(phase(u64::MAX), u64::MAX % 60 * 7_000 % 60_000);
    assert_eq!([0, 1, 9, 69].map(phase), [0, 7_000, 3_000, 3_000]);
}

//! The failures that an audit must find, and the states that it must not take for a loss.

use std::sync::atomic::{AtomicBool, Ordering};

use windrow::{Clock, SlidingWindow, clock, histogram::Scale};

use super::*;

/// Readings of ten adds: four have left, one came late, five are in the buckets.
const RIGHT: Readings = Readings {
    lifetime_first: 10,
    difference_first: 5,
    walk: 5,
    difference: 5,
    late: 1,
    lifetime: 10,
    of_one_interval: true,
};

/// Audits of artificial readings, at artificial times.
struct Audits {
    ledger: Ledger,
    begun: Instant,
}

impl Audits {
    fn new() -> Audits {
        Audits { ledger: Ledger::default(), begun: Instant::now() }
    }

    /// Audits readings that are taken at a second, of a window of four buckets.
    fn at(&mut self, second: u64, readings: Readings) -> Audit {
        self.of_geometry(second, readings, 4)
    }

    fn of_geometry(&mut self, second: u64, readings: Readings, buckets: usize) -> Audit {
        let at = Timestamp::from_secs(60 + second);
        let taken = Taken { by_event: vec![readings], at, geometry: (1, buckets) };
        let by = self.ledger.disagree(&taken.by_event);
        if by > 0 {
            return Audit::Fails { by };
        }
        self.ledger.compare(&taken, self.begun + Duration::from_secs(second))
    }
}

/// Returns the readings when the total lacks `lost`, of what the buckets have.
fn short_of(lost: u64) -> Readings {
    let lifetime = 10 - lost;
    Readings { lifetime_first: lifetime, lifetime, ..RIGHT }
}

#[test]
fn what_agrees_holds() {
    let mut audits = Audits::new();
    for second in 0..100 {
        assert_eq!(audits.at(second, RIGHT), Audit::Holds);
    }
    assert_eq!(RIGHT.left(), 4);
}

#[test]
fn adds_between_two_readings_are_no_loss() {
    let mut audits = Audits::new();
    for second in 0..100 {
        let more = 15 * second;
        let busy = Readings {
            lifetime_first: 10 + more,
            difference_first: 5 + more,
            walk: 8 + more,
            difference: 9 + more,
            lifetime: 15 + more,
            ..RIGHT
        };
        assert_eq!(audits.at(second, busy), Audit::Holds);
    }
}

#[test]
fn a_count_that_the_walk_lacks_is_a_loss() {
    assert_eq!(Audits::new().at(0, Readings { walk: 3, ..RIGHT }), Audit::Fails { by: 2 });
}

#[test]
fn a_count_that_the_walk_has_twice_is_noticed() {
    assert_eq!(Audits::new().at(0, Readings { walk: 6, ..RIGHT }), Audit::Fails { by: 1 });
}

#[test]
fn a_total_that_goes_back_is_noticed() {
    let mut audits = Audits::new();
    assert_eq!(audits.at(0, RIGHT), Audit::Holds);
    assert_eq!(audits.at(1, short_of(2)), Audit::Fails { by: 2 });
    assert_eq!(audits.at(2, short_of(2)), Audit::Fails { by: 2 });
}

#[test]
fn a_total_that_lacks_what_the_buckets_hold_is_a_loss_once_no_add_can_explain_it() {
    let mut audits = Audits::new();
    let moved = Readings { of_one_interval: false, walk: 12, ..RIGHT };
    assert_eq!(audits.at(0, moved), Audit::Holds, "nothing to compare with yet");
    for second in 1..=10 {
        assert_eq!(audits.at(second, moved), Audit::Pending, "{second}");
    }
    assert_eq!(audits.at(11, moved), Audit::Fails { by: 3 });
    assert_eq!(audits.at(12, moved), Audit::Fails { by: 3 });
}

#[test]
fn a_total_that_misses_an_add_is_a_loss_though_much_has_left() {
    let mut audits = Audits::new();
    assert_eq!(audits.at(0, RIGHT), Audit::Holds);
    assert_eq!(audits.at(1, RIGHT), Audit::Holds);
    // Three adds are in the buckets only.
    let lost = Readings { difference_first: 8, walk: 8, difference: 8, ..RIGHT };
    assert_eq!(audits.at(2, lost), Audit::Holds, "they may be in flight");
    for second in 3..=12 {
        assert_eq!(audits.at(second, lost), Audit::Pending, "{second}");
    }
    assert_eq!(audits.at(13, lost), Audit::Fails { by: 3 });
    // Their buckets leave: the total still lacks them.
    let gone = Readings { difference_first: 0, walk: 0, difference: 0, ..RIGHT };
    assert_eq!(audits.at(14, gone), Audit::Fails { by: 3 });
}

#[test]
fn an_add_whose_thread_is_preempted_is_no_loss_while_it_waits_nor_when_it_has_ended() {
    let mut audits = Audits::new();
    assert_eq!(audits.at(0, RIGHT), Audit::Holds);
    assert_eq!(audits.at(1, RIGHT), Audit::Holds);
    // The bucket has three more; then its thread is preempted, before the total has them.
    let stalled = Readings { difference_first: 8, walk: 8, difference: 8, ..RIGHT };
    for second in 2..=9 {
        let audit = audits.at(second, stalled);
        assert!(matches!(audit, Audit::Holds | Audit::Pending), "{second}: {audit:?}");
    }
    // Also in consecutive readings, without time in between.
    for _ in 0..100 {
        assert_eq!(audits.at(9, stalled), Audit::Pending);
    }
    let ended = Readings { lifetime_first: 13, lifetime: 13, ..stalled };
    for second in 10..40 {
        assert_eq!(audits.at(second, ended), Audit::Holds, "{second}");
    }
    let gone = Readings { difference_first: 0, walk: 0, difference: 0, ..ended };
    for second in 40..80 {
        assert_eq!(audits.at(second, gone), Audit::Holds, "{second}");
    }
}

#[test]
fn threads_of_which_one_is_always_preempted_lose_nothing() {
    // A hundred threads add without a pause, and some of them always wait in the middle of an add:
    // between three and nine counts are missing from the total, others at each audit.
    let mut audits = Audits::new();
    for second in 0..1_000_u64 {
        let begun = 1_000 * second;
        let lifetime = begun.saturating_sub(3 + second * 7 % 13 % 7);
        let young = Readings {
            lifetime_first: lifetime,
            difference_first: begun,
            walk: begun,
            difference: begun,
            late: 0,
            lifetime,
            of_one_interval: true,
        };
        assert_eq!(audits.at(second, young), Audit::Holds, "{second}");
    }
}

#[test]
fn a_process_that_was_stopped_is_not_sure_at_once() {
    let mut audits = Audits::new();
    let stalled = Readings { difference_first: 8, walk: 8, difference: 8, ..RIGHT };
    assert_eq!(audits.at(0, RIGHT), Audit::Holds);
    assert_eq!(audits.at(1, RIGHT), Audit::Holds);
    assert_eq!(audits.at(2, stalled), Audit::Holds);
    assert_eq!(audits.at(3, stalled), Audit::Pending);
    assert_eq!(audits.at(3_600, stalled), Audit::Pending);
}

#[test]
fn a_geometry_that_changes_and_a_clock_that_goes_back_bring_counts_back() {
    let all = Readings { difference_first: 9, walk: 9, difference: 9, ..RIGHT };
    let mut audits = Audits::new();
    for second in 0..100 {
        let audit = audits.of_geometry(second, if second % 7 < 3 { RIGHT } else { all }, {
            if second % 7 < 3 { 4 } else { 40 }
        });
        assert_eq!(audit, Audit::Holds, "{second}");
    }
    // The clock goes back by 50 s: the adds of these are ahead of it, until it reaches that time
    // again.
    let mut audits = Audits::new();
    assert_eq!(audits.at(50, all), Audit::Holds);
    assert_eq!(audits.at(51, all), Audit::Holds);
    for second in (0..100).map(|second| if second < 52 { second } else { second + 4 }) {
        let readings = if second < 50 { RIGHT } else { all };
        let taken = Taken {
            by_event: vec![readings],
            at: Timestamp::from_secs(60 + second),
            geometry: (1, 4),
        };
        let audit = audits.ledger.compare(&taken, audits.begun + Duration::from_secs(60 + second));
        assert_eq!(audit, Audit::Holds, "{second}");
    }
}

#[test]
fn a_counter_that_goes_back_is_noticed() {
    let mut ledger = Ledger::default();
    assert_eq!(ledger.only_grows(5), Audit::Holds);
    assert_eq!(ledger.only_grows(5), Audit::Holds);
    assert_eq!(ledger.only_grows(3), Audit::Fails { by: 2 });
}

windrow::events! { enum Seen { Passed: Count, Level: Signed, Took: Value, Most: Maximum, Size: Histogram(Scale::fixed::<0, 1, 16>()) } }

#[test]
fn nothing_disagrees_while_threads_count_and_buckets_come_and_go() {
    // Buckets so short that most audits see some begin, and of audits in a row some see none.
    let builder = SlidingWindow::<Seen>::builder().interval(Duration::from_millis(50));
    let window = builder.buckets(50).clock(clock::Precise::default()).build().unwrap();
    let done = AtomicBool::new(false);
    let mut ledger = Ledger::default();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    window.add(Seen::Passed, 1);
                    window.record(Seen::Took, 5);
                    window.record(Seen::Size, 5);
                    let older = window.clock().now() - Duration::from_millis(20);
                    let _ = window.add_at(older, Seen::Passed, 3);
                }
            });
        }
        let audits: Vec<Audit> = (0..5_000).map(|_| ledger.window(&window)).collect();
        done.store(true, Ordering::Relaxed);
        // A thread that is preempted for a second in the middle of an add is no loss either.
        let well = |audit: &Audit| matches!(audit, Audit::Holds | Audit::Pending);
        assert!(audits.iter().all(well), "{ledger:?}");
    });
}

#[test]
fn a_change_of_geometry_and_a_cleared_interval_are_no_loss() {
    let clock = clock::Manual::default();
    clock.set(Timestamp::from_secs(60));
    let builder = SlidingWindow::<Seen>::builder().buckets(4).clock(clock.clone());
    let window = builder.build().unwrap();
    let (mut ledger, begun, mut second) = (Ledger::default(), Instant::now(), 0);
    let mut audit = || {
        let taken = Taken::of(&window).unwrap();
        assert_eq!(ledger.disagree(&taken.by_event), 0);
        second += 1;
        ledger.compare(&taken, begun + Duration::from_secs(second))
    };
    for step in 0..20_u64 {
        window.add(Seen::Passed, step);
        assert_eq!(audit(), Audit::Holds);
        match step % 4 {
            0 => window.clear().unwrap(),
            1 => window.reconfigure(Duration::from_secs(1 + step), 4).unwrap(),
            2 => clock.set(Timestamp::from_secs(50 + step)), // back
            _ => clock.advance(Duration::from_secs(3)),
        }
        assert_eq!(audit(), Audit::Holds, "{step}");
    }
}

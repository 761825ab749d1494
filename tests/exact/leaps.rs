//! Clocks that leap: what one reading far ahead does to a window, and what takes it back.

use testkit::{at_ns, is_empty, ns, window};
use windrow::clock::Manual;
use windrow::{SlidingWindow, events, snapshot::OutOfRangeError};

events! {
    enum Seen { Pass: Count, Rt: Value }
}

type Window = SlidingWindow<Seen, Manual>;

const FAR: u64 = 1_000_000_000;

/// Returns a clock at 1005, and a window of four buckets of 10 ns on it.
fn four() -> (Window, Manual) {
    let clock = Manual::default();
    clock.set(at_ns(1_005));
    (window(ns(10), 4, &clock), clock)
}

fn add(window: &Window, clock: &Manual, at: u64, n: u64) {
    clock.set(at_ns(at));
    window.add(Seen::Pass, n);
}

/// Returns the starts and the sums of the drained buckets.
fn drained(window: &Window) -> Vec<(u64, u64)> {
    let mut log = Vec::new();
    for _ in 0..50 {
        window.drain_closed(|bucket| {
            log.push((bucket.start().as_nanos(), bucket.sum(Seen::Pass)));
        });
    }
    log
}

#[test]
fn clear_begins_anew_at_the_clocks_now_after_a_reading_far_ahead() {
    let (window, clock) = four();
    add(&window, &clock, 1_005, 1);
    add(&window, &clock, FAR, 2);
    add(&window, &clock, 1_015, 4);
    assert_eq!(window.late(Seen::Pass).sum, 4);
    window.clear().expect("there is memory");
    add(&window, &clock, 1_015, 8);
    add(&window, &clock, 1_025, 16);
    assert_eq!((window.sum(Seen::Pass), window.late(Seen::Pass).sum), (24, 4));
    window.add_at(at_ns(1_013), Seen::Pass, 32).expect("in the ring");
    add(&window, &clock, 1_035, 64);
    assert_eq!((window.sum(Seen::Pass), window.lifetime(Seen::Pass).sum), (120, 127));
    let (after, starts): (Vec<_>, Vec<_>) =
        drained(&window).into_iter().map(|(s, n)| (n, s)).unzip();
    assert_eq!((after, starts), (vec![40, 16], vec![1_010, 1_020]));
}

#[test]
fn clear_begins_at_the_clocks_now_wherever_that_is() {
    for now in [0, 5, 975, 985, 1_000, 1_015, 1_045, 2_000] {
        let (window, clock) = four();
        add(&window, &clock, 1_005, 1);
        clock.set(at_ns(now));
        window.clear().expect("there is memory");
        assert!(is_empty(&window.snapshot()));
        window.add(Seen::Pass, 2);
        let newest = window.snapshot().buckets().last().expect("the newest").clone();
        assert_eq!((newest.start().as_nanos(), newest.sum(Seen::Pass)), (now / 10 * 10, 2));
        assert_eq!((newest.is_closed(), window.late(Seen::Pass).sum), (false, 0), "at {now}");
        add(&window, &clock, now + 10, 4);
        assert_eq!((window.sum(Seen::Pass), drained(&window)), (6, vec![(now / 10 * 10, 2)]));
    }
}

/// With a tier, the ring stays where it is if the clock's time is in it and in an earlier bucket of
/// the tier. Adds of that time count all the same.
#[test]
fn clear_takes_no_ring_back_past_a_tiers_boundary_unless_it_must() {
    // The length of the tier's buckets, the time of the clear, and the newest bucket afterwards.
    let cases = [
        (None, 1_035, 1_030),
        (Some(20), 1_055, 1_050),
        (Some(20), 1_045, 1_040), // in the same bucket of the tier
        (Some(20), 1_035, 1_050), // in an earlier one, and in the ring
        (Some(40), 1_045, 1_040),
        (Some(40), 1_025, 1_050),
        (Some(20), 1_005, 1_000), // out of the ring
        (Some(20), 1_085, 1_080),
    ];
    for (tier, now, newest) in cases {
        let clock = Manual::default();
        clock.set(at_ns(1_005));
        let builder = SlidingWindow::<Seen>::builder().interval(ns(40)).buckets(4);
        let builder = if let Some(length) = tier { builder.tier(ns(length), 50) } else { builder };
        let window = builder.clock(clock.clone()).build().expect("valid");
        add(&window, &clock, 1_055, 1);
        clock.set(at_ns(now));
        window.clear().expect("there is memory");
        add(&window, &clock, now, 2);
        assert_eq!((window.sum(Seen::Pass), window.late(Seen::Pass).sum), (2, 0), "at {now}");
        for (start, is_counted) in [(newest - 30, true), (newest - 40, false)] {
            let counted = window.add_at(at_ns(start + 9), Seen::Pass, 4);
            assert_eq!(counted.is_ok(), is_counted, "{start} of {newest}");
        }
        assert_eq!(window.lifetime(Seen::Pass).sum, 7);
        add(&window, &clock, newest + 10, 8);
        assert_eq!(window.late(Seen::Pass).sum, 0, "at {now}");
    }
}

/// A tier keeps earlier adds, except those ahead of the clock.
#[test]
fn tiers_count_on_after_a_reading_far_ahead_is_cleared() {
    let clock = Manual::default();
    clock.set(at_ns(1_005));
    let builder = SlidingWindow::<Seen>::builder().interval(ns(40)).buckets(4).tier(ns(20), 50);
    let window = builder.tier(ns(200), 50).clock(clock.clone()).build().expect("tiers that nest");
    let last = |nanos| window.over(ns(nanos)).expect("no longer than a tier").stats(Seen::Rt);
    for at in (1_005..1_200).step_by(10) {
        clock.set(at_ns(at));
        window.record(Seen::Rt, at);
    }
    for far in [FAR, FAR + 10, FAR + 200, FAR + 220] {
        clock.set(at_ns(far));
        window.record(Seen::Rt, far);
    }
    clock.set(at_ns(1_205));
    window.clear().expect("there is memory");
    let mut sum = 0;
    for at in (1_205..2_000).step_by(5) {
        clock.set(at_ns(at));
        window.record(Seen::Rt, at);
        sum += at;
        for nanos in [1_000, 10_000] {
            let stats = last(nanos);
            assert_eq!((stats.sum, stats.min, stats.max), (sum, Some(1_205), Some(at)), "at {at}");
        }
    }
    // When the clock really reaches that time, the adds from before are not back.
    clock.set(at_ns(FAR + 205));
    window.record(Seen::Rt, 7);
    let stats = last(1_000);
    assert_eq!((stats.count, stats.sum, stats.max), (1, 7, Some(7)));
}

/// Four buckets of 10 ns from 1000 on, which follow a lead of at most `lead` ns.
fn led(lead: u64, clock: &Manual) -> Window {
    clock.set(at_ns(1_005));
    let builder = SlidingWindow::<Seen>::builder().interval(ns(40)).buckets(4).max_lead(ns(lead));
    builder.tier(ns(20), 50).clock(clock.clone()).build().expect("valid")
}

#[test]
fn an_add_beyond_the_lead_is_late_and_the_window_counts_on() {
    let clock = Manual::default();
    let window = led(100, &clock);
    add(&window, &clock, 1_005, 1);
    for far in [1_110, 2_000, FAR, u64::MAX] {
        let late = window.late(Seen::Pass).sum;
        add(&window, &clock, far, 2);
        window.record(Seen::Rt, far);
        let refused =
            OutOfRangeError::BeyondLead { at: at_ns(far), newest: at_ns(1_000), max_lead: ns(100) };
        assert_eq!(window.add_at(at_ns(far), Seen::Pass, 4), Err(refused.clone()));
        assert_eq!(
            refused.to_string(),
            format!(
                "the timestamp {far} ns leads the newest bucket, at 1000 ns, by more than 100ns"
            )
        );
        assert_eq!((window.sum(Seen::Pass), window.late(Seen::Pass).sum), (0, late + 2));
        assert_eq!(window.stats(Seen::Rt).max, None);
    }
    assert_eq!((window.late(Seen::Rt).count, window.late(Seen::Rt).max), (4, Some(u64::MAX)));
    add(&window, &clock, 1_015, 8);
    add(&window, &clock, 1_024, 16);
    assert_eq!((window.sum(Seen::Pass), window.late(Seen::Pass).sum), (25, 8));
    let over = window.over(ns(1_000)).expect("no longer than the tier");
    assert_eq!((over.sum(Seen::Pass), over.stats(Seen::Rt).count), (25, 0));
    assert_eq!(window.lifetime(Seen::Pass).sum, 33);
    assert_eq!(drained(&window), [(1_000, 1), (1_010, 8)]);
}

/// From start to start; and never less than to the next bucket.
#[test]
fn the_lead_is_from_the_newest_bucket_to_the_one_of_the_add() {
    for (lead, last) in [(0, 1_019), (9, 1_019), (10, 1_019), (20, 1_029), (25, 1_029), (30, 1_039)]
    {
        let clock = Manual::default();
        for (at, is_late) in [(last, 0), (last + 1, 1)] {
            let window = led(lead, &clock);
            add(&window, &clock, at, 1);
            assert_eq!(window.late(Seen::Pass).sum, is_late, "{at} with a lead of {lead}");
        }
    }
}

/// `clear` admits times that a lead keeps out; and a window that is closed regularly keeps up with
/// its clock.
#[test]
fn a_window_that_was_long_idle_is_cleared_or_closed() {
    let clock = Manual::default();
    let window = led(100, &clock);
    add(&window, &clock, 5_000, 1);
    assert_eq!(window.late(Seen::Pass).sum, 1);
    window.close_past();
    assert_eq!(window.snapshot().totals().at(), at_ns(5_000));
    add(&window, &clock, 5_000, 1);
    assert_eq!(window.late(Seen::Pass).sum, 2, "a close must not follow where an add does not");
    window.clear().expect("there is memory");
    add(&window, &clock, 5_000, 1);
    assert_eq!((window.late(Seen::Pass).sum, window.sum(Seen::Pass)), (2, 1));
    for at in (5_000..9_000).step_by(100) {
        clock.set(at_ns(at));
        window.close_past();
    }
    add(&window, &clock, 9_000, 1);
    assert_eq!((window.late(Seen::Pass).sum, window.sum(Seen::Pass)), (2, 1));
}

#[test]
fn without_a_lead_a_window_follows_its_clock() {
    let (window, clock) = four();
    add(&window, &clock, u64::MAX, 1);
    assert_eq!((window.late(Seen::Pass).sum, window.sum(Seen::Pass)), (0, 1));
}

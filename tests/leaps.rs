//! Clocks that leap: what one reading far ahead does to a window, and what takes it back.

use testkit::{at_ns, ns, window};
use windrow::clock::Manual;
use windrow::{SlidingWindow, events};

events! {
    enum Seen { Pass: Count, Rt: Value }
}

type Window = SlidingWindow<Seen, Manual>;

const FAR: u64 = 1_000_000_000;

/// A clock at 1005, and a window of four buckets of 10 ns on it.
fn four() -> (Window, Manual) {
    let clock = Manual::default();
    clock.set(at_ns(1_005));
    (window(ns(10), 4, &clock), clock)
}

fn add(window: &Window, clock: &Manual, at: u64, n: u64) {
    clock.set(at_ns(at));
    window.add(Seen::Pass, n);
}

/// Starts and sums of what is handed out.
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
        assert!(window.snapshot().is_empty());
        window.add(Seen::Pass, 2);
        let newest = window.snapshot().buckets().last().expect("the newest").clone();
        assert_eq!((newest.start().as_nanos(), newest.sum(Seen::Pass)), (now / 10 * 10, 2));
        assert_eq!((newest.is_closed(), window.late(Seen::Pass).sum), (false, 0), "at {now}");
        add(&window, &clock, now + 10, 4);
        assert_eq!((window.sum(Seen::Pass), drained(&window)), (6, vec![(now / 10 * 10, 2)]));
    }
}

/// A tier has what was added before, but for what lies ahead of the clock.
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
    // When the clock is there in earnest, what was added there before is not there again.
    clock.set(at_ns(FAR + 205));
    window.record(Seen::Rt, 7);
    let stats = last(1_000);
    assert_eq!((stats.count, stats.sum, stats.max), (1, 7, Some(7)));
}

//! The promises of a drain at the edges: late adds, the buckets that have turns, and the rest.

use std::collections::BTreeMap;

use testkit::{Rng, at_ns, is_empty, ms, ns, window};
use windrow::clock::Manual;
use windrow::{SlidingWindow, events};

events! {
    enum Seen { Pass: Count, Rt: Value }
}

type Window = SlidingWindow<Seen, Manual>;

/// Returns a clock, and a window of four buckets of 10 ns on it, which begins at 1000; with a tier
/// or without.
fn four(has_tier: bool) -> (Window, Manual) {
    let clock = Manual::default();
    clock.set(at_ns(1_000));
    let builder = SlidingWindow::<Seen>::builder().interval(ns(40)).buckets(4).clock(clock.clone());
    let builder = if has_tier { builder.tier(ns(20), 50) } else { builder };
    (builder.build().expect("a tier that fits"), clock)
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

/// An add whose bucket has left the ring is late, whether or not a tier reaches back to it.
#[test]
fn late_is_late_with_a_tier_and_without() {
    for has_tier in [false, true] {
        let (window, clock) = four(has_tier);
        add(&window, &clock, 1_000, 1);
        add(&window, &clock, 1_055, 2);
        add(&window, &clock, 1_005, 4);
        window.record(Seen::Rt, 7);
        assert_eq!(window.late(Seen::Pass).sum, 4, "with a tier: {has_tier}");
        let rt = window.late(Seen::Rt);
        assert_eq!((rt.count, rt.sum, rt.min, rt.max), (1, 7, Some(7), Some(7)));
        assert_eq!((window.lifetime(Seen::Pass).sum, window.lifetime(Seen::Rt).count), (7, 1));
        clock.set(at_ns(1_055));
        if has_tier {
            let over = window.over(ns(1_000)).expect("no longer than the tier");
            assert_eq!((over.sum(Seen::Pass), over.stats(Seen::Rt).max), (7, Some(7)));
        }
        // 1 has left the ring before any drain, 2 is in the newest bucket, 4 is late.
        assert_eq!(drained(&window), []);
    }
}

/// The bucket that a window was built in, or was closed or changed or cleared into, if nothing was
/// added to it.
#[test]
fn a_bucket_without_an_add_has_no_turn() {
    let clock = Manual::default();
    let built = window::<Seen>(ms(500), 2, &clock);
    clock.set(testkit::at(600));
    built.add(Seen::Pass, 1);
    assert_eq!(drained(&built), []);

    let (window, clock) = four(false);
    add(&window, &clock, 1_000, 1);
    clock.set(at_ns(1_010));
    window.close_past();
    add(&window, &clock, 1_020, 2);
    assert_eq!(drained(&window), [(1_000, 1)]);
    window.reconfigure(ns(80), 8).expect("valid");
    add(&window, &clock, 1_030, 4);
    assert_eq!(drained(&window), [(1_020, 2)], "the bucket at 1020 got no add since");
    window.clear().expect("there is memory");
    add(&window, &clock, 1_040, 8);
    assert_eq!(drained(&window), []);
    window.record(Seen::Rt, 0);
    add(&window, &clock, 1_050, 16);
    assert_eq!(drained(&window), [(1_040, 8)]);
    clock.set(at_ns(1_060));
    window.record(Seen::Rt, 0);
    add(&window, &clock, 1_070, 32);
    assert_eq!(drained(&window), [(1_050, 16), (1_060, 0)], "a record of zero is one");
    // Not yet passed, so it can have a turn still.
    window.close_past();
    clock.set(at_ns(1_080));
    window.close_past();
    add(&window, &clock, 1_090, 64);
    assert_eq!(drained(&window), [(1_070, 32)]);
    window.add_at(at_ns(1_080), Seen::Pass, 128).expect("in the ring");
    assert_eq!(drained(&window), [(1_080, 128)]);
}

/// Also through changes of geometry before and after.
#[test]
fn no_start_has_a_second_turn_after_a_clear() {
    for changes in 0..4 {
        let (window, clock) = four(false);
        for at in [1_000, 1_010, 1_020] {
            add(&window, &clock, at, 1);
        }
        assert_eq!(drained(&window), [(1_000, 1), (1_010, 1)]);
        window.clear().expect("there is memory");
        if changes == 1 {
            window.clear().expect("there is memory");
        }
        for (at, n) in [(1_000, 2), (1_013, 4), (1_020, 8)] {
            window.add_at(at_ns(at), Seen::Pass, n).expect("in the ring");
        }
        add(&window, &clock, 1_030, 16);
        for _ in 1..changes {
            window.reconfigure(ns(10 * (10 + changes)), 10 + changes as usize).expect("valid");
            window.reconfigure(ns(40), 4).expect("valid");
        }
        add(&window, &clock, 1_045, 32);
        let handed = drained(&window);
        let sum: u64 = handed.iter().map(|(_, sum)| sum).sum();
        assert_eq!(sum, 24, "{changes} changes: {handed:?}");
        assert!(handed.is_sorted() && handed[0].0 >= 1_020, "{handed:?}");
        // 1 of 1020 was forgotten; 6 were back-dated after their turn; 32 are in the newest bucket.
        assert_eq!(window.lifetime(Seen::Pass).sum, 3 + 62);
    }
}

/// A geometry that comes and goes between the turn and the clear does not bring it back.
#[test]
fn no_start_has_a_second_turn_after_changes_and_a_clear() {
    for changes in 1..4 {
        let (window, clock) = four(false);
        for at in [1_000, 1_010, 1_020] {
            add(&window, &clock, at, 1);
        }
        assert_eq!(drained(&window), [(1_000, 1), (1_010, 1)]);
        for change in 0..changes {
            let buckets = [8, 6, 4][change % 3];
            window.reconfigure(ns(10 * buckets), buckets as usize).expect("valid");
        }
        window.clear().expect("there is memory");
        for at in [1_000, 1_010, 1_020] {
            window.add_at(at_ns(at), Seen::Pass, 2).expect("in the ring");
        }
        add(&window, &clock, 1_030, 4);
        assert_eq!(drained(&window), [(1_020, 2)], "behind {changes} changes");
    }
}

/// A window that has gone back hands out its counts from there on.
#[test]
fn a_clear_that_goes_back_begins_the_log_anew() {
    let (window, clock) = four(false);
    for at in [1_000, 1_010, 5_000, 5_010, 5_020] {
        add(&window, &clock, at, 1);
    }
    assert_eq!(drained(&window), [(5_000, 1), (5_010, 1)]);
    clock.set(at_ns(1_020));
    window.clear().expect("there is memory");
    window.add_at(at_ns(1_010), Seen::Pass, 2).expect("in the ring");
    for at in [1_020, 1_030, 1_040] {
        add(&window, &clock, at, 4);
    }
    assert_eq!(drained(&window), [(1_020, 4), (1_030, 4)]);
}

/// Random histories: leaps, steps back, back-dated adds, closes, clears and drains, with a tier and
/// without, with a lead and without; beside a map that is kept by the words of the promise alone.
#[test]
#[allow(clippy::too_many_lines, reason = "a model of all that a window does, in one place")]
fn a_log_adds_up_through_leaps_and_clears() {
    for seed in 0..400 {
        let mut random = Rng::with_seed(seed);
        let clock = Manual::default();
        clock.set(at_ns(1_000));
        let max_lead = (seed % 3 == 0).then(|| 10 * random.u64(1..30));
        let mut builder = SlidingWindow::<Seen>::builder().interval(ns(40)).buckets(4);
        if seed % 2 == 0 {
            builder = builder.tier(ns(20), 50);
        }
        if let Some(lead) = max_lead {
            builder = builder.max_lead(ns(lead));
        }
        let window = builder.clock(clock.clone()).build().expect("valid");
        // The newest bucket; what each holds, and of that, what had its turn, or lost it.
        let (mut newest, mut ring) = (1_000, BTreeMap::<u64, u64>::new());
        let (mut all, mut late, mut gone, mut handed) = (0, 0, 0, 0);
        // The first start that may have a turn; and the sum back-dated after its turn.
        let (mut turns, mut left) = (0, 0);
        let mut now: u64 = 1_000;
        let in_ring = |start: u64, newest: u64| start + 40 > newest;
        for step in 0..300 {
            now = match random.u32(0..40) {
                0 => now + 100_000 * random.u64(1..3),
                1 if now > 200_000 => now - 100_000,
                2 | 3 => now.saturating_sub(random.u64(0..60)),
                _ => now + random.u64(0..12),
            };
            clock.set(at_ns(now));
            let of_now = now - now % 10;
            let follows =
                |newest: u64| of_now.saturating_sub(newest) <= max_lead.unwrap_or(u64::MAX).max(10);
            let moved_to = |newest: u64, ring: &mut BTreeMap<u64, u64>, gone: &mut u64| {
                let kept = ring.split_off(&(newest.saturating_sub(30)));
                *gone += ring.values().sum::<u64>();
                *ring = kept;
            };
            match random.u32(0..24) {
                0 => {
                    window.clear().expect("there is memory");
                    let goes_back = of_now < newest;
                    let stays = goes_back
                        && seed % 2 == 0
                        && of_now / 20 != newest / 20
                        && in_ring(of_now, newest);
                    if !stays {
                        newest = of_now;
                    }
                    if turns > newest {
                        turns = newest;
                    }
                    gone += std::mem::take(&mut ring).values().sum::<u64>();
                }
                1 | 2 => {
                    window.close_past();
                    let is_due = ring.contains_key(&newest) || max_lead.is_some();
                    // Drained buckets are still present.
                    let holds = is_empty(&window.snapshot()) || is_due;
                    if of_now > newest && follows(newest) && holds && is_due {
                        newest = of_now;
                        moved_to(newest, &mut ring, &mut gone);
                    }
                }
                3..=6 => {
                    let mut due: Vec<(u64, u64)> = Vec::new();
                    for _ in 0..30 {
                        window.drain_closed(|bucket| {
                            due.push((bucket.start().as_nanos(), bucket.sum(Seen::Pass)));
                        });
                    }
                    let newer = ring.split_off(&newest);
                    let expected: Vec<(u64, u64)> =
                        std::mem::replace(&mut ring, newer).into_iter().collect();
                    assert_eq!(due, expected, "seed {seed}, step {step}");
                    if let Some((last, _)) = due.last() {
                        turns = last + 10;
                    }
                    handed += due.iter().map(|(_, sum)| sum).sum::<u64>();
                }
                kind => {
                    let n = random.u64(1..1_000);
                    let at = if kind < 12 { now.saturating_sub(random.u64(0..60)) } else { now };
                    let start = at - at % 10;
                    let is_in = start > newest
                        && (start == of_now && follows(newest) || start < of_now)
                        || start <= newest && in_ring(start, newest);
                    if kind < 12 {
                        let leads =
                            start > newest && start - newest > max_lead.unwrap_or(u64::MAX).max(10);
                        let counts = in_ring(start, newest.max(of_now)) && !leads;
                        let answer = window.add_at(at_ns(at), Seen::Pass, n);
                        assert_eq!(answer.is_ok(), counts, "seed {seed}, step {step}: {answer:?}");
                        if !counts {
                            continue;
                        }
                    } else {
                        window.add(Seen::Pass, n);
                        if !is_in {
                            all += n;
                            late += n;
                            continue;
                        }
                    }
                    all += n;
                    if start > newest {
                        newest = start;
                        moved_to(newest, &mut ring, &mut gone);
                    }
                    if start >= turns { *ring.entry(start).or_default() += n } else { left += n }
                }
            }
            assert_eq!(window.late(Seen::Pass).sum, late, "seed {seed}, step {step}");
            assert_eq!(window.lifetime(Seen::Pass).sum, all, "seed {seed}, step {step}");
            let held: u64 = ring.values().sum();
            assert_eq!(all - handed, held + late + gone + left, "seed {seed}, step {step}");
        }
    }
}

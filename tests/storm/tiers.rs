//! Tiers under writers: while buckets of 100 µs come and go, each tier holds everything.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use testkit::alone;
use windrow::clock::Precise;
use windrow::{SlidingWindow, Stats};

use crate::Seen;

const WRITERS: u64 = 3;

#[test]
fn tiers_hold_everything() {
    for strategy in ["", "portable"] {
        alone::run("tiers::under_writers", &[("WINDROW_STRATEGY", strategy)]);
    }
}

/// What the writers have begun to add, and what they have added.
#[derive(Default)]
struct Books {
    begun: AtomicU64,
    done: AtomicU64,
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn under_writers() {
    let window = SlidingWindow::<Seen>::builder()
        .interval(Duration::from_millis(2))
        .buckets(20)
        .tier(Duration::from_millis(1), 5_000)
        .tier(Duration::from_millis(50), 200)
        .clock(Precise::default())
        .build()
        .expect("the tiers nest");
    let (books, is_over) = (Books::default(), AtomicBool::new(false));
    let (window, books, is_over) = (&window, &books, &is_over);
    let write = |writer: u64| {
        let mut n = 0;
        while !is_over.load(Ordering::Relaxed) {
            books.begun.fetch_add(1, Ordering::SeqCst);
            window.add(Seen::Pass, 1);
            window.record(Seen::Rt, 10 + (n * WRITERS + writer) % 90);
            books.done.fetch_add(1, Ordering::SeqCst);
            n += 1;
            if n % 512 == 0 {
                thread::sleep(Duration::from_micros(150)); // so that buckets are skipped, too
            }
        }
    };
    let check = |tier: usize| {
        let least = books.done.load(Ordering::SeqCst);
        let lifetime = window.lifetime(Seen::Pass).sum;
        let series = window.series(tier).expect("the clock does not step back");
        let most = books.begun.load(Ordering::SeqCst);
        let (pass, rt) = (series.sum(Seen::Pass), series.stats(Seen::Rt));
        assert!((least..=most).contains(&pass), "tier {tier}: {pass}, not {least} to {most}");
        assert!(pass >= lifetime, "tier {tier}: {pass} after {lifetime} in all");
        assert!((least..=most).contains(&rt.count), "tier {tier}: {rt:?}, not {least} to {most}");
        assert!(rt.sum >= 10 * rt.count && rt.min >= Some(10) && rt.max <= Some(99), "{rt:?}");
        1
    };
    let checks: u64 = thread::scope(|scope| {
        (0..WRITERS).for_each(|writer| _ = scope.spawn(move || write(writer)));
        while books.done.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
        }
        let read = |tier| {
            let begin = Instant::now();
            let mut checks = 0;
            while begin.elapsed() < Duration::from_secs(1) {
                checks += check(tier);
            }
            checks
        };
        let readers = [0, 1].map(|tier| scope.spawn(move || read(tier)));
        let checks = readers.map(thread::ScopedJoinHandle::join);
        is_over.store(true, Ordering::Relaxed);
        checks.map(|checks| checks.expect("each tier holds everything")).iter().sum()
    });
    println!("{checks} checks of {} adds", books.done.load(Ordering::SeqCst));
    for tier in [0, 1] {
        let series = window.series(tier).expect("the clock does not step back");
        let lifetime = (window.lifetime(Seen::Pass), window.lifetime(Seen::Rt));
        assert_eq!((series.stats(Seen::Pass), series.stats(Seen::Rt)), lifetime, "tier {tier}");
        assert_eq!(series.stats(Seen::Still), Stats::default());
    }
}

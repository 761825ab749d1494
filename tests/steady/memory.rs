//! What a window keeps allocated.

use windrow::clock::Manual;
use windrow::{Counter, SlidingWindow};

use crate::counting::own_bytes;
use testkit::alone::in_each_strategy;

use crate::Http;
use testkit::{ns, window};

const LENGTH: u64 = 10;

/// What a window of so many buckets keeps allocated, once it has gone round its ring a few times.
fn live_bytes_of(buckets: u32) -> i64 {
    let clock = Manual::default();
    let before = own_bytes();
    let window = window::<Http>(ns(LENGTH), buckets, &clock);
    for _ in 0..3 * buckets + 100 {
        clock.advance(ns(LENGTH));
        window.add(Http::Pass, 1);
        window.record(Http::Rt, 5);
    }
    let after = own_bytes();
    drop(window);
    after - before
}

/// Cells of a bucket: one for each of four `Count` events, four for a `Value`.
const CELLS: i64 = 8;

/// The formula of `docs/design.md`, without the window itself and its cells in rows.
fn formula(buckets: i64) -> i64 {
    let slots = 8 * buckets;
    let groups = buckets / buckets.isqrt() + i64::from(buckets % buckets.isqrt() != 0);
    let touched = 24 + 8 * groups;
    let in_slab = (buckets + 5) * (80 + 16 * CELLS);
    let blocks = 4 * (64 + 8 * CELLS);
    slots + touched + in_slab + blocks + 24 * CELLS + 200 + 64
}

#[test]
fn sixty_buckets_of_five_events_take_16_kilobytes_at_most() {
    in_each_strategy("memory::table");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn table() {
    live_bytes_of(2); // what the process and the thread allocate once
    println!("{:?}", windrow::strategy());
    for buckets in [2, 60, 600] {
        let heap = live_bytes_of(buckets);
        let in_place = size_of::<SlidingWindow<Http, Manual>>().cast_signed() as i64;
        // Per core a `Value` has a pending value in each row besides.
        let columns = CELLS + i64::from(windrow::strategy() == windrow::Strategy::PerCore);
        let rows = |cpus: i64| 4 * 8 * columns * cpus;
        println!(
            "{buckets:4} buckets: {heap:7} bytes on the heap, {in_place} in place, in rows {} on 2 CPUs",
            rows(2)
        );
        if cfg!(target_pointer_width = "64") {
            assert_eq!(heap, formula(buckets.into()), "{buckets} buckets");
        }
        if buckets == 60 {
            let all = heap + in_place + rows(2);
            assert!(all <= 16 << 10, "{all} bytes for 60 buckets on 2 CPUs");
        }
    }
}

/// What a tier of so many buckets of ten adds to that.
fn tier_formula(buckets: usize) -> i64 {
    let buckets = buckets.cast_signed() as i64;
    let groups = buckets / buckets.isqrt() + i64::from(buckets % buckets.isqrt() != 0);
    8 * buckets + 8 * groups + (buckets + 2) * (80 + 16 * CELLS) + TIER
}

/// The tier itself.
const TIER: i64 = 88;

/// When the first coarse bucket is opened, eight others are made besides, and what holds them all.
const SLAB: i64 = 8 * (80 + 16 * CELLS) + 40;

#[test]
fn tiers_take_what_the_formula_says() {
    in_each_strategy("memory::tiers");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn tiers() {
    live_bytes_of(2); // as above
    for (coarse, coarsest) in [(1, 2), (60, 60), (96, 400)] {
        let clock = Manual::default();
        let before = own_bytes();
        let window = SlidingWindow::<Http>::builder()
            .interval(ns(10 * LENGTH))
            .buckets(10)
            .tier(ns(10 * LENGTH), coarse)
            .tier(ns(10 * LENGTH), coarsest)
            .clock(clock.clone())
            .build()
            .expect("the tiers nest");
        let built = own_bytes();
        for _ in 0..20_000 {
            clock.advance(ns(LENGTH));
            window.add(Http::Pass, 1);
            window.record(Http::Rt, 5);
        }
        let heap = own_bytes() - before;
        println!(
            "{coarse} and {coarsest} coarse buckets: {heap} bytes, {} when built",
            built - before
        );
        if cfg!(target_pointer_width = "64") {
            let tiers = tier_formula(coarse) + tier_formula(coarsest);
            assert_eq!(heap, formula(10) + tiers + SLAB, "{coarse} and {coarsest}");
        }
    }
}

#[test]
fn what_is_dropped_gives_everything_back() {
    in_each_strategy("memory::dropped");
}

/// Kilobytes that are mapped, written or not; 0 where the system does not say.
fn mapped_kilobytes() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")?.strip_suffix("kB"));
    size.map_or(0, |size| size.trim().parse().expect("a number"))
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn dropped() {
    live_bytes_of(2); // as above
    let (heap, mapped) = (own_bytes(), mapped_kilobytes());
    for _ in 0..1_000_000 {
        Counter::new().increment();
    }
    for _ in 0..20_000 {
        let window = window::<Http>(ns(LENGTH), 2, &Manual::default());
        window.add(Http::Pass, 1);
    }
    // What epochs have not reclaimed yet; and less than the columns of all these.
    let (heap, mapped) = (own_bytes() - heap, mapped_kilobytes() - mapped);
    assert!(heap <= 64 << 10, "{heap} bytes more");
    assert!(mapped <= 4 << 10, "{mapped} kilobytes more");
}

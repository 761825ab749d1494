//! The memory of a window, to the byte: it grows as it is used, and no further.

use std::iter::once;
use std::time::Duration;

use windrow::clock::Manual;
use windrow::{Clock, Counter, SlidingWindow};

use testkit::alone::in_each_strategy;
use testkit::{at_ns, ns, window};

use crate::Http;
use crate::counting::own_bytes;

const LENGTH: u64 = 10;

/// Cells of a bucket: one for each of four `Count` events, four for a `Value`.
const CELLS: i64 = 8;
/// Those of them that add up: two of the `Value` bound its values.
const ADDITIVE: i64 = 6;
/// The shared prefix, without its cells.
const SHARED_PREFIX: i64 = 56;
const BUCKET: i64 = 80 + 16 * CELLS;
const BLOCK: i64 = 88 + 8 * CELLS;
/// Each time that buckets are made.
const CHUNK: i64 = 40;
/// The number of buckets that a ring takes beside those in its slots.
const SPARE: i64 = 5;

type Window = SlidingWindow<Http, Manual>;
/// A use of a window, whose clock is given.
type Use<'a> = &'a dyn Fn(&Window, &Manual);

/// Returns the size of slots by `docs/design/windows.md`.
fn slots(buckets: i64) -> i64 {
    let groups = buckets / buckets.isqrt() + i64::from(buckets % buckets.isqrt() != 0);
    8 * buckets + 8 * groups
}

/// Returns the size of a window without the window itself, its buckets, its blocks and their cells
/// in rows.
fn bare(buckets: i64) -> i64 {
    slots(buckets) + 232 + 16 * CELLS + SHARED_PREFIX + 8 * ADDITIVE + 96
}

/// Returns the number of buckets that exist when `needed` are needed, and the ring takes `enough`.
fn made(needed: i64, enough: i64) -> i64 {
    let (mut there, mut chunks) = (0, 0);
    while there < needed {
        there += there.max(2).min(enough - there);
        chunks += 1;
    }
    there * BUCKET + chunks * CHUNK
}

/// Returns the size of a window that has needed `needed` buckets and `blocks` blocks at once.
fn formula(buckets: i64, needed: i64, blocks: i64) -> i64 {
    bare(buckets) + made(needed, buckets + SPARE) + blocks * BLOCK
}

fn touch(window: &Window) {
    window.add(Http::Pass, 1);
    window.record(Http::Rt, 5);
}

/// Returns the heap memory of a window of `buckets` buckets: when it is built, and after each use
/// of it.
fn heap<const N: usize>(buckets: u32, uses: [Use<'_>; N]) -> [i64; N] {
    let clock = Manual::default();
    clock.set(at_ns(1_000_000));
    let before = own_bytes();
    let window = window::<Http>(ns(LENGTH), buckets, &clock);
    uses.map(|act| {
        act(&window, &clock);
        own_bytes() - before
    })
}

/// Makes the process and the thread allocate their one-time memory.
fn warm_up() {
    let rotate = |window: &Window, clock: &Manual| {
        for _ in 0..1_000 {
            clock.advance(ns(LENGTH));
            touch(window);
        }
    };
    heap(2, [&rotate]);
}

#[test]
fn sixty_buckets_take_as_much_as_they_are_used() {
    in_each_strategy("memory::table");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn table() {
    warm_up();
    println!("{:?}", windrow::diagnostics::strategy());
    for buckets in [1, 2, 60, 600] {
        let every = |times: u32, length: u64| {
            move |window: &Window, clock: &Manual| {
                for _ in 0..times {
                    clock.advance(ns(length));
                    touch(window);
                }
            }
        };
        let built = |_: &Window, _: &Manual| ();
        let once = |window: &Window, _: &Manual| touch(window);
        let interval = LENGTH * u64::from(buckets);
        let one_rotation = every(1, LENGTH);
        let far_between = every(1_000, interval + 3 * LENGTH); // in a different slot each time
        let uses: [Use<'_>; 5] =
            [&built, &once, &far_between, &one_rotation, &every(3 * buckets + 100, LENGTH)];
        let found = heap(buckets, uses);
        let in_place = size_of::<Window>();
        println!(
            "{buckets:4} buckets: {found:?} bytes on the heap, {in_place} in place: built, after one \
             add, a thousand far between, one beside the last, some rings"
        );
        if cfg!(target_pointer_width = "64") {
            let of = |needed, blocks| formula(buckets.into(), needed, blocks);
            // In a full ring: those in the slots, the live one among them, and the next.
            let full = of(i64::from(buckets) + 1, 2);
            assert_eq!(found, [of(1, 1), of(1, 1), of(2, 2), of(2, 2), full], "{buckets} buckets");
            assert!(in_place <= 384, "{in_place} bytes in place");
        }
    }
}

/// Uses in other slots, four times an interval: buckets that have left are used again, and the
/// window keeps no more than its ring has.
#[test]
fn a_window_that_is_used_now_and_then_keeps_few_buckets() {
    in_each_strategy("memory::now_and_then");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn now_and_then() {
    let sparse = |window: &Window, clock: &Manual| {
        for _ in 0..1_000 {
            clock.advance(ns(15 * LENGTH));
            touch(window);
            let back = at_ns(clock.now().as_nanos() - 20 * LENGTH);
            window.add_at(back, Http::Pass, 1).expect("in the ring");
        }
    };
    warm_up();
    let [found] = heap(60, [&sparse]);
    println!("{:?}: {found} bytes on the heap", windrow::diagnostics::strategy());
    if cfg!(target_pointer_width = "64") {
        // Four in the ring, and the next; and three of those that are back-dated.
        let expected = formula(60, 5, 2) + made(3, 8);
        assert_eq!(found, expected);
    }
}

#[test]
fn a_histogram_takes_what_its_places_take_that_are_used() {
    in_each_strategy("memory::histograms");
}

windrow::events! {
    enum Wide { Rt: Histogram }
}

/// The number of groups that the default scale's pairs make.
const GROUPS: i64 = 14;

#[test]
#[ignore = "run by another test, in a process of its own"]
fn histograms() {
    warm_up();
    // The number of adjacent values, from one microsecond on, and the number of their groups.
    for (values, groups) in [(1, 1), (20, 2), (60, 5), (216, 14)] {
        let clock = Manual::default();
        clock.set(at_ns(1_000_000));
        let rings = |window: &SlidingWindow<Wide, Manual>, rings: u32| {
            for _ in 0..60 * rings {
                clock.advance(ns(LENGTH));
                let least = if values == 216 { 9.0 } else { 10.0 };
                (0..values).for_each(|n| {
                    let octaves = least + f64::from(n) / 8.0 + 1.0 / 16.0;
                    window.record(Wide::Rt, Duration::from_secs_f64(octaves.exp2() / 1e9));
                });
            }
        };
        let before = own_bytes();
        let window = testkit::window::<Wide>(ns(LENGTH), 60, &clock);
        let built = own_bytes() - before;
        window.record(Wide::Rt, 1_069); // the first of them, if they are few
        let once = own_bytes() - before;
        rings(&window, 4);
        let warm = own_bytes() - before;
        rings(&window, 4);
        let later = own_bytes() - before;
        println!(
            "{values} values: {built} bytes when built, {once} after a record, {warm} when warm"
        );
        if cfg!(target_pointer_width = "64") {
            let units = 16 * (2 + GROUPS); // two extremes, which are not wide
            let bucket = 80 + units;
            let window = slots(60) + 232 + units + SHARED_PREFIX + 96;
            let block = 88 + 8 * 2 + 16 * GROUPS;
            assert_eq!([built, once], [window + 2 * bucket + CHUNK + block; 2]);
            // The number made for 61, in 6 steps. A block uses two groups where a bucket uses one.
            let full =
                window + 64 * (bucket + 256 * groups) + 6 * CHUNK + 2 * (block + 2 * 256 * groups);
            // The collector's queue may have had a bag more before.
            assert!(
                [warm, later].iter().all(|bytes| [0, 2_072].contains(&(full - bytes))),
                "{warm}, {later}, not {full}"
            );
        }
    }
}

/// Returns the size that a tier of `buckets` buckets adds, each of which is used.
fn tier_formula(buckets: i64) -> i64 {
    let level = |slices: i64| 8 * slices + LEVEL + made(slices + 1, slices + 2);
    let levels = once(buckets).chain(levels(buckets)).map(level);
    TIER + marks(buckets) + levels.sum::<i64>()
}

/// Returns the numbers of slices in the levels above a tier, by `docs/design/windows.md`.
fn levels(mut slices: i64) -> Vec<i64> {
    let mut levels = Vec::new();
    while slices > 32 {
        slices = (slices + 6) / 8 + 1; // the quotient is rounded up
        levels.push(slices);
    }
    levels
}

/// Returns the size of a tier's marks by `docs/design/windows.md`.
fn marks(words: i64) -> i64 {
    let above = if words > 8 { marks(words / 8 + i64::from(words % 8 != 0)) } else { 0 };
    8 * words + 16 + above
}

/// The tier itself, without its coarse buckets.
const TIER: i64 = 80;
/// A level: its coarse buckets, or longer slices.
const LEVEL: i64 = 152;

#[test]
fn tiers_take_what_the_formula_says() {
    in_each_strategy("memory::tiers");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn tiers() {
    warm_up();
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
            touch(&window);
        }
        let heap = own_bytes() - before;
        println!(
            "{coarse} and {coarsest} coarse buckets: {heap} bytes, {} when built",
            built - before
        );
        drop(window);
        if cfg!(target_pointer_width = "64") {
            let tiers = [coarse, coarsest].map(|buckets| buckets.cast_signed() as i64);
            let tiers = 16 + tiers.into_iter().map(tier_formula).sum::<i64>();
            assert_eq!(heap, formula(10, 11, 2) + tiers, "{coarse} and {coarsest} coarse buckets");
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
    warm_up();
    let (heap, mapped) = (own_bytes(), mapped_kilobytes());
    for _ in 0..1_000_000 {
        Counter::new().increment();
    }
    for _ in 0..20_000 {
        let window = window::<Http>(ns(LENGTH), 2, &Manual::default());
        window.add(Http::Pass, 1);
    }
    // The memory that epochs have not reclaimed yet, which is less than the columns of all these.
    let (heap, mapped) = (own_bytes() - heap, mapped_kilobytes() - mapped);
    assert!(heap <= 64 << 10, "{heap} bytes more");
    assert!(mapped <= 4 << 10, "{mapped} kilobytes more");
}

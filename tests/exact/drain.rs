//! Handing out closed buckets: each once, in order, and so that a log adds up.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use testkit::{Rng, alone};
use windrow::clock::Manual;
use windrow::export::{AnySpan, AnyWindow};
use windrow::{SlidingWindow, Timestamp, events, snapshot::BucketSnapshot};

events! { enum Http { Pass: Count, Rt: Value } }

type Window = SlidingWindow<Http, Manual>;

/// Buckets of 10 ns.
fn window(buckets: usize) -> (Window, Manual) {
    let clock = Manual::default();
    clock.set(Timestamp::from_nanos(1_000));
    let interval = Duration::from_nanos(10 * buckets as u64);
    let builder = SlidingWindow::<Http>::builder().interval(interval).buckets(buckets);
    (builder.clock(clock.clone()).build().expect("sound"), clock)
}

/// Drains until nothing more comes. (Without restartable sequences a bucket is closed a while after
/// the next one was opened.)
fn drained(window: &Window) -> Vec<BucketSnapshot<Http>> {
    let mut all = Vec::new();
    for _ in 0..50 {
        window.drain_closed(|bucket| all.push(bucket));
    }
    all
}

fn starts(buckets: &[BucketSnapshot<Http>]) -> Vec<u64> {
    buckets.iter().map(|bucket| bucket.start().as_nanos()).collect()
}

#[test]
fn each_bucket_has_one_turn() {
    let (window, clock) = window(5);
    assert!(drained(&window).is_empty(), "the first bucket is live");
    for n in 1..=4 {
        window.add(Http::Pass, n);
        window.record(Http::Rt, 100 * n);
        clock.advance(Duration::from_nanos(10));
    }
    window.add(Http::Pass, 1); // opens the fifth
    let log = drained(&window);
    assert_eq!(starts(&log), [1_000, 1_010, 1_020, 1_030]);
    for (bucket, n) in log.iter().zip(1..) {
        let rt = bucket.stats(Http::Rt);
        assert_eq!((bucket.sum(Http::Pass), rt.count, rt.sum), (n, 1, 100 * n));
        assert_eq!((rt.min, rt.max), (Some(100 * n), Some(100 * n)));
        assert_eq!(bucket.end() - Duration::from_nanos(10), bucket.start());
        assert!(bucket.is_closed());
    }
    assert!(drained(&window).is_empty());
    let left: u64 = window.lifetime(Http::Pass).sum - 10;
    assert_eq!(left, 1, "the live bucket");
}

#[test]
fn gaps_have_no_turn() {
    let (window, clock) = window(100);
    for step in [0, 30, 200, 10] {
        clock.advance(Duration::from_nanos(step));
        window.add(Http::Pass, 1);
    }
    assert_eq!(starts(&drained(&window)), [1_000, 1_030, 1_230]);
}

/// A back-dated add is in the log if it comes before its bucket's turn; otherwise it is only in
/// `lifetime`, as is one to a bucket that had never been opened at its turn.
#[test]
fn what_comes_after_its_turn_is_left_over() {
    let (window, clock) = window(5);
    let at = |start| Timestamp::from_nanos(start);
    window.add(Http::Pass, 1);
    clock.advance(Duration::from_nanos(20));
    window.add(Http::Pass, 2);
    window.add_at(at(1_000), Http::Pass, 10).expect("in the ring");
    let log = drained(&window);
    assert_eq!((starts(&log), log[0].sum(Http::Pass)), (vec![1_000], 11));
    clock.advance(Duration::from_nanos(10));
    window.add(Http::Pass, 4);
    assert_eq!(starts(&drained(&window)), [1_020]);
    window.add_at(at(1_005), Http::Pass, 100).expect("in the ring");
    window.add_at(at(1_010), Http::Pass, 1_000).expect("in the ring");
    assert!(drained(&window).is_empty());
    assert_eq!(window.lifetime(Http::Pass).sum, 11 + 2 + 4 + 100 + 1_000);
    assert_eq!(window.sum(Http::Pass), 1_117);
}

/// Drains are optional: buckets that have left the ring are passed over.
#[test]
fn what_has_left_the_ring_is_passed_over() {
    let (window, clock) = window(3);
    for _ in 0..100 {
        window.add(Http::Pass, 1);
        clock.advance(Duration::from_nanos(10));
    }
    assert_eq!(starts(&drained(&window)), [1_970, 1_980]);
}

/// A window that is no longer added to.
#[test]
fn what_is_over_is_closed_without_an_add() {
    let (window, clock) = window(5);
    window.close_past();
    window.record(Http::Rt, 0);
    window.close_past(); // its time is not over
    assert!(drained(&window).is_empty());
    clock.advance(Duration::from_nanos(10));
    assert!(drained(&window).is_empty(), "no thread has opened another");
    window.close_past();
    let log = drained(&window);
    assert_eq!((starts(&log), log[0].stats(Http::Rt).count), (vec![1_000], 1));
    // A bucket opened without an add has no turn, and an empty one is not closed.
    for _ in 0..20 {
        clock.advance(Duration::from_nanos(10));
        window.close_past();
    }
    assert!(drained(&window).is_empty());
    // The ring has not moved on meanwhile: its newest bucket is still the one that was opened.
    let at = Timestamp::from_nanos(1_010);
    clock.set(at);
    window.add(Http::Pass, 7);
    assert_eq!(window.snapshot().buckets().last().map(|last| last.sum(Http::Pass)), Some(7));
    clock.advance(Duration::from_nanos(200));
    window.close_past();
    assert!(drained(&window).is_empty(), "the bucket has left the ring: no drain came for 200 ns");
    assert_eq!(window.lifetime(Http::Pass).sum, 7);
}

#[test]
fn a_change_of_geometry_hands_out_what_was_before() {
    let (window, clock) = window(4);
    for n in 1..=3 {
        window.add(Http::Pass, n);
        clock.advance(Duration::from_nanos(10));
    }
    assert_eq!(starts(&drained(&window)), [1_000, 1_010]);
    window.reconfigure(Duration::from_nanos(400), 4).expect("sound");
    window.add(Http::Pass, 10); // into [1000, 1100), beside the 6 that were there
    clock.advance(Duration::from_nanos(100));
    window.add(Http::Pass, 20);
    let log = drained(&window);
    assert_eq!(starts(&log), [1_020, 1_000]);
    assert_eq!(log.iter().map(|bucket| bucket.sum(Http::Pass)).collect::<Vec<_>>(), [3, 10]);
    assert_eq!(log[0].end().as_nanos(), 1_030);
    assert_eq!(log[1].end().as_nanos(), 1_100);
}

#[test]
fn a_panic_takes_one_turn() {
    let (window, clock) = window(5);
    for _ in 0..4 {
        window.add(Http::Pass, 1);
        clock.advance(Duration::from_nanos(10));
    }
    let drain = || drained(&window).len();
    let panics = std::panic::AssertUnwindSafe(|| {
        for _ in 0..50 {
            window.drain_closed(|_| panic!("on purpose"));
        }
    });
    assert!(std::panic::catch_unwind(panics).is_err());
    assert_eq!(drain(), 2);
}

#[test]
fn one_drains_at_a_time() {
    let (window, clock) = window(5);
    for _ in 0..3 {
        window.add(Http::Pass, 1);
        clock.advance(Duration::from_nanos(10));
    }
    let mut inner = Vec::new();
    let mut outer = 0;
    for _ in 0..50 {
        outer += window.drain_closed(|_| inner.push(window.drain_closed(|_| ())));
    }
    assert_eq!((outer, inner), (2, vec![0, 0]));
}

windrow::events! { enum Mixed { Pass: Count, Most: Maximum, Rt: Histogram } }

/// Two windows with the same counts: one hands out bucket by bucket, and writes into the buffer the
/// bucket that the other hands out, whatever the buffer held.
#[test]
fn one_by_one_they_are_the_same() {
    let mut random = Rng::with_seed(7);
    let (clock, other_clock) = (Manual::default(), Manual::default());
    let built = |clock: &Manual| {
        let builder = SlidingWindow::<Mixed>::builder().interval(Duration::from_nanos(50));
        builder.buckets(5).clock(clock.clone()).build().expect("sound")
    };
    let (window, other) = (built(&clock), built(&other_clock));
    let mut all = Vec::new();
    for step in 0..4_000 {
        for _ in 0..random.u64(0..4) {
            let value = 1 << random.u32(0..40);
            for window in [&window, &other] {
                window.add(Mixed::Pass, value);
                window.record(Mixed::Most, value);
                window.record(Mixed::Rt, value);
            }
        }
        if step % 100 == 99 {
            let buckets = random.u64(3..9);
            for window in [&window, &other] {
                let interval = Duration::from_nanos(10 * buckets);
                window.reconfigure(interval, buckets as usize).expect("sound");
            }
        }
        let by = Duration::from_nanos(random.u64(0..30));
        clock.advance(by);
        other_clock.advance(by);
        if random.u32(0..3) > 0 {
            continue;
        }
        let mut expected = Vec::new();
        other.close_past();
        while other.drain_closed(|bucket| expected.push(bucket)) > 0 {}
        let mut expected = expected.into_iter();
        let reads_as = |found: &AnySpan<'_>, bucket: &BucketSnapshot<Mixed>| {
            (found.start, found.end) == (bucket.start(), bucket.end())
                && found.stats(Mixed::Pass.index()) == bucket.stats(Mixed::Pass)
                && found.stats(Mixed::Most.index()) == bucket.stats(Mixed::Most)
                && found.distribution(Mixed::Rt.index()) == Some(bucket.distribution(Mixed::Rt))
        };
        AnyWindow::drain_closed(&window, &mut |found| {
            let bucket = expected.next();
            assert!(bucket.is_some_and(|bucket| reads_as(found, &bucket)), "step {step}");
            all.push(found.stats(Mixed::Pass.index()).sum);
        });
        assert_eq!(expected.next(), None, "step {step}");
    }
    assert!(all.len() > 500, "{} buckets", all.len());
}

/// The buffer is unchanged if there is no bucket, or if another thread drains at that moment.
#[test]
fn a_buffer_is_left_as_it_was_if_there_is_no_bucket() {
    let (window, clock) = window(5);
    for n in 1..=3 {
        window.add(Http::Pass, n);
        clock.advance(Duration::from_nanos(10));
    }
    let mut buffer = BucketSnapshot::default();
    assert!(buffer.sum(Http::Pass) == 0 && buffer.is_closed() && buffer.start() == buffer.end());
    let mut sums = Vec::new();
    for _ in 0..50 {
        if window.drain_next(&mut buffer) {
            sums.push(buffer.sum(Http::Pass));
        }
    }
    assert_eq!((sums, buffer.sum(Http::Pass)), (vec![1, 2], 2));
    window.add(Http::Pass, 4);
    window.add_at(Timestamp::from_nanos(1_020), Http::Pass, 1).expect("in the ring");
    let mut inner = Vec::new();
    for _ in 0..50 {
        window.drain_closed(|_| inner.push(window.drain_next(&mut buffer)));
    }
    assert_eq!((inner, buffer.sum(Http::Pass)), (vec![false], 2));
}

/// A drain finds nothing while another one runs.
#[test]
fn a_drain_within_a_drain_hands_out_nothing() {
    let (window, clock) = window(5);
    for n in 1..=3 {
        window.add(Http::Pass, n);
        clock.advance(Duration::from_nanos(10));
    }
    let (mut sums, mut inner) = (Vec::new(), Vec::new());
    for _ in 0..50 {
        window.drain_closed(|bucket| {
            sums.push(bucket.sum(Http::Pass));
            inner.push(window.drain_closed(|_| ()));
        });
    }
    assert_eq!((sums, inner), (vec![1, 2], vec![0, 0]));
}

/// A thread that opens a bucket closes the one before, on each strategy, if no other thread is in
/// the middle of a call: no drain is needed for that, and one drain finds all there is.
#[test]
fn a_displaced_bucket_is_closed_at_once() {
    alone::in_each_strategy("drain::closed_in_this_process");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn closed_in_this_process() {
    let (window, clock) = window(5);
    for round in 1..=20 {
        window.add(Http::Pass, round);
        window.record(Http::Rt, round);
        let previous = window.previous();
        assert!(previous.is_closed(), "round {round}: {previous:?}");
        if round % 7 == 0 {
            let buckets = 4 + round % 3;
            window
                .reconfigure(Duration::from_nanos(10 * buckets), buckets as usize)
                .expect("sound");
        }
        clock.advance(Duration::from_nanos(10));
    }
    assert!(window.drain_closed(|_| ()) > 0);
    assert_eq!(window.drain_closed(|_| ()), 0);
}

/// Writers push the time on; two threads drain. Neither gets more than was added, no start comes
/// twice, and at rest all adds up.
#[test]
fn a_log_adds_up_while_others_count() {
    alone::in_each_strategy("drain::log_in_this_process");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn log_in_this_process() {
    const WRITERS: u64 = 4;
    let (window, clock) = window(64);
    let (finished, time) = (AtomicBool::new(false), AtomicU64::new(1_000));
    let turns = AtomicU64::new(0);
    let (mut ledger, mut log) = (BTreeMap::new(), BTreeMap::new());
    thread::scope(|scope| {
        let write = |writer: u64| {
            let (window, clock, time, turns) = (&window, &clock, &time, &turns);
            move || {
                let mut added = BTreeMap::new();
                // The writers go on until the drainers have had turns, too.
                let goes_on = |step: &u64| *step <= 30_000 || turns.load(Ordering::Relaxed) < 200;
                for step in (1_u64..).take_while(goes_on) {
                    if step % 40 == writer {
                        let now = time.fetch_add(3, Ordering::Relaxed) + 3;
                        clock.set(Timestamp::from_nanos(now));
                    }
                    // The time is given, so that the ledger knows it.
                    let at = time.load(Ordering::Relaxed).saturating_sub(step % 7);
                    if window.add_at(Timestamp::from_nanos(at), Http::Pass, step).is_ok() {
                        *added.entry(at - at % 10).or_insert(0) += step;
                    }
                }
                added
            }
        };
        let drain = || {
            let mut log = Vec::new();
            while !finished.load(Ordering::Acquire) {
                window.close_past();
                window.drain_closed(|bucket| {
                    log.push((bucket.start().as_nanos(), bucket.sum(Http::Pass)));
                    turns.fetch_add(1, Ordering::Relaxed);
                });
            }
            assert!(log.is_sorted(), "out of order");
            log
        };
        let drainers = [scope.spawn(drain), scope.spawn(drain)];
        let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(write(writer))).collect();
        for writer in writers {
            for (start, sum) in writer.join().expect("no failure") {
                *ledger.entry(start).or_insert(0) += sum;
            }
        }
        finished.store(true, Ordering::Release);
        let logs = drainers.map(|drainer| drainer.join().expect("no failure"));
        for (start, sum) in logs.into_iter().flatten() {
            assert!(log.insert(start, sum).is_none(), "{start} was handed out twice");
        }
    });
    for bucket in drained(&window) {
        let start = bucket.start().as_nanos();
        assert!(log.insert(start, bucket.sum(Http::Pass)).is_none(), "{start} came twice");
    }
    let added: u64 = ledger.values().sum();
    assert_eq!(window.lifetime(Http::Pass).sum, added);
    for (start, sum) in &log {
        assert!(*sum <= ledger[start], "more than was ever added to {start}");
    }
    // The buckets still in the ring are known one by one: adds missed by a bucket's turn were
    // back-dated.
    for bucket in window.snapshot().buckets() {
        let (start, sum) = (bucket.start().as_nanos(), bucket.sum(Http::Pass));
        assert_eq!(sum, ledger.get(&start).copied().unwrap_or(0), "{start}");
        assert!(log.get(&start).is_none_or(|handed| *handed <= sum));
    }
    let handed: u64 = log.values().sum();
    println!("{:?}: {} buckets, {handed} of {added}", windrow::diagnostics::strategy(), log.len());
}

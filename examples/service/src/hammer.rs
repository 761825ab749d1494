//! Threads that do nothing but add: to one shared atomic, to a counter, to a window.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use windrow::clock::Ticker;
use windrow::{Counter, SlidingWindow};
use windrow_tower::Http;

use crate::display::say;
use crate::numbers::grouped;
use crate::options::Hammer;
use crate::verdict::Row;

/// The number of adds that a thread makes between two looks at the stop flag.
const BURST: u64 = 1_024;

/// Hammers the three in turn and returns the adds of the threads beside the counts.
pub(crate) fn run(how: &Hammer) -> Vec<Row> {
    let atomic = AtomicU64::new(0);
    let counter = Counter::new();
    let window = SlidingWindow::<Http>::builder()
        .interval(Duration::from_secs(10))
        .buckets(10)
        .clock(Ticker::start(Duration::from_millis(1)))
        .build()
        .expect("ten seconds make ten buckets, and a tick of 1 ms is fine enough for them");

    say(&format!("{} threads, {} s each\n", how.threads, how.seconds));
    let (alone, shared) = hammer(
        "one shared AtomicU64",
        how,
        || {
            atomic.fetch_add(1, Relaxed);
        },
        || atomic.load(Relaxed),
    );
    let (counters, striped) = hammer("windrow::Counter", how, || counter.add(1), || counter.sum());
    let (windows, sliding) = hammer(
        "windrow::SlidingWindow",
        how,
        || window.add(Http::Request, 1),
        || window.lifetime(Http::Request).count,
    );

    say("\nadds a second\n");
    for (row, rate) in [(&alone, shared), (&counters, striped), (&windows, sliding)] {
        let times = rate as f64 / shared as f64;
        say(&format!("{:<24}{:>18}{times:>10.1} x\n", row.name, grouped(rate)));
    }
    vec![counters, windows]
}

/// Lets threads `add` for the given seconds, and returns their adds beside the `sum`, with the rate
/// of adds a second.
fn hammer(name: &str, how: &Hammer, add: impl Fn() + Sync, sum: impl Fn() -> u64) -> (Row, u64) {
    let stop = AtomicBool::new(false);
    let ready = Barrier::new(how.threads + 1);
    let work = || {
        ready.wait();
        let mut added = 0;
        while !stop.load(Relaxed) {
            for _ in 0..BURST {
                add();
            }
            added += BURST;
        }
        added
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..how.threads).map(|_| scope.spawn(work)).collect();
        ready.wait();
        let begun = Instant::now();
        let (mut before, mut then) = (0, begun);
        for second in 1..=how.seconds {
            let next = begun + Duration::from_secs(second);
            thread::sleep(next.saturating_duration_since(Instant::now()));
            let (sum, now) = (sum(), Instant::now());
            let rate = grouped(per_second(sum - before, now - then));
            say(&format!("{name:<24}{second:>5} s{rate:>18} adds/s\n"));
            (before, then) = (sum, now);
        }
        stop.store(true, Relaxed);
        let added = threads.into_iter().map(|thread| thread.join().expect("adding cannot fail"));
        let expected: u64 = added.sum();
        let rate = per_second(expected, begun.elapsed());
        (Row { name: name.to_owned(), expected, counted: sum(), is_adds: true }, rate)
    })
}

fn per_second(adds: u64, time: Duration) -> u64 {
    (u128::from(adds) * 1_000_000_000 / time.as_nanos().max(1)) as u64
}

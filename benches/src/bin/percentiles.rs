//! `percentiles [ROUNDS]`: what a window pays for percentiles: an event that is a `Histogram`,
//! beside one that is a `Value`; three percentiles of the interval; and a snapshot of an hour of
//! seconds, in time and in bytes on the heap.
//!
//! Interleaved rounds in one process; medians, least and greatest. Two rows are open, as on two
//! cores that add. The clock is set by hand, but for the records under `Coarse`: so it costs
//! nothing, and the ratio is the worst there is.

use std::error::Error;
use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use windrow::clock::Manual;
use windrow::kind::CanRecord;
use windrow::snapshot::BucketSnapshot;
use windrow::{Clock, Event, Events, SlidingWindow, diagnostics::strategy, events};
use windrow_benches::harness::{cores, keep_to_core};
use windrow_benches::heap::Counting;
use windrow_benches::lab::stats::{MARK, Spread};
use windrow_benches::terminal::{print_caption, print_table};

events! { enum Seen { Rt: Value } }
events! { enum Placed { Rt: Histogram } }

#[global_allocator]
static HEAP: Counting = Counting::new();

const LENGTH: Duration = Duration::from_millis(100);
/// The number of records of a round.
const RECORDS: u32 = 200_000;
const READS: u32 = 200;
const ROTATIONS: u32 = 2_000;
/// The number of octaves over which values are spread, with eight cells each.
const OCTAVES: u64 = 7;
/// The buckets of a snapshot.
const HOUR: u32 = 3_600;

/// Log-uniform values, a power of two of them.
fn values() -> Vec<u64> {
    let mut random = fastrand::Rng::with_seed(7);
    (0..1_024).map(|_| (1_u64 << (17 + random.u64(..OCTAVES))) + random.u64(..1 << 17)).collect()
}

/// Returns a window whose buckets have all been used, with two open rows. The last `each` of the
/// values are in each bucket but the oldest.
fn full<E: Events, K: CanRecord>(
    event: Event<E, K>,
    buckets: u32,
    each: usize,
) -> (SlidingWindow<E, Manual>, Manual) {
    let clock = Manual::default();
    clock.advance(LENGTH * 10 * buckets);
    let window = SlidingWindow::builder().interval(LENGTH * buckets).buckets(buckets as usize);
    let window = window.clock(clock.clone()).build().expect("sound");
    let values = values();
    thread::scope(|scope| {
        for core in 0..2.min(cores()) {
            let (window, values) = (&window, &values);
            scope.spawn(move || {
                keep_to_core(core);
                for value in values {
                    window.record(event, *value);
                }
            });
        }
    });
    for _ in 0..buckets - 1 {
        clock.advance(LENGTH);
        for value in &values[values.len() - each..] {
            window.record(event, *value);
        }
    }
    (window, clock)
}

/// Returns the nanoseconds of one call of `times`.
fn each(times: u32, mut act: impl FnMut(u32)) -> f64 {
    let begun = Instant::now();
    (0..times).for_each(&mut act);
    begun.elapsed().as_secs_f64() * 1e9 / f64::from(times)
}

fn records<E: Events, K: CanRecord, C: Clock>(
    window: &SlidingWindow<E, C>,
    event: Event<E, K>,
    values: &[u64],
) -> f64 {
    let values: &[u64; 1_024] = values.try_into().expect("so many");
    each(RECORDS, |n| window.record(event, black_box(values[n as usize & 1_023])))
}

fn rotations<E: Events, K: CanRecord>(
    (window, clock): &(SlidingWindow<E, Manual>, Manual),
    event: Event<E, K>,
    values: &[u64],
) -> f64 {
    let mut spent = 0.0;
    for _ in 0..ROTATIONS {
        values[..64].iter().for_each(|value| window.record(event, *value));
        clock.advance(LENGTH);
        spent += each(1, |_| window.record(event, black_box(1_000_000)));
    }
    spent / f64::from(ROTATIONS)
}

fn main() -> Result<(), Box<dyn Error>> {
    let rounds: usize = std::env::args().nth(1).map_or(Ok(15), |rounds| rounds.parse())?;
    keep_to_core(0);
    let values = values();
    let all = values.len();
    let (seen, placed) = (full(Seen::Rt, 60, all), full(Placed::Rt, 60, all));
    let coarse = (SlidingWindow::builder().build()?, SlidingWindow::builder().build()?);
    let windows = [2, 60, 600].map(|buckets| (buckets, full(Placed::Rt, buckets, all)));
    let hours = [1, 8, 64, all].map(|values| (values, full(Placed::Rt, HOUR, values).0));
    let mut costs: [Vec<f64>; 6] = Default::default();
    let mut reads: [Vec<f64>; 3] = Default::default();
    let mut snapshots: [Vec<f64>; 4] = Default::default();
    HEAP.stop(true);
    for _ in 0..rounds.max(1) {
        costs[0].push(records(&seen.0, Seen::Rt, &values));
        costs[1].push(records(&placed.0, Placed::Rt, &values));
        costs[2].push(records(&coarse.0, Seen::Rt, &values));
        costs[3].push(records(&coarse.1, Placed::Rt, &values));
        costs[4].push(rotations(&seen, Seen::Rt, &values));
        costs[5].push(rotations(&placed, Placed::Rt, &values));
        for ((_, (window, _)), spent) in windows.iter().zip(&mut reads) {
            let read = |_| {
                let found = window.distribution(Placed::Rt);
                black_box([0.5, 0.9, 0.99].map(|q| found.quantile(q)));
            };
            spent.push(each(READS, read) / 1e3);
        }
        for ((_, window), spent) in hours.iter().zip(&mut snapshots) {
            spent.push(each(1, |_| _ = black_box(window.snapshot())) / 1e6);
        }
    }
    HEAP.stop(false);
    print_caption("percentiles");
    println!("windrow is {:?}\n", strategy());
    let show = |spent: &[f64]| Spread::of(spent.iter().copied()).show();
    let compared = |what: &str, at: usize| {
        let both = || costs[at].iter().zip(&costs[at + 1]);
        let ratio = Spread::of(both().map(|(value, other)| other / value)).show();
        let more = Spread::of(both().map(|(value, other)| other - value)).show();
        vec![what.to_owned(), show(&costs[at]), show(&costs[at + 1]), ratio, more]
    };
    let rows = [
        compared("a record, time set by hand", 0),
        compared("a record, Coarse", 2),
        compared("a record that opens a bucket, and closes the one before", 4),
    ];
    print_table(&["ns", "Value", "Histogram", "ratio", "more"], &rows);
    println!("\n{MARK}\n");
    let row = |((buckets, _), spent): (&(u32, _), &Vec<f64>)| {
        vec![format!("{buckets} buckets"), show(spent)]
    };
    let rows: Vec<_> = windows.iter().zip(&reads).map(row).collect();
    print_table(&["three percentiles of the interval", "us"], &rows);
    println!("\n{MARK}\n");
    let row = |((values, window), spent): (&(usize, SlidingWindow<_, _>), &Vec<f64>)| {
        let before = HEAP.bytes();
        let snapshot = window.snapshot();
        let bytes = (HEAP.bytes() - before) as f64;
        let cells = |bucket: &BucketSnapshot<_>| bucket.distribution(Placed::Rt).cells().count();
        let cells = snapshot.buckets().iter().map(cells).sum::<usize>();
        vec![
            values.to_string(),
            format!("{:.1}", cells as f64 / f64::from(HOUR)),
            show(spent),
            format!("{:.2}", bytes / 1e6),
            format!("{:.0}", bytes / cells as f64),
        ]
    };
    let rows: Vec<_> = hours.iter().zip(&snapshots).map(row).collect();
    let head = ["values a bucket", "cells a bucket", "ms a snapshot", "MB", "bytes a cell"];
    print_table(&head, &rows);
    Ok(())
}

//! Measures the cases in which an atomic does as well, or better: sequentially consistent adds, and
//! counters that are made, added to once and dropped, beside an atomic in a box.
//!
//! `cargo run --release -p windrow-benches --bin rare`. All contenders run in turn, round by round;
//! a figure is the median of the rounds' ratios to an `AtomicU64`, with the least and the greatest.
//! (`cold` has adds to memory that is not in the caches.)

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use windrow::Counter;
use windrow_benches::harness::{Spent, at_once, cores};
use windrow_benches::lab::stats::Spread;
use windrow_benches::terminal::{print_caption, print_table};

const ROUNDS: usize = 41;
const ADDS: u64 = 400_000;
const LIVES: u64 = 20_000;

type Work = fn();

/// A case: its name, whether it has several threads, an atomic's work and a counter's.
const CASES: [(&str, bool, Work, Work); 4] = [
    ("Relaxed add", false, || atomic(Ordering::Relaxed), || counter(Ordering::Relaxed)),
    ("SeqCst add", false, || atomic(Ordering::SeqCst), || counter(Ordering::SeqCst)),
    ("made, added to once, dropped", false, atomics_come_and_go, counters_come_and_go),
    ("made, added to once, dropped", true, atomics_come_and_go, counters_come_and_go),
];

fn atomic(order: Ordering) {
    let one = AtomicU64::new(0);
    (0..ADDS).for_each(|_| _ = black_box(&one).fetch_add(1, order));
    assert_eq!(one.load(order), ADDS);
}

fn counter(order: Ordering) {
    let one = Counter::new();
    (0..ADDS).for_each(|_| black_box(&one).fetch_add(1, order));
    assert_eq!(one.load(order), ADDS);
}

fn atomics_come_and_go() {
    (0..LIVES)
        .for_each(|_| _ = black_box(&Box::new(AtomicU64::new(0))).fetch_add(1, Ordering::Relaxed));
}

fn counters_come_and_go() {
    (0..LIVES).for_each(|_| black_box(&Counter::new()).add(1));
}

fn main() {
    print_caption("rare");
    let mut ratios = vec![Vec::new(); CASES.len()];
    for round in 0..ROUNDS {
        eprint!("round {} of {ROUNDS}\r", round + 1);
        for ((_, everywhere, atomic, counter), ratios) in CASES.iter().zip(&mut ratios) {
            let threads = if *everywhere { cores() } else { 1 };
            let [theirs, ours] = [atomic, counter]
                .map(|work| Spent::of(&at_once(threads, &|_| (), &|_| work())).cpu);
            ratios.push(ours.as_secs_f64() / theirs.as_secs_f64());
        }
    }
    eprint!("                    \r");
    let rows = CASES.iter().zip(&ratios).map(|((name, everywhere, ..), ratios)| {
        let threads = if *everywhere { cores() } else { 1 };
        vec![(*name).to_owned(), threads.to_string(), Spread::of(ratios.iter().copied()).show()]
    });
    let rows: Vec<_> = rows.collect();
    print_table(&["case", "threads", "counter / AtomicU64"], &rows);
}

//! Measures the cases in which an atomic does as well, or better: sequentially consistent adds, and
//! counters that are made, added to once and dropped, beside an atomic in a box.
//!
//! `rare [--rounds N]` prints the ratios to an `AtomicU64` within a round. (`cold` has adds to
//! memory that is not in the caches.)

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

use windrow::Counter;
use windrow_benches::harness::{at_once, cores};
use windrow_benches::lab::entries::{Entry, measure, print_rows};
use windrow_benches::terminal::options;

const ADDS: u64 = 400_000;
const LIVES: u64 = 20_000;

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

/// A case: an atomic's work, and a counter's.
fn case(name: &str, threads: usize, works: [fn(); 2]) -> Entry<'static> {
    works.into_iter().fold(Entry::new(format!("{name}, {threads} threads")), |entry, work| {
        entry.column(move || at_once(threads, &|_| (), &|_| work()))
    })
}

fn main() {
    let [rounds] = options("rare", [("rounds", 41)], &[]).numbers;
    let lives: [fn(); 2] = [atomics_come_and_go, counters_come_and_go];
    let mut cases = [
        case("Relaxed add", 1, [|| atomic(Ordering::Relaxed), || counter(Ordering::Relaxed)]),
        case("SeqCst add", 1, [|| atomic(Ordering::SeqCst), || counter(Ordering::SeqCst)]),
        case("made, added to once, dropped", 1, lives),
        case("made, added to once, dropped", cores(), lives),
    ];
    measure("cases", rounds, &mut cases);
    print_rows(&["case", "counter / AtomicU64"], &cases, |case| {
        vec![case.ratio(1, case, 0).show()]
    });
}

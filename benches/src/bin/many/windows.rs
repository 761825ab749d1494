//! Windows of ten buckets of 100 ms, with two counts, and with a histogram besides.
//!
//! Bytes are those asked of the allocator, once each bucket was used. Columns are mapped, at 8
//! bytes for each core. Times are of one thread, by the clock of its processor time.

use std::hint::black_box;
use std::time::Duration;

use windrow::clock::Manual;
use windrow::histogram::Scale;
use windrow::{Events, SlidingWindow, diagnostics, events};
use windrow_benches::terminal::print_table;

use crate::nanos;

events! {
    enum Counts { Ok: Count, Failed: Count }
}
events! {
    enum Timed { Ok: Count, Failed: Count, Rt: Histogram(Scale::fixed::<0, 1_000, 60_000_000_000>()) }
}

const BUCKETS: usize = 10;

/// Measures a row: with this number of windows.
fn measure<E: Events>(
    name: &str,
    windows: usize,
    add: impl Fn(&SlidingWindow<E, Manual>),
    sum: impl Fn(&SlidingWindow<E, Manual>) -> u64,
) -> Vec<String> {
    let clock = Manual::default();
    let new = || {
        let builder = SlidingWindow::<E>::builder().interval(Duration::from_secs(1));
        builder.buckets(BUCKETS).clock(clock.clone()).build().expect("ten buckets")
    };
    let mut all = Vec::with_capacity(windows);
    crate::HEAP.stop(false);
    let (before, columns) = (crate::HEAP.bytes(), diagnostics::columns().claimed());
    let making = nanos(windows, || all.extend((0..windows).map(|_| new())));
    let first = nanos(windows, || all.iter().for_each(&add));
    for _ in 0..BUCKETS {
        clock.advance(Duration::from_millis(100));
        all.iter().for_each(&add);
    }
    let bytes = (crate::HEAP.bytes() - before) / windows;
    let columns = (diagnostics::columns().claimed() - columns) / windows;
    crate::HEAP.stop(true);
    clock.advance(Duration::from_millis(100));
    let opening = nanos(windows, || all.iter().for_each(&add));
    let mut random = fastrand::Rng::with_seed(7);
    let times = 1_000_000;
    let order: Vec<u32> = (0..times).map(|_| random.u32(..windows as u32)).collect();
    let again = nanos(times, || order.iter().for_each(|number| add(&all[*number as usize])));
    let read = nanos(times, || {
        for number in &order {
            black_box(sum(&all[*number as usize]));
        }
    });
    let striped = all.iter().filter(|window| window.is_striped()).count();
    let dropping = nanos(windows, || drop(all));
    vec![
        format!("{name}, {windows}"),
        format!("{bytes}, {columns}"),
        format!("{making:.0}, {first:.0}, {dropping:.0}"),
        format!("{opening:.0}, {again:.0}, {read:.0}"),
        format!("{striped}"),
    ]
}

/// Prints the table of these decades.
pub(crate) fn print(decades: &[usize]) {
    let mut rows = Vec::new();
    for windows in decades.iter().copied().filter(|windows| *windows <= 100_000) {
        let counts = |window: &SlidingWindow<Counts, Manual>| window.add(Counts::Ok, 1);
        rows.push(measure("counts", windows, counts, |window| window.sum(Counts::Ok)));
    }
    for windows in decades.iter().copied().filter(|windows| *windows <= 10_000) {
        let timed = |window: &SlidingWindow<Timed, Manual>| window.record(Timed::Rt, 1_000_000);
        rows.push(measure("a histogram, too", windows, timed, |window| window.sum(Timed::Rt)));
    }
    print_table(
        &[
            "windows",
            "bytes, columns a window",
            "ns: making, first add, dropping",
            "ns: add that opens a bucket, again at random, a sum at random",
            "striped at the end",
        ],
        &rows,
    );
}

//! Windows of ten buckets of 100 ms, with two counts and a histogram of the default scale.

use std::hint::black_box;
use std::time::Duration;

use windrow::clock::Manual;
use windrow::{SlidingWindow, events};

use crate::part::{AT_RANDOM, Part, Row, at_random, bytes, nanos, sets};

events! {
    enum Timed { Ok: Count, Failed: Count, Rt: Histogram }
}

type Window = SlidingWindow<Timed, Manual>;

const BUCKETS: usize = 10;
const LENGTH: Duration = Duration::from_millis(100);
/// The greatest number of windows that is quick enough to make.
const MOST: usize = 50_000;

/// Measures this number of windows.
fn measure(count: usize) -> Row {
    let clock = Manual::default();
    let all = sets(count) * count;
    let new = |_| {
        let builder = SlidingWindow::builder().interval(LENGTH * BUCKETS as u32).buckets(BUCKETS);
        builder.clock(clock.clone()).build().expect("ten buckets")
    };
    let fill = |windows: &mut Vec<Window>| windows.extend((0..all).map(new));
    let add = |window: &Window| window.record(Timed::Rt, 1_000_000);
    let use_each_bucket = |windows: &[Window]| {
        for _ in 0..BUCKETS {
            clock.advance(LENGTH);
            windows.iter().for_each(add);
        }
    };
    let mut windows = Vec::with_capacity(all);
    let making = nanos(all, || fill(&mut windows));
    use_each_bucket(&windows);
    clock.advance(LENGTH);
    let opening = nanos(all, || windows.iter().for_each(add));
    let order = at_random(count);
    let again =
        nanos(AT_RANDOM, || order.iter().for_each(|number| add(&windows[*number as usize])));
    let read = nanos(AT_RANDOM, || {
        for number in &order {
            black_box(windows[*number as usize].sum(Timed::Rt));
        }
    });
    drop(windows);
    let mut windows = Vec::with_capacity(all);
    let ((), bytes) = bytes(|| {
        fill(&mut windows);
        use_each_bucket(&windows);
    });
    let figures = vec![bytes as f64 / all as f64, making, opening, again, read];
    Row { contender: "windrow", count, figures }
}

pub(crate) const PART: Part = Part {
    name: "windows",
    about: "Windows of ten buckets of 100 ms, each used, with two counts and a histogram of the \
            default scale.\nThere can be 56 320 of them.",
    columns: &["bytes", "making", "add that opens a bucket", "add at random", "sum at random"],
    measure: |count| {
        if count > 10 * MOST { Vec::new() } else { vec![measure(count.min(MOST))] }
    },
};

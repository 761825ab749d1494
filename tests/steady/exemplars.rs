//! Exemplars: no memory before the first one, a bounded amount from then on, and all of it comes
//! back.

use windrow::exemplar::TraceContext;
use windrow::{Counter, Histogram};

use crate::counting::own_bytes;
use testkit::alone::in_each_strategy;

const TRACE: TraceContext = TraceContext { trace_id: 7, span_id: 7 };

/// Values of each octave of the default scale, and beyond.
fn values() -> impl Iterator<Item = u64> {
    (0..64).map(|bit| 1 << bit)
}

fn used() -> (Histogram, Counter) {
    let (histogram, counter) = (Histogram::new(), Counter::new());
    histogram.record(1);
    counter.add(1);
    (histogram, counter)
}

#[test]
fn memory_is_bounded_and_comes_back() {
    in_each_strategy("exemplars::bounded");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn bounded() {
    drop(used()); // what a process allocates once
    let before_all = own_bytes();
    let (histogram, counter) = used();
    let before = own_bytes();
    for value in values() {
        histogram.record_with_exemplar(value, None);
        counter.add_with_exemplar(value, None);
    }
    assert_eq!(own_bytes(), before, "for no exemplar");
    for _ in 0..1_000 {
        for value in values() {
            histogram.record_with_exemplar(value, TRACE);
            counter.add_with_exemplar(value, TRACE);
        }
    }
    // A pointer for each of at most 256 rows. This thread may have run on some cores.
    assert_eq!(histogram.exemplars().len(), 29);
    let row = |slots: i64| 64 * slots + 16;
    let most = 2 * (8 * 256 + 16) + 4 * (row(29) + row(1));
    let took = own_bytes() - before;
    assert!((row(29) + row(1)..=most).contains(&took), "{took} bytes, at most {most}");
    drop((histogram, counter));
    assert!(own_bytes() <= before_all, "{} bytes stay", own_bytes() - before_all);
}

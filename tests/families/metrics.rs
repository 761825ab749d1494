//! Metrics of families: each kind, and one that cannot be made.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use windrow::{Counter, Family, Gauge, Kind, Maximum, Minimum, SlidingWindow, Stats};

use crate::{Http, Text};

#[test]
fn families_hold_each_kind_of_metric() {
    let gauges: Family<Text, Gauge> = Family::new();
    gauges.with(Text { text: "a" }).add(5);
    gauges.with(Text { text: "b" }).add(-7);
    assert_eq!(gauges.lifetime(), -2);
    gauges.with(Text { text: "b" }).add(-5);
    assert_eq!(gauges.lifetime(), -7);
    gauges.with(Text { text: "b" }).add(5);
    assert!(gauges.remove(Text { text: "b" }));
    assert_eq!((gauges.lifetime(), gauges.with(Text { text: "a" }).sum()), (-2, 5));
    let greatest: Family<Text, Maximum> = Family::new();
    let least: Family<Text, Minimum> = Family::default();
    assert_eq!((greatest.lifetime(), least.lifetime()), (None, None));
    for (text, value) in [("a", 3), ("b", 9), ("b", 2)] {
        greatest.with(Text { text }).record(value);
        least.with(Text { text }).record(value);
    }
    assert!(greatest.remove(Text { text: "b" }) && least.remove(Text { text: "b" }));
    assert_eq!((greatest.lifetime(), least.lifetime()), (Some(9), Some(2)));

    let windows = Family::<Text, SlidingWindow<Http>, _>::with_constructor(|| {
        SlidingWindow::builder().build().unwrap()
    });
    assert_eq!(windows.lifetime().stats(Http::Pass), Stats::default());
    for (text, micros) in [("a", 30), ("b", 50)] {
        windows.with(Text { text }).add(Http::Pass, 1);
        windows.with(Text { text }).record(Http::Micros, micros);
    }
    assert!(windows.remove(Text { text: "a" }));
    let all = windows.lifetime();
    let (pass, micros) = (all.stats(Http::Pass), all.stats(Http::Micros));
    assert_eq!((pass.sum, micros.count, micros.sum), (2, 2, 80));
    assert_eq!((micros.min, micros.max), (Some(30), Some(50)));
    assert_eq!(<Http as windrow::Events>::EVENTS[1].1, Kind::Value);
}

#[test]
fn a_metric_that_cannot_be_made_counts_nothing_and_takes_no_room() {
    let fails = AtomicBool::new(true);
    let family = Family::<Text, Counter, _>::with_constructor(|| {
        assert!(!fails.load(Ordering::Relaxed), "no metric today");
        Counter::new()
    })
    .with_max_series(1);
    let add = || family.with(Text { text: "a" }).increment();
    assert!(thread::scope(|scope| scope.spawn(add).join()).is_err());
    assert_eq!((family.len(), family.lifetime(), family.iter().count()), (0, 0, 0));
    fails.store(false, Ordering::Relaxed);
    add();
    assert_eq!((family.with(Text { text: "a" }).sum(), family.refused()), (1, 0));
}

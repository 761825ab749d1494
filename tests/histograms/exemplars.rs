//! Exemplars: each is one that was given, whole, in the octave of its value, and counted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use testkit::alone::in_each_strategy;
use testkit::{Rng, race};
use windrow::exemplar::{Exemplar, TraceContext};
use windrow::export::{Exported, Value};
use windrow::{Counter, Family, Histogram, SlidingWindow, events, histogram::Scale, labels};

static RT: Histogram = Histogram::new();
static HITS: Counter = Counter::new();

/// Returns the ids that belong to a value, and to no other value.
fn ids(value: u64) -> TraceContext {
    let mixed = |salt: u64| (value ^ salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let trace_id = u128::from(mixed(1)) << 64 | u128::from(mixed(2));
    TraceContext { trace_id, span_id: mixed(3) }
}

/// Returns the octave of a value: from above a power of two up to the next one.
fn octave(value: u64) -> i32 {
    (0..64).find(|bit| value <= 1 << bit).unwrap_or(64)
}

/// Checks that exemplars are whole, and that there is at most one of each octave in the range of a
/// scale, one below it and one above it.
fn check(scale: Scale, exemplars: &[Exemplar]) {
    let (min, max) = (octave(scale.min()), octave(scale.max()));
    let mut last = None;
    for exemplar in exemplars {
        assert_eq!(exemplar.trace, ids(exemplar.value), "{exemplar:?} is of two records");
        let value = exemplar.value;
        let slot = match value {
            _ if value < scale.min() => min - 1,
            _ if value > scale.max() => max + 1,
            _ => octave(value),
        };
        assert!(last < Some(slot), "{exemplars:?} has two of one octave");
        last = Some(slot);
    }
}

fn scales() -> [Scale; 4] {
    let all = |schema| Scale::new(schema, 1, u64::MAX).expect("a scale");
    [Scale::DEFAULT, all(0), all(5), Scale::fixed::<2, 1_000, 1_000>()]
}

/// Returns each power of two with its neighbours.
fn values() -> impl Iterator<Item = u64> {
    let powers = (0..64).map(|bit| 1_u64 << bit);
    let around = powers.flat_map(|power| [power - 1, power, power.saturating_add(1)]);
    around.chain([u64::MAX - 1, u64::MAX])
}

#[test]
fn the_last_one_of_each_octave_is_kept() {
    for scale in scales() {
        let histogram = Histogram::with_scale(scale);
        for value in values() {
            histogram.record_with_exemplar(value, ids(value));
            let found = histogram.exemplars();
            check(scale, &found);
            assert!(found.iter().any(|exemplar| exemplar.value == value), "{value}: {found:?}");
        }
        let found = histogram.exemplars();
        let octaves = usize::try_from(octave(scale.max()) - octave(scale.min())).unwrap() + 1;
        let above = usize::from(scale.max() < u64::MAX);
        assert_eq!(found.len(), 1 + octaves + above);
    }
}

#[test]
fn there_is_none_where_none_was_given() {
    let (histogram, counter) = (Histogram::new(), Counter::new());
    assert_eq!((histogram.exemplars(), counter.exemplar()), (Vec::new(), None));
    histogram.record(5_000);
    histogram.record_many(5_000, 2);
    histogram.record_with_exemplar(5_000, None);
    counter.add(1);
    counter.add_with_exemplar(1, None);
    assert_eq!((histogram.count(), counter.sum()), (4, 2));
    assert_eq!((histogram.exemplars(), counter.exemplar()), (Vec::new(), None));
    histogram.record_with_exemplar(5_000, Some(ids(5_000)));
    counter.add_with_exemplar(3, Some(ids(3)));
    assert_eq!(histogram.exemplars().len(), 1);
    assert_eq!(
        counter.exemplar().map(|exemplar| (exemplar.value, exemplar.trace)),
        Some((3, ids(3)))
    );
    assert_eq!((histogram.count(), counter.sum()), (5, 5));
}

#[test]
fn the_time_is_that_of_the_record() {
    let before = SystemTime::now();
    let histogram = Histogram::new();
    histogram.record_with_exemplar(5_000, ids(5_000));
    let after = SystemTime::now();
    let time = histogram.exemplars()[0].time;
    assert!((before..=after).contains(&time), "{time:?} is not in {before:?}..={after:?}");
    assert_eq!(histogram.exemplars()[0].time, time);
}

#[test]
fn a_drain_leaves_exemplars() {
    let (histogram, counter) = (Histogram::new(), Counter::new());
    histogram.record_with_exemplar(5_000, ids(5_000));
    counter.add_with_exemplar(1, ids(1));
    assert_eq!((histogram.take().count(), counter.take()), (1, 1));
    _ = histogram.take();
    _ = counter.take();
    assert_eq!((histogram.exemplars().len(), counter.exemplar().map(|it| it.value)), (1, Some(1)));
}

labels! { struct Route { route: str } }

#[test]
fn a_removed_series_takes_its_exemplars_along() {
    static ROUTES: Family<Route, Histogram> = Family::new();
    let cart = Route { route: "cart" };
    ROUTES.with(cart).record_with_exemplar(5_000, ids(5_000));
    assert_eq!(ROUTES.with(cart).exemplars().len(), 1);
    assert!(ROUTES.remove(cart));
    assert_eq!(ROUTES.with(cart).exemplars(), []);
}

#[test]
fn statics_keep_exemplars() {
    RT.record_with_exemplar(Duration::from_millis(2), ids(2_000_000));
    HITS.add_with_exemplar(7, ids(7));
    check(Scale::DEFAULT, &RT.exemplars());
    assert_eq!(RT.exemplars()[0].value, 2_000_000);
    assert_eq!(HITS.exemplar().map(|exemplar| exemplar.trace), Some(ids(7)));
}

#[test]
fn exporters_get_them_with_the_sample() {
    let (histogram, counter) = (Histogram::new(), Counter::new());
    histogram.record_with_exemplar(5_000, ids(5_000));
    histogram.record_with_exemplar(50_000, ids(50_000));
    counter.add_with_exemplar(2, ids(2));
    let mut found = Vec::new();
    for metric in [histogram.any(), counter.any()] {
        let reading = metric.read();
        for part in reading.form.parts() {
            reading.samples(part, &mut |sample| {
                assert!(matches!(sample.value, Value::Distribution(_) | Value::Count(2)));
                found.push(sample.exemplars.to_vec());
            });
        }
    }
    assert_eq!(found, [histogram.exemplars(), vec![counter.exemplar().unwrap()]]);
}

events! {
    enum Http {
        Pass: Count,
        Rt: Histogram,
        Wait: Value,
        Body: Histogram(Scale::fixed::<1, 1, { 1 << 20 }>()),
    }
}

static HTTP: SlidingWindow<Http> = SlidingWindow::of(Duration::from_secs(60), 6);

#[test]
fn each_event_of_a_window_has_its_own() {
    let window = SlidingWindow::<Http>::builder().build().unwrap();
    for value in values() {
        window.record_with_exemplar(Http::Rt, value, ids(value));
        window.record(Http::Body, value);
        window.record_with_exemplar(Http::Body, value, None);
    }
    check(Scale::DEFAULT, &window.exemplars(Http::Rt));
    assert_eq!(window.exemplars(Http::Rt).len(), 29);
    assert_eq!(window.exemplars(Http::Body), []);
    let before = window.exemplars(Http::Rt);
    for value in values() {
        window.record_with_exemplar(Http::Body, value, ids(value));
    }
    let body = Scale::fixed::<1, 1, { 1 << 20 }>();
    check(body, &window.exemplars(Http::Body));
    assert_eq!(window.exemplars(Http::Body).len(), 23);
    assert_eq!(window.exemplars(Http::Rt), before);
    // They are as old as they are.
    window.drain_closed(|_| {});
    window.clear().unwrap();
    assert_eq!(window.exemplars(Http::Rt), before);
    assert_eq!(window.stats(Http::Wait).count, 0);
}

#[test]
fn exporters_get_those_of_a_window_with_its_distributions() {
    HTTP.add(Http::Pass, 1);
    HTTP.record_with_exemplar(Http::Body, 700, ids(700));
    let reading = HTTP.any().read();
    for part in reading.form.parts() {
        reading.samples(part, &mut |sample| {
            let is_body = sample.event == Some("Body") && part.suffix == "values";
            let expected = if is_body { HTTP.exemplars(Http::Body) } else { Vec::new() };
            assert_eq!(sample.exemplars, expected);
            assert_eq!(sample.exemplars.len(), usize::from(is_body));
        });
    }
}

/// Returns the values of a writer, of all octaves.
fn random(writer: u64) -> impl Iterator<Item = u64> {
    let mut random = Rng::with_seed(writer);
    std::iter::repeat_with(move || random.u64(..) >> random.u32(..64))
}

/// Threads write one slot and several, while others read: each exemplar is of one record, and it is
/// counted by a read that begins when it was found.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn whole_and_counted() {
    const WRITES: usize = 20_000;
    let scale = Scale::fixed::<0, 1_000, 1_000_000>();
    let (histogram, counter) = (Histogram::with_scale(scale), Counter::new());
    let ends = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut found = 0;
            loop {
                let is_last = ends.load(Ordering::Acquire);
                let exemplars = histogram.exemplars();
                check(scale, &exemplars);
                let totals = histogram.lifetime();
                for exemplar in &exemplars {
                    let is_in =
                        |cell: &std::ops::RangeInclusive<u64>| cell.contains(&exemplar.value);
                    assert!(totals.cells().any(|(cell, _)| is_in(&cell)), "{exemplar:?}");
                }
                if let Some(exemplar) = counter.exemplar() {
                    assert_eq!(exemplar.trace, ids(exemplar.value), "of two adds");
                    assert!(counter.sum() >= exemplar.value);
                }
                found += exemplars.len();
                if is_last {
                    return found;
                }
            }
        });
        race(4, |writer| {
            for value in random(writer as u64).take(WRITES) {
                histogram.record_with_exemplar(value, ids(value));
                counter.add_with_exemplar(value & 0xffff, ids(value & 0xffff));
            }
        });
        ends.store(true, Ordering::Release);
        assert!(reader.join().expect("the reader finds what it should") > 0);
    });
    assert_eq!(histogram.count(), 4 * WRITES as u64);
    assert_eq!(histogram.exemplars().len(), 13); // below, eleven octaves, above
    check(scale, &histogram.exemplars());
}

#[test]
fn the_newest_of_all_threads_is_returned() {
    in_each_strategy("exemplars::newest");
}

/// (In the portable strategies each thread has a row of its own.)
#[test]
#[ignore = "run by another test, in a process of its own"]
fn newest() {
    let (histogram, counter) = (Histogram::new(), Counter::new());
    for value in 5_000..5_020 {
        let record = || {
            histogram.record_with_exemplar(value, ids(value));
            counter.add_with_exemplar(value, ids(value));
        };
        thread::scope(|scope| scope.spawn(record).join()).expect("a record does not panic");
        let found = histogram.exemplars();
        assert_eq!((found.len(), found[0].value), (1, value));
        assert_eq!(counter.exemplar().map(|exemplar| exemplar.value), Some(value));
    }
}

#[test]
fn exemplars_are_whole_and_counted_under_threads() {
    in_each_strategy("exemplars::whole_and_counted");
}

#[test]
fn a_metric_without_exemplars_pays_a_pointer() {
    assert_eq!(size_of::<Counter>(), 3 * size_of::<u64>() + size_of::<usize>());
}

//! When all columns of the process are claimed: what counts on, what says so, and that room which
//! is given back is used.

use testkit::{alone, clock_at, ms, window};
use windrow::{Counter, Gate, Gauge, Histogram, Maximum, Minimum, Scale, columns, events};

events! {
    enum Http { Pass: Count, Rt: Histogram }
}

/// The most places: three such histograms to each 8192 columns.
const WIDE: Scale = Scale::fixed::<5, 1, { u64::MAX }>();

/// As many histograms as there is room for.
fn fill(scale: Scale) -> Vec<Histogram> {
    let mut all = Vec::new();
    loop {
        let histogram = Histogram::with_scale(scale);
        histogram.record(1);
        if !histogram.is_striped() {
            return all;
        }
        all.push(histogram);
    }
}

/// And single columns until none is left.
fn fill_up() -> Vec<Counter> {
    let mut all = Vec::new();
    loop {
        let counter = Counter::new();
        counter.increment();
        if !counter.is_striped() {
            return all;
        }
        all.push(counter);
    }
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn full() {
    let clock = clock_at(0);
    let (early, before) = (window::<Http>(ms(100), 3, &clock), Counter::new());
    early.add(Http::Pass, 1);
    before.increment();
    assert!(early.is_striped() && before.is_striped());

    let mut wide = fill(WIDE);
    assert_eq!((columns().mapped(), columns().max()), (8_388_608, 8_388_608));
    let rest = (fill(Scale::DEFAULT), fill_up());
    assert_eq!(columns().claimed(), columns().max());
    assert_eq!(columns().to_string(), "8388608 of 8388608 columns claimed");

    // All that is new counts exactly, and says that it is not striped.
    let (gauge, most, least) = (Gauge::new(), Maximum::new(), Minimum::new());
    let (counter, histogram) = (Counter::new(), Histogram::new());
    let rationed = Gate::builder(1_000).clock(clock.clone()).build_rationed(10).unwrap();
    let late = window::<Http>(ms(100), 3, &clock);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for value in 1..=100 {
                    counter.increment();
                    gauge.decrement();
                    most.record(value);
                    least.record(value);
                    histogram.record(value);
                    late.add(Http::Pass, 1);
                    late.record(Http::Rt, value);
                    assert!(rationed.try_admit(1));
                }
            });
        }
    });
    assert_eq!((counter.sum(), gauge.sum(), histogram.count()), (400, -400, 400));
    assert_eq!((most.get(), least.get()), (Some(100), Some(1)));
    assert_eq!((late.sum(Http::Pass), late.distribution(Http::Rt).count()), (400, 400));
    assert_eq!(rationed.exact().granted(), 400);
    assert!(!counter.is_striped() && !gauge.is_striped() && !histogram.is_striped());
    assert!(!most.is_striped() && !least.is_striped());
    assert!(!rationed.is_striped() && !late.is_striped());
    assert!(early.is_striped() && before.is_striped(), "they keep their columns");

    // What is given back is claimed by the next bucket, and by the next counter.
    drop(wide.pop());
    assert!(columns().claimed() < columns().max());
    clock.advance(ms(100));
    late.add(Http::Pass, 1);
    assert!(late.is_striped());
    let next = Counter::new();
    next.increment();
    assert!(next.is_striped() && !counter.is_striped());
    assert_eq!((late.sum(Http::Pass), late.lifetime(Http::Pass).sum), (401, 401));
    drop((wide, rest));
}

#[test]
fn a_full_arena_is_exact_and_says_so_and_recovers() {
    alone::in_each_strategy("full");
}

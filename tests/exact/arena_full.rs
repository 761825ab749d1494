//! All columns of the process are claimed: some metrics count on, others return errors, and columns
//! given back are used again.

use std::sync::Mutex;

use testkit::{Rng, alone, clock_at, ms, race, rounds, window};
use windrow::{
    Counter, Gate, Gauge, Histogram, Maximum, Minimum, diagnostics::columns, events,
    histogram::Scale,
};

events! {
    enum Http { Pass: Count, Rt: Histogram }
}

/// The most places: three such histograms to each 8192 columns.
const WIDE: Scale = Scale::fixed::<5, 1, { u64::MAX }>();

/// Makes histograms until the arena is full.
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
    let of_early = columns().claimed;
    before.increment();
    assert!(of_early > 0 && columns().claimed == of_early + 1);

    let mut wide = fill(WIDE);
    let max = if cfg!(target_pointer_width = "64") { 83_886_080 } else { 8_388_608 };
    assert_eq!((columns().mapped, columns().max), (max, max));
    let rest = (fill(Scale::DEFAULT), fill_up());
    assert_eq!(columns().claimed, max);
    assert_eq!(columns().to_string(), format!("{max} of {max} columns claimed"));

    // All that is new counts exactly, without a column.
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
    assert_eq!((rationed.gate().granted(), rationed.unused()), (400, 0));
    assert!(!counter.is_striped() && !histogram.is_striped());
    assert_eq!(columns().claimed, max, "all others keep their columns");
    assert!(before.is_striped());

    // Columns given back are claimed by the next bucket, and by the next counter.
    drop(wide.pop());
    let claimed = columns().claimed;
    assert!(claimed < max);
    clock.advance(ms(100));
    late.add(Http::Pass, 1);
    let with_late = columns().claimed;
    assert!(with_late > claimed);
    let next = Counter::new();
    next.increment();
    counter.increment();
    assert_eq!(columns().claimed, with_late + 1);
    assert!(next.is_striped() && !counter.is_striped());
    assert_eq!((late.sum(Http::Pass), late.lifetime(Http::Pass).sum), (401, 401));
    drop((wide, rest));
}

/// A metric that a thread of the test below has made, and its count.
enum Made {
    Counter(Counter, u64),
    Histogram(Box<Histogram>, u64),
}

impl Made {
    fn new(random: &mut Rng) -> Made {
        match random.u32(..20) {
            0 => Made::Histogram(Box::new(Histogram::with_scale(WIDE)), 0),
            1..=3 => Made::Histogram(Box::default(), 0),
            _ => Made::Counter(Counter::new(), 0),
        }
    }

    fn count(&mut self) {
        match self {
            Made::Counter(counter, n) => {
                counter.increment();
                *n += 1;
            }
            Made::Histogram(histogram, n) => {
                histogram.record(*n);
                *n += 1;
            }
        }
    }

    fn is_exact(&self) -> bool {
        match self {
            Made::Counter(counter, n) => counter.sum() == *n,
            Made::Histogram(histogram, n) => histogram.count() == *n,
        }
    }
}

/// Fills the rest of the arena, and returns the number of metrics.
fn fill_rest() -> usize {
    let rest = (fill(WIDE), fill(Scale::DEFAULT), fill_up());
    assert_eq!(columns().claimed, columns().max, "there is room, and it was refused");
    rest.0.len() + rest.1.len() + rest.2.len()
}

/// Threads fill the arena together; then they claim and give back the rest of a few segments.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn contended() {
    let held = Mutex::new((Vec::new(), Vec::new(), Vec::new()));
    race(4, |_| {
        let all = (fill(WIDE), fill(Scale::DEFAULT), fill_up());
        let mut held = held.lock().expect("no thread panics");
        held.0.extend(all.0);
        held.1.extend(all.1);
        held.2.extend(all.2);
    });
    let mut held = held.into_inner().expect("no thread panics");
    assert_eq!(columns().claimed, columns().max, "there is room, and it was refused");
    for _ in 0..12 {
        held.0.swap_remove(held.0.len() / 2);
        held.0.remove(7);
    }
    let free = columns().max - columns().claimed;
    for round in 0..rounds(10) {
        race(4, |thread| {
            let mut random = Rng::with_seed(10 * round + thread as u64);
            let mut all = Vec::new();
            for _ in 0..2_000 {
                match random.u32(..4) {
                    0 | 1 => all.push(Made::new(&mut random)),
                    2 if !all.is_empty() => {
                        let made = all.swap_remove(random.usize(..all.len()));
                        assert!(made.is_exact());
                    }
                    _ => {}
                }
                if !all.is_empty() {
                    let index = random.usize(..all.len());
                    all[index].count();
                }
            }
            assert!(all.iter().all(Made::is_exact));
        });
        assert_eq!(columns().max - columns().claimed, free, "all was given back");
        assert!(fill_rest() >= 24, "the histograms that were dropped have room again");
    }
    assert!(held.0.iter().chain(&held.1).all(|histogram| histogram.count() == 1));
    assert!(held.2.iter().all(|counter| counter.sum() == 1));
}

#[test]
fn a_full_arena_is_exact_and_finds_all_room_for_threads_that_claim_and_give_back() {
    alone::run("arena_full::contended", &[]);
}

#[test]
fn a_full_arena_is_exact_and_says_so_and_recovers() {
    alone::in_each_strategy("arena_full::full");
}

//! A thread that has counted an add has seen what the adder did before it, wherever it was counted
//! and however it was read.
//!
//! Explores one thread that leaves a plain write to be seen and then adds, and one that looks for
//! the add: if it finds it, it must see the write.

use windrow::clock::Manual;
use windrow::{
    Clock, Counter, Family, Gauge, Histogram, Maximum, Minimum, Timestamp, events,
    histogram::Scale, labels,
};
use windrow_loom_tests::engine::{UnsafeCell, sync::Arc, thread};
use windrow_loom_tests::window::{
    Hits, Window, add, each, late, lifetime, reconfigure, set_time, sum, window,
};
use windrow_loom_tests::{Model, turn};

use std::sync::atomic::Ordering;

/// Explores `tell` in one thread against `told` in another; both use what `make` returns.
fn explore<T: Send + Sync + 'static>(
    model: Model,
    make: impl Fn() -> T + Send + Sync + 'static,
    tell: fn(&T),
    told: fn(&T) -> bool,
) {
    model.explore(move || {
        let planted = Arc::new((UnsafeCell::new(0), make()));
        let teller = thread::spawn({
            let planted = Arc::clone(&planted);
            move || {
                // This thread's first add opens its row, behind a fence that would release what
                // comes here.
                Counter::new().add(1);
                // SAFETY: loom checks that no other thread uses the cell.
                planted.0.with_mut(|cell| unsafe { *cell = 7 });
                turn();
                tell(&planted.1);
            }
        });
        turn();
        if told(&planted.1) {
            // SAFETY: loom checks that no other thread writes to the cell.
            planted.0.with(|cell| assert_eq!(unsafe { *cell }, 7));
        }
        teller.join().unwrap();
    });
}

/// The first add shows the column too.
#[test]
fn by_the_first_add() {
    let told = |counter: &Counter| counter.sum() == 1;
    explore(Model::new("seen::by_the_first_add"), Counter::new, |counter| counter.add(1), told);
}

labels! {
    struct Route { route: str }
}

/// The first add through a handle repeats the word of the column in the handle. The other thread
/// adds through the handle too: if it finds the word, it finds the column's cells.
#[test]
fn by_the_first_add_through_a_handle() {
    explore(
        Model::new("seen::by_the_first_add_through_a_handle").bounded(3),
        || {
            let family: Family<Route, Counter> = Family::new();
            family.handle(Route { route: "/" })
        },
        |handle| handle.add(1),
        |handle| {
            handle.add(2);
            handle.sum() == 3
        },
    );
}

/// After its first add, which publishes its column.
fn used_counter() -> Counter {
    let counter = Counter::new();
    counter.add(1);
    counter
}

#[test]
fn by_a_drain() {
    let told = |counter: &Counter| counter.take() == 2;
    explore(Model::new("seen::by_a_drain"), used_counter, |counter| counter.add(1), told);
}

/// Adds and loads order memory, though the caller asks for Relaxed.
#[test]
fn by_a_load() {
    explore(
        Model::new("seen::by_a_load"),
        used_counter,
        |counter| counter.fetch_add(1, Ordering::Relaxed),
        |counter| counter.load(Ordering::Relaxed) == 2,
    );
}

#[test]
fn by_a_gauge() {
    let make = || {
        let gauge = Gauge::new();
        gauge.add(3);
        gauge
    };
    let told = |gauge: &Gauge| gauge.sum() == 2;
    explore(Model::new("seen::by_a_gauge"), make, |gauge| gauge.add(-1), told);
}

/// Zero shows by a flag beside the cells.
#[test]
fn by_a_maximum_of_zero() {
    let told = |maximum: &Maximum| maximum.get() == Some(0);
    explore(Model::new("seen::by_a_maximum_of_zero"), Maximum::new, |it| it.record(0), told);
}

#[test]
fn by_a_taken_maximum() {
    let told = |maximum: &Maximum| maximum.take() == Some(7);
    explore(Model::new("seen::by_a_taken_maximum"), Maximum::new, |it| it.record(7), told);
}

#[test]
fn by_a_taken_zero() {
    let told = |maximum: &Maximum| maximum.take() == Some(0);
    explore(Model::new("seen::by_a_taken_zero"), Maximum::new, |it| it.record(0), told);
}

#[test]
fn by_a_maximum() {
    let told = |maximum: &Maximum| {
        let found = maximum.get();
        assert!([None, Some(7)].contains(&found), "{found:?} was never the maximum");
        found.is_some()
    };
    explore(Model::new("seen::by_a_maximum"), Maximum::new, |maximum| maximum.record(7), told);
}

/// Not the first record.
#[test]
fn by_a_minimum() {
    let make = || {
        let minimum = Minimum::new();
        minimum.record(9);
        minimum
    };
    let told = |minimum: &Minimum| minimum.get() == Some(7);
    explore(Model::new("seen::by_a_minimum"), make, |minimum| minimum.record(7), told);
}

/// More counters than there are columns in a model; the last has none.
fn last<T>(new: fn() -> T, first_use: impl Fn(&T)) -> Vec<T> {
    let all: Vec<T> = (0..17).map(|_| new()).collect();
    all.iter().for_each(first_use);
    all
}

#[test]
fn without_a_column() {
    explore(
        Model::new("seen::without_a_column"),
        || last(Counter::new, Counter::increment),
        |counters| counters[16].add(1),
        |counters| counters[16].sum() == 2,
    );
}

#[test]
fn by_a_maximum_without_a_column() {
    explore(
        Model::new("seen::by_a_maximum_without_a_column"),
        || last(Maximum::new, |maximum| maximum.record(3)),
        |maxima| maxima[16].record(7),
        |maxima| maxima[16].get() == Some(7),
    );
}

fn used_histogram() -> Histogram {
    let histogram = Histogram::with_scale(Scale::fixed::<0, 1, 1>());
    histogram.record(1);
    histogram
}

/// The first record shows the columns too.
#[test]
fn by_the_first_record() {
    explore(
        Model::new("seen::by_the_first_record").bounded(3),
        || Histogram::with_scale(Scale::fixed::<0, 1, 1>()),
        |histogram| histogram.record(1),
        |histogram| histogram.lifetime().count() == 1,
    );
}

#[test]
fn by_a_distribution() {
    explore(
        Model::new("seen::by_a_distribution"),
        used_histogram,
        |histogram| histogram.record(1),
        |histogram| histogram.lifetime().count() == 2,
    );
}

#[test]
fn by_the_sum_of_a_histogram() {
    explore(
        Model::new("seen::by_the_sum_of_a_histogram"),
        used_histogram,
        |histogram| histogram.record(2),
        |histogram| histogram.sum() == 3,
    );
}

/// There is no column left, so it counts in shared cells.
#[test]
fn by_a_histogram_without_columns() {
    explore(
        Model::new("seen::by_a_histogram_without_columns"),
        || (last(Counter::new, Counter::increment), used_histogram()),
        |all| all.1.record(1),
        |all| all.1.lifetime().count() == 2,
    );
}

#[test]
fn by_the_sum_of_a_histogram_without_columns() {
    explore(
        Model::new("seen::by_the_sum_of_a_histogram_without_columns"),
        || (last(Counter::new, Counter::increment), used_histogram()),
        |all| all.1.record(2),
        |all| all.1.sum() == 3,
    );
}

fn at_bucket_1() -> Window {
    set_time(1);
    window(2)
}

/// With a bucket before the live one, so that an add there does not publish one of its own.
fn after_a_back_dated_add() -> Window {
    let window = at_bucket_1();
    add(&window, 0, 1);
    window
}

fn bounded(name: &'static str) -> Model {
    Model::new(name).bounded(3).bounded_over_epoch(2)
}

/// Also across a rotation.
#[test]
fn by_a_sum() {
    let add = |window: &Window| {
        add(window, 1, 1);
        add(window, 2, 1);
    };
    explore(bounded("seen::by_a_sum"), at_bucket_1, add, |window| sum(window, 2) > 0);
}

#[test]
fn back_dated_by_a_sum() {
    let told = |window: &Window| sum(window, 1) == 2;
    let model = bounded("seen::back_dated_by_a_sum");
    explore(model, after_a_back_dated_add, |window| add(window, 0, 1), told);
}

/// The add that inserts the bucket.
#[test]
fn first_back_dated_by_a_sum() {
    let model = bounded("seen::first_back_dated_by_a_sum");
    explore(model, at_bucket_1, |window| add(window, 0, 1), |window| sum(window, 1) == 1);
}

#[test]
fn back_dated_by_a_drain() {
    let told = |window: &Window| {
        let mut found = 0;
        window.drain_closed(|bucket| found += bucket.sum(Hits::Hit));
        found == 2
    };
    let model = bounded("seen::back_dated_by_a_drain");
    explore(model, after_a_back_dated_add, |window| add(window, 0, 1), told);
}

#[test]
fn back_dated_by_a_snapshot() {
    let told = |window: &Window| each(window, 1)[0] == 2;
    let model = bounded("seen::back_dated_by_a_snapshot");
    explore(model, after_a_back_dated_add, |window| add(window, 0, 1), told);
}

#[test]
fn back_dated_by_the_lifetime() {
    let told = |window: &Window| lifetime(window) == 2;
    let model = bounded("seen::back_dated_by_the_lifetime");
    explore(model, after_a_back_dated_add, |window| add(window, 0, 1), told);
}

fn at_bucket_2() -> Window {
    set_time(2);
    window(1)
}

#[test]
fn late_adds() {
    let name = "seen::late_adds";
    explore(bounded(name), at_bucket_2, |window| add(window, 0, 1), |window| late(window) > 0);
}

events! {
    /// An event with extremes.
    enum Timing { Took: Value }
}

/// A maximum is seen where it went when its block forgot it.
#[test]
fn by_the_lifetime_of_extremes() {
    let make = || {
        set_time(1);
        window::<Timing>(1)
    };
    let tell = |window: &Window<Timing>| {
        set_time(1);
        window.record(Timing::Took, 5);
        set_time(2);
        turn();
        window.record(Timing::Took, 1);
    };
    let told = |window: &Window<Timing>| window.lifetime(Timing::Took).max == Some(5);
    explore(
        Model::new("seen::by_the_lifetime_of_extremes").bounded(2).bounded_over_epoch(1),
        make,
        tell,
        told,
    );
}

/// A maximum that only itself shows: its bucket has a count already.
#[test]
fn by_a_maximum_in_a_window() {
    let make = || {
        set_time(1);
        let window = window::<Timing>(1);
        window.record(Timing::Took, 3);
        window
    };
    let tell = |window: &Window<Timing>| {
        set_time(1);
        window.record(Timing::Took, 7);
    };
    let told = |window: &Window<Timing>| window.lifetime(Timing::Took).max == Some(7);
    let model = Model::new("seen::by_a_maximum_in_a_window").bounded(2).bounded_over_epoch(1);
    explore(model, make, tell, told);
}

events! {
    /// An event whose maximum is kept.
    enum Queue { Depth: Maximum }
}

/// A maximum alone, which has no count that would show it.
#[test]
fn by_a_maximum_alone_in_a_window() {
    let make = || {
        set_time(1);
        window::<Queue>(1)
    };
    let tell = |window: &Window<Queue>| {
        set_time(1);
        window.record(Queue::Depth, 7);
    };
    let told = |window: &Window<Queue>| {
        set_time(1);
        window.stats(Queue::Depth).max == Some(7)
    };
    let model = Model::new("seen::by_a_maximum_alone_in_a_window").bounded(2).bounded_over_epoch(1);
    explore(model, make, tell, told);
}

/// By a thread that sees the new geometry.
#[test]
fn by_a_change_of_geometry() {
    let tell = |window: &Window| reconfigure(window, 3);
    let told = |window: &Window| window.buckets() == 3;
    explore(bounded("seen::by_a_change_of_geometry"), at_bucket_1, tell, told);
}

/// By a thread that sees the time.
#[test]
fn by_the_manual_clock() {
    let told = |clock: &Manual| clock.now().as_nanos() == 3;
    let set = |clock: &Manual| clock.set(Timestamp::from_nanos(3));
    explore(Model::new("seen::by_the_manual_clock"), Manual::default, set, told);
    let advance = |clock: &Manual| clock.advance(std::time::Duration::from_nanos(3));
    explore(Model::new("seen::by_the_manual_clock"), Manual::default, advance, told);
}

//! I8 and I9, while a row opens: an add that has returned is in every read that begins afterwards,
//! although its row was not open when the last read began.
//!
//! Explores a thread whose adds open a row against sums, drains, closes, and columns that change
//! hands. Per core that thread runs on the second core; portably it is the second that is dealt a
//! row. (In a model, the add of a count that opens a row goes beside it: what comes after it goes
//! there.)

use windrow::{Counter, Maximum, events};
use windrow_loom_tests::engine::{on_second_core, sync::Arc, sync::atomic::AtomicBool, thread};
use windrow_loom_tests::window::{Window, add, each, lifetime, set_time, sum, window};
use windrow_loom_tests::{Model, turn};

use crate::spawn;

use std::sync::atomic::Ordering::{Acquire, Release};

fn count(counter: &Counter, n: u64) {
    turn();
    counter.add(n);
}

/// A reader counts every add that it learns of.
#[test]
fn sum_behind_an_add_to_a_new_row() {
    Model::new("open_rows::sum_behind_an_add_to_a_new_row").explore(|| {
        let counter = Arc::new((Counter::new(), AtomicBool::new(false)));
        count(&counter.0, 4);
        let other = thread::spawn({
            let counter = Arc::clone(&counter);
            move || {
                on_second_core();
                count(&counter.0, 1);
                count(&counter.0, 2);
                counter.1.store(true, Release);
            }
        });
        turn();
        let told = counter.1.load(Acquire);
        let found = counter.0.sum();
        assert!([4, 5, 7].contains(&found), "{found} was never the count");
        assert!(found == 7 || !told, "{found} of 7 that were there");
        other.join().unwrap();
        assert_eq!(counter.0.sum(), 7);
    });
}

/// A later reader counts every add that an earlier one has counted.
#[test]
fn sum_behind_a_sum_of_a_new_row() {
    Model::new("open_rows::sum_behind_a_sum_of_a_new_row").bounded(3).explore(|| {
        let counter = Arc::new((Counter::new(), AtomicBool::new(false)));
        count(&counter.0, 4);
        let adder = thread::spawn({
            let counter = Arc::clone(&counter);
            move || {
                on_second_core();
                count(&counter.0, 1);
                count(&counter.0, 2);
            }
        });
        let reader = thread::spawn({
            let counter = Arc::clone(&counter);
            move || {
                turn();
                let found = counter.0.sum();
                counter.1.store(true, Release);
                found
            }
        });
        turn();
        let is_second = counter.1.load(Acquire);
        let mine = counter.0.sum();
        let theirs = reader.join().unwrap();
        assert!(theirs <= mine || !is_second, "the sum went from {theirs} to {mine}");
        adder.join().unwrap();
    });
}

/// The row that a drain has counted, the next one counts too.
#[test]
fn drain_behind_a_drain_of_a_new_row() {
    Model::new("open_rows::drain_behind_a_drain_of_a_new_row").bounded(3).explore(|| {
        let counter = Arc::new(Counter::new());
        count(&counter, 4);
        let other = thread::spawn({
            let counter = Arc::clone(&counter);
            move || {
                on_second_core();
                count(&counter, 1);
                count(&counter, 2);
                counter.take()
            }
        });
        let drain = || {
            turn();
            let drained = counter.take();
            assert!(drained <= 7, "a drain went below zero: {}", drained.cast_signed());
            drained
        };
        let mine = drain() + drain();
        assert_eq!(mine + other.join().unwrap() + drain(), 7);
    });
}

/// A maximum in a new row, and a reader that learns of it.
#[test]
fn maximum_of_a_new_row() {
    Model::new("open_rows::maximum_of_a_new_row").explore(|| {
        let highest = Arc::new((Maximum::new(), AtomicBool::new(false)));
        highest.0.record(3);
        let other = thread::spawn({
            let highest = Arc::clone(&highest);
            move || {
                on_second_core();
                turn();
                highest.0.record(5);
                highest.0.record(8);
                highest.1.store(true, Release);
            }
        });
        turn();
        let told = highest.1.load(Acquire);
        let found = highest.0.get();
        assert!(found == Some(8) || !told && found >= Some(3), "{found:?} was not the highest");
        other.join().unwrap();
    });
}

/// A counter in two rows, one of them new, is dropped by the thread that is last. Its column, which
/// is among the last three, is all zeros.
#[test]
fn column_freed_with_its_new_row() {
    const OTHERS: usize = 16 - 3;
    Model::new("open_rows::column_freed_with_its_new_row").explore(|| {
        let rest: Vec<Counter> = (0..OTHERS).map(|_| Counter::new()).collect();
        for counter in &rest {
            counter.add(1);
        }
        let counter = Arc::new(Counter::new());
        count(&counter, 4);
        let other = thread::spawn({
            let counter = Arc::clone(&counter);
            move || {
                on_second_core();
                count(&counter, 1);
                count(&counter, 2);
            }
        });
        turn();
        drop(counter);
        let next = Counter::new();
        next.add(8);
        assert_eq!(next.sum(), 8);
        other.join().unwrap();
        let last = [Counter::new(), Counter::new()];
        last[0].add(16);
        last[1].add(16);
        assert_eq!([last[0].sum(), last[1].sum()], [16, 16]);
        assert_eq!(next.sum(), 8);
        assert!(!last[1].by_row().rows.is_empty(), "the arena has 16 columns");
        drop(rest);
    });
}

/// A row opens while its bucket is retired and closed: its adds are in the bucket's totals, or came
/// too late for its block.
#[test]
fn close_against_an_add_to_a_new_row() {
    let name = "open_rows::close_against_an_add_to_a_new_row";
    Model::new(name).bounded(2).bounded_over_epoch(1).explore(|| {
        set_time(3);
        let window = Arc::new(window(3));
        add(&window, 3, 4);
        let other = spawn(&window, |window| {
            on_second_core();
            add(window, 3, 1);
            add(window, 3, 2);
        });
        add(&window, 4, 8);
        add(&window, 4, 16);
        other.join().unwrap();
        assert_eq!(each(&window, 4)[1..], [7, 24]);
        add(&window, 5, 32);
        assert_eq!(each(&window, 5), [7, 24, 32]);
        assert_eq!(lifetime(&window), 63);
    });
}

events! {
    /// An event whose first add goes through the block of the bucket that it opens, in a model too.
    enum Times { Took: Value }
}

fn record(window: &Window<Times>, bucket: u64, value: u64) {
    set_time(bucket);
    turn();
    window.record(Times::Took, value);
}

/// The live bucket's rows grow in number, and then it is the next bucket: a sum at once subtracts
/// from the prefix the sum that it finds in the blocks, no less.
#[test]
fn sum_at_once_against_a_new_row() {
    let name = "open_rows::sum_at_once_against_a_new_row";
    Model::new(name).bounded(2).bounded_over_epoch(1).bounded_per_core(1).explore(|| {
        set_time(3);
        let window: Arc<Window<Times>> = Arc::new(window(2));
        record(&window, 3, 32);
        record(&window, 4, 64);
        let other = spawn(&window, |window| {
            on_second_core();
            record(window, 4, 1);
            record(window, 5, 2); // its prefix has the row, or not, as the block's base does
        });
        set_time(4);
        turn();
        let found = window.sum(Times::Took);
        assert!([96, 97, 65, 64].contains(&found), "{found} was never the sum");
        other.join().unwrap();
        set_time(5);
        assert_eq!(window.sum(Times::Took), 67);
    });
}

/// The extremes of a new row are seen with its count, kept when the bucket is closed, and then
/// forgotten in its block.
#[test]
fn extremes_of_a_new_row() {
    let name = "open_rows::extremes_of_a_new_row";
    Model::new(name).bounded(2).bounded_over_epoch(1).bounded_per_core(1).explore(|| {
        set_time(3);
        let window: Arc<Window<Times>> = Arc::new(window(1));
        record(&window, 3, 4);
        let other = spawn(&window, |window| {
            on_second_core();
            record(window, 3, 9);
        });
        turn();
        let found = window.stats(Times::Took);
        let (one, two) = ((1, 4, Some(4)), (2, 13, Some(9)));
        // In the live bucket sum and extremes may run ahead of the count.
        assert!(found.count == 1 || (found.count, found.sum, found.max) == two, "{found:?}");
        assert!((found.count, found.sum, found.max) >= one, "{found:?}");
        other.join().unwrap();
        record(&window, 4, 5);
        let (live, all) = (window.stats(Times::Took), window.lifetime(Times::Took));
        assert_eq!((live.count, live.min, live.max), (1, Some(5), Some(5)));
        assert_eq!((all.count, all.sum, all.min, all.max), (3, 18, Some(4), Some(9)));
    });
}

/// Bounds of a sum while a row opens in a window that nothing rotates.
#[test]
fn window_sum_behind_an_add_to_a_new_row() {
    let name = "open_rows::window_sum_behind_an_add_to_a_new_row";
    Model::new(name).bounded(3).bounded_over_epoch(1).explore(|| {
        set_time(3);
        let window = Arc::new(window(2));
        let told = Arc::new(AtomicBool::new(false));
        add(&window, 3, 4);
        let other = spawn(&window, {
            let told = Arc::clone(&told);
            move |window| {
                on_second_core();
                add(window, 3, 1);
                add(window, 3, 2);
                told.store(true, Release);
            }
        });
        turn();
        let is_told = told.load(Acquire);
        let found = sum(&window, 3);
        assert!((4..=7).contains(&found), "{found} is not between the counts");
        assert!(found == 7 || !is_told, "{found} of 7 that were there");
        other.join().unwrap();
    });
}

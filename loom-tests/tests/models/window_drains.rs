//! I8, of buckets: a closed bucket is handed out once, though the geometry changes meanwhile.
//!
//! Explores drains against changes of geometry, which carry what still awaits its turn; and buckets
//! that are closed without an add.

use windrow_loom_tests::engine::sync::Arc;
use windrow_loom_tests::window::{Hits, Window, add, lifetime, reconfigure, set_time, window};
use windrow_loom_tests::{Model, turn};

use crate::spawn;

/// Over the checking reclaimer a grace period passes as soon as it can.
const CHECKED: bool = cfg!(windrow_checker);

/// Returns what one call hands out.
fn drained(window: &Window) -> u64 {
    let mut found = 0;
    turn();
    window.drain_closed(|bucket| found += bucket.sum(Hits::Hit));
    found
}

/// Bucket 0 is inherited; the change carries it, unless its turn has passed.
#[test]
fn drain_against_the_change_that_carries() {
    Model::new("window_drains::drain_against_the_change_that_carries")
        .bounded(2)
        .bounded_over_epoch(1)
        .explore(|| {
            set_time(0);
            let window = Arc::new(window(2));
            add(&window, 0, 1);
            add(&window, 1, 2);
            reconfigure(&window, 3);
            let other = spawn(&window, |window| reconfigure(window, 2));
            let first = drained(&window);
            other.join().unwrap();
            let second = drained(&window);
            // The buckets closed by then depend on the epochs.
            assert_eq!(first + second, first | second, "handed out twice: {first}, then {second}");
            assert_eq!((first | second) & !3, 0, "{first}, then {second}");
            if CHECKED {
                assert_eq!(first | second, 3, "lost: {first}, then {second}");
            }
            assert_eq!(lifetime(&window), 3);
        });
}

/// One thread drains at a time, and two hand out no bucket twice.
#[test]
fn drain_against_drain_behind_the_change_that_carries() {
    Model::long("window_drains::drain_against_drain_behind_the_change_that_carries").explore(
        || {
            set_time(0);
            let window = Arc::new(window(2));
            add(&window, 0, 1);
            add(&window, 1, 2);
            reconfigure(&window, 3);
            let other = spawn(&window, |window| {
                reconfigure(window, 2);
                drained(window)
            });
            let first = drained(&window);
            let second = other.join().unwrap();
            let third = drained(&window);
            assert_eq!(first + second + third, first | second | third, "handed out twice");
            assert_eq!((first | second | third) & !3, 0);
        },
    );
}

/// The thread that opens the next bucket, with or without an add, closes an ended one. Adds to it
/// meanwhile are in it, or counted beside its turn.
#[test]
fn drain_behind_a_close_of_what_is_over_against_adds() {
    Model::longest("window_drains::drain_behind_a_close_of_what_is_over_against_adds").explore(
        || {
            set_time(0);
            let window = Arc::new(window(3));
            add(&window, 0, 1);
            let other = spawn(&window, |window| {
                add(window, 0, 2);
                add(window, 1, 4);
            });
            set_time(1);
            turn();
            window.close_past();
            let first = drained(&window);
            other.join().unwrap();
            set_time(2);
            turn();
            window.close_past();
            let rest = drained(&window);
            assert_eq!(first & !3, 0, "bucket 1 is not over: {first}");
            assert_eq!(first & rest, 0, "handed out twice: {first}, then {rest}");
            if CHECKED {
                assert_eq!((first | rest) & 5, 5, "lost: {first}, then {rest}");
            }
            assert_eq!(lifetime(&window), 7);
        },
    );
}

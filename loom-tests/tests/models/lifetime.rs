//! I7: at rest `lifetime` equals everything added, and while adds run it never goes back.
//!
//! Explores readers of `lifetime` against adds that rotate, close, come late and are back-dated.

use windrow::snapshot::Moment;
use windrow_loom_tests::engine::sync::Arc;
use windrow_loom_tests::window::{Hits, add, lifetime, reconfigure, set_time, window};
use windrow_loom_tests::{Model, turn};

use crate::spawn;

/// Two looks while buckets open and close.
#[test]
fn lifetime_against_rotations() {
    Model::new("lifetime::lifetime_against_rotations").bounded_over_epoch(2).explore(|| {
        set_time(0);
        let window = Arc::new(window(1));
        add(&window, 0, 1);
        let other = spawn(&window, |window| {
            add(window, 1, 2);
            add(window, 2, 4);
        });
        let (first, second) = (lifetime(&window), lifetime(&window));
        assert!((1..=7).contains(&first), "{first} is out of bounds");
        assert!((first..=7).contains(&second), "went from {first} to {second}");
        other.join().unwrap();
        assert_eq!(lifetime(&window), 7);
    });
}

/// Two moments while buckets open and close: what lies between them was added, and the rest was
/// before or came behind.
#[test]
fn moments_against_rotations() {
    Model::new("lifetime::moments_against_rotations").bounded_over_epoch(2).explore(|| {
        set_time(0);
        let window = Arc::new(window(1));
        let built = window.moment();
        add(&window, 0, 1);
        let other = spawn(&window, |window| {
            add(window, 1, 2);
            add(window, 2, 4);
        });
        turn();
        let first = window.moment();
        turn();
        let second = window.moment();
        let hits = |to: &Moment<Hits>, from| to.since(from).map(|since| since.sum(Hits::Hit));
        let (before, between) = (hits(&first, &built), hits(&second, &first));
        // In any combination: counts beside blocks are read last, so 4 may be present without 2.
        let may_be = [Some(1), Some(3), Some(5), Some(7)];
        assert!(may_be.contains(&before), "{before:?} were never there");
        let may_be = [Some(0), Some(2), Some(4), Some(6)];
        assert!(may_be.contains(&between), "{between:?} were not added");
        other.join().unwrap();
        let rest = hits(&window.moment(), &second);
        assert_eq!(before.zip(between).zip(rest).map(|((a, b), c)| a + b + c), Some(7));
    });
}

/// Two looks while a back-dated add goes to shared cells and a late one goes nowhere else.
#[test]
fn lifetime_against_back_dated_adds() {
    Model::new("lifetime::lifetime_against_back_dated_adds").bounded_over_epoch(2).explore(|| {
        set_time(0);
        let window = Arc::new(window(2));
        add(&window, 2, 1);
        let other = spawn(&window, |window| {
            add(window, 1, 2);
            add(window, 0, 4);
        });
        let (first, second) = (lifetime(&window), lifetime(&window));
        assert!((1..=7).contains(&first), "{first} is out of bounds");
        assert!((first..=7).contains(&second), "went from {first} to {second}");
        other.join().unwrap();
        assert_eq!(lifetime(&window), 7);
    });
}

/// A change of geometry moves no number.
#[test]
fn lifetime_against_reconfigure() {
    Model::new("lifetime::lifetime_against_reconfigure").bounded_over_epoch(2).explore(|| {
        set_time(0);
        let window = Arc::new(window(2));
        add(&window, 0, 1);
        let other = spawn(&window, |window| {
            reconfigure(window, 1);
            add(window, 1, 2);
        });
        let found = lifetime(&window);
        assert!([1, 3].contains(&found), "{found} was never the count");
        other.join().unwrap();
        assert_eq!(lifetime(&window), 3);
    });
}

//! Lookups that announce their series, against what removes and frees it.

use std::sync::atomic::Ordering::Relaxed;

use windrow_loom_tests::{Model, turn};

use super::{Key, add, family, lifetime, of, remove, spawn};

/// A thread that has a slot announces the series that it finds. The series is freed when that is
/// taken back, whatever the thread did in the meantime; and what it added is remembered.
#[test]
fn an_add_against_a_removal() {
    Model::new("families::announced::an_add_against_a_removal").bounded(2).explore(|| {
        let family = family();
        add(&family, 1, 1);
        let other = spawn(&family, |family| {
            let first = of(family, 2); // by a pin, since it has no slot yet
            turn();
            let series = family.with(Key { key: 1 });
            turn();
            series.0.fetch_add(2, Relaxed);
            first
        });
        assert!(remove(&family, 1));
        let found = lifetime(&family);
        assert!(found == 1 || found == 3, "{found}");
        other.join().unwrap();
        for _ in 0..3 {
            assert_eq!(lifetime(&family), 3, "whether or not it was freed");
        }
    });
}

/// A thread announces the second series of a list, while the first is removed, whose link stays as
/// it was; and then the second.
#[test]
fn a_second_series_against_two_removals() {
    Model::new("families::announced::a_second_series_against_two_removals").bounded(2).explore(
        || {
            let family = family();
            add(&family, 1, 1);
            add(&family, 2, 2);
            let other = spawn(&family, |family| {
                turn();
                let _none = family.get(Key { key: 3 }); // takes the slot
                turn();
                family.get(Key { key: 1 }).map(|series| series.0.fetch_add(4, Relaxed)).is_some()
            });
            assert!(remove(&family, 2) && remove(&family, 1));
            let _freed = lifetime(&family);
            let sum = if other.join().unwrap() { 7 } else { 3 };
            for _ in 0..3 {
                assert_eq!(lifetime(&family), sum, "whether or not they were freed");
            }
        },
    );
}

/// A thread keeps two series at a time: the second one by a pin. Both are removed.
#[test]
fn two_series_against_their_removals() {
    Model::new("families::announced::two_series_against_their_removals").bounded(1).explore(|| {
        let family = family();
        add(&family, 1, 1);
        add(&family, 2, 2);
        let other = spawn(&family, |family| {
            turn();
            let _none = family.get(Key { key: 3 }); // takes the slot
            let first = family.with(Key { key: 2 });
            let second = family.with(Key { key: 2 });
            turn();
            second.0.fetch_add(4, Relaxed);
            drop(second);
            turn();
            first.0.fetch_add(8, Relaxed);
        });
        assert!(remove(&family, 2) && remove(&family, 1));
        other.join().unwrap();
        for _ in 0..3 {
            assert_eq!(lifetime(&family), 15, "whether or not they were freed");
        }
    });
}

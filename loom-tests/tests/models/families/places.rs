//! Places of a family: a set is refused only if other sets have all of them.

use windrow_loom_tests::Model;
use windrow_loom_tests::engine::sync::Arc;

use super::{Numbers, add, lifetime, remove, spawn};

/// There is never more than one series in a family limited to one; and uses of the overflow series
/// are counted.
#[test]
fn two_sets_and_room_for_one() {
    Model::new("families::places::two_sets_and_room_for_one")
        .bounded(3)
        .bounded_over_epoch(1)
        .explore(|| {
            let family = Arc::new(Numbers::new().with_max_series(1));
            let other = spawn(&family, |family| add(family, 1, 1));
            add(&family, 2, 2);
            assert!(family.iter().filter(|series| series.labels().is_some()).count() <= 1);
            other.join().unwrap();
            assert_eq!((family.len(), lifetime(&family)), (1, 3));
        });
}

/// Two threads use the only set, for which there is a place: neither is refused.
#[test]
fn one_set_and_room_for_one() {
    Model::new("families::places::one_set_and_room_for_one")
        .bounded(3)
        .bounded_over_epoch(1)
        .explore(|| {
            let family = Arc::new(Numbers::new().with_max_series(1));
            let other = spawn(&family, |family| add(family, 1, 1));
            add(&family, 1, 2);
            other.join().unwrap();
            assert_eq!((family.refused(), family.len(), lifetime(&family)), (0, 1, 3));
        });
}

/// The only set comes and goes beside a use of it: the use finds it, or its place.
#[test]
fn one_set_that_leaves_and_room_for_one() {
    Model::new("families::places::one_set_that_leaves_and_room_for_one")
        .bounded(3)
        .bounded_over_epoch(1)
        .explore(|| {
            let family = Arc::new(Numbers::new().with_max_series(1));
            let other = spawn(&family, |family| add(family, 1, 1));
            add(&family, 1, 2);
            remove(&family, 1);
            other.join().unwrap();
            assert_eq!((family.refused(), lifetime(&family)), (0, 3));
        });
}

/// Two threads take a place each for the same set, and one of them gives it back: a third does not
/// miss it. (Over `crossbeam-epoch` three threads that pin have half a million orders with one
/// preemption alone.)
#[test]
fn two_sets_three_threads_and_room_for_two() {
    Model::long("families::places::two_sets_three_threads_and_room_for_two")
        .bounded_over_epoch(0)
        .explore(|| {
            let family = Arc::new(Numbers::new().with_max_series(2));
            let others = [1, 2].map(|n| spawn(&family, move |family| add(family, 1, n)));
            add(&family, 2, 4);
            for other in others {
                other.join().unwrap();
            }
            assert_eq!((family.refused(), family.len(), lifetime(&family)), (0, 2, 7));
        });
}

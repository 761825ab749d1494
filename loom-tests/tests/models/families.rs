//! Families: a set of labels has one series, whichever thread makes it; no series is freed while a
//! thread may use it; and all counts are in the lifetime, removed or not.
//!
//! In a model a table has one place, so all series are in one list. The metric is one relaxed
//! number: what a thread sees of another's, it sees by the family's own synchronisation.

#[cfg(windrow_announced)]
mod announced;
mod looks;
mod places;

use std::sync::atomic::Ordering::Relaxed;

use windrow::{Family, family::Metric, labels};
use windrow_loom_tests::engine::sync::Arc;
use windrow_loom_tests::engine::sync::atomic::AtomicU64;
use windrow_loom_tests::engine::thread;
use windrow_loom_tests::{Model, turn};

labels! {
    struct Key { key: u8 }
    enum Side { Left, Middle, Right }
    struct Sides { side: Side }
}

#[derive(Default)]
struct Number(AtomicU64);

impl Metric for Number {
    type Total = u64;

    fn total(&self) -> u64 {
        self.0.load(Relaxed)
    }

    fn merge(one: &mut u64, other: u64) {
        *one += other;
    }
}

type Numbers = Family<Key, Number>;

fn family() -> Arc<Numbers> {
    Arc::new(Family::new())
}

fn add(family: &Numbers, key: u8, n: u64) {
    turn();
    family.with(Key { key }).0.fetch_add(n, Relaxed);
}

fn of(family: &Numbers, key: u8) -> u64 {
    turn();
    family.with(Key { key }).0.load(Relaxed)
}

fn remove(family: &Numbers, key: u8) -> bool {
    turn();
    family.remove(Key { key })
}

fn lifetime(family: &Numbers) -> u64 {
    turn();
    family.lifetime()
}

fn spawn<T: Send + 'static>(
    family: &Arc<Numbers>,
    body: impl FnOnce(&Numbers) -> T + Send + 'static,
) -> thread::JoinHandle<T> {
    let family = Arc::clone(family);
    thread::spawn(move || body(&family))
}

/// Both threads find no series, and make one.
#[test]
fn two_threads_make_the_same_series() {
    Model::new("families::two_threads_make_the_same_series").bounded_over_epoch(2).explore(|| {
        let family = family();
        let other = spawn(&family, |family| add(family, 1, 1));
        add(&family, 1, 2);
        other.join().unwrap();
        assert_eq!((of(&family, 1), family.len(), lifetime(&family)), (3, 1, 3));
    });
}

/// The loser of one insertion must look again, and find its series behind another inserted one.
#[test]
fn two_threads_make_two_series_in_one_list() {
    Model::new("families::two_threads_make_two_series_in_one_list")
        .bounded(3)
        .bounded_over_epoch(1)
        .explore(|| {
            let family = family();
            let other = spawn(&family, |family| {
                add(family, 1, 1);
                add(family, 2, 2);
            });
            add(&family, 2, 4);
            add(&family, 1, 8);
            other.join().unwrap();
            assert_eq!((of(&family, 1), of(&family, 2), family.len()), (9, 6, 2));
        });
}

/// An add that has found its series just before it was removed is in the lifetime, and finds
/// memory.
#[test]
fn an_add_against_a_removal() {
    Model::new("families::an_add_against_a_removal").bounded(3).bounded_over_epoch(1).explore(
        || {
            let family = family();
            add(&family, 1, 1);
            let other = spawn(&family, |family| add(family, 1, 2));
            assert!(remove(&family, 1));
            let found = lifetime(&family);
            assert!(found == 1 || found == 3, "{found}");
            other.join().unwrap();
            for _ in 0..3 {
                assert_eq!(lifetime(&family), 3, "whether or not it was freed");
            }
            assert!([0, 2].contains(&of(&family, 1)));
        },
    );
}

/// A sweep that finds a list empty keeps no later one from the series that comes to it meanwhile.
#[test]
fn a_sweep_of_an_empty_list_against_an_insertion() {
    Model::new("families::a_sweep_of_an_empty_list_against_an_insertion").explore(|| {
        let family = Arc::new(Family::<Sides, Number>::new());
        let looks = |count| {
            turn();
            let mut looks = 0;
            family.retain_next(count, |_| {
                looks += 1;
                true
            });
            looks
        };
        for side in [Side::Left, Side::Middle] {
            drop(family.with(Sides { side }));
        }
        assert_eq!(looks(2), 2);
        let other = {
            let family = Arc::clone(&family);
            thread::spawn(move || {
                turn();
                drop(family.with(Sides { side: Side::Right }));
            })
        };
        assert_eq!(looks(1), 1, "of the last list, or of the first");
        other.join().unwrap();
        assert_eq!(looks(usize::MAX), 3);
    });
}

/// A series is inserted before the head that is just being removed, or after it has been.
#[test]
fn an_insertion_against_a_removal() {
    Model::new("families::an_insertion_against_a_removal")
        .bounded(3)
        .bounded_over_epoch(1)
        .explore(|| {
            let family = family();
            add(&family, 1, 1);
            add(&family, 2, 2);
            let other = spawn(&family, |family| add(family, 3, 4));
            assert!(remove(&family, 2));
            assert_eq!(of(&family, 1), 1);
            other.join().unwrap();
            assert_eq!((of(&family, 3), family.len(), lifetime(&family)), (4, 2, 7));
        });
}

/// A thread stands on a series of the list while the one behind it is removed, and then this one.
#[test]
fn a_search_against_two_removals() {
    Model::new("families::a_search_against_two_removals").bounded(3).bounded_over_epoch(1).explore(
        || {
            let family = family();
            add(&family, 1, 1);
            add(&family, 2, 2);
            add(&family, 3, 4);
            let other = spawn(&family, |family| of(family, 1));
            assert!(remove(&family, 2) && remove(&family, 3));
            assert_eq!(lifetime(&family), 7);
            assert_eq!(other.join().unwrap(), 1);
            assert_eq!((of(&family, 1), family.len(), lifetime(&family)), (1, 1, 7));
        },
    );
}

/// A removed series is freed when its last handle has let go, and what that added is remembered.
#[test]
fn a_handle_lets_go_of_a_removed_series() {
    Model::new("families::a_handle_lets_go_of_a_removed_series").bounded_over_epoch(2).explore(
        || {
            let family = family();
            turn();
            let handle = family.handle(Key { key: 1 });
            assert!(remove(&family, 1));
            let other = thread::spawn(move || {
                turn();
                handle.0.fetch_add(2, Relaxed);
            });
            let first = lifetime(&family);
            let second = lifetime(&family);
            assert!(first <= second && second <= 2);
            other.join().unwrap();
            assert_eq!((lifetime(&family), lifetime(&family)), (2, 2));
        },
    );
}

/// A number of which three is added before it is dropped.
#[derive(Default)]
struct Three(AtomicU64);

impl Metric for Three {
    type Total = u64;

    fn total(&self) -> u64 {
        self.0.load(Relaxed)
    }

    fn merge(one: &mut u64, other: u64) {
        *one += other;
    }
}

impl Drop for Three {
    fn drop(&mut self) {
        assert_eq!(self.0.load(Relaxed), 3);
    }
}

/// Two threads let go of the handles of a family that is gone. The last one drops the metric, and
/// has seen what the other has added.
#[test]
fn the_last_of_two_handles_drops_the_metric() {
    Model::new("families::the_last_of_two_handles_drops_the_metric").bounded_over_epoch(2).explore(
        || {
            let family = Family::<Key, Three>::new();
            turn();
            let handle = family.handle(Key { key: 1 });
            let of_other = handle.clone();
            drop(family);
            let other = thread::spawn(move || {
                turn();
                of_other.0.fetch_add(1, Relaxed);
            });
            handle.0.fetch_add(2, Relaxed);
            drop(handle);
            other.join().unwrap();
        },
    );
}

/// A thread makes a handle of a series that it has borrowed, while that is removed. Its adds by the
/// handle are remembered.
#[test]
fn a_borrowed_series_is_kept_while_it_is_removed() {
    Model::new("families::a_borrowed_series_is_kept_while_it_is_removed")
        .bounded(3)
        .bounded_over_epoch(1)
        .explore(|| {
            let family = family();
            add(&family, 1, 1);
            let other = spawn(&family, |family| {
                turn();
                let kept = family.with(Key { key: 1 }).keep();
                turn();
                kept.0.fetch_add(2, Relaxed);
            });
            assert!(remove(&family, 1));
            let first = lifetime(&family);
            other.join().unwrap();
            assert!((1..=3).contains(&first));
            assert_eq!((lifetime(&family), lifetime(&family)), (3, 3));
        });
}

/// A removed count moves from one place to another: a reader of the lifetime finds it in one of
/// them.
#[test]
fn the_lifetime_against_a_removal() {
    Model::new("families::the_lifetime_against_a_removal").bounded_over_epoch(1).explore(|| {
        let family = family();
        add(&family, 1, 1);
        let other = spawn(&family, |family| {
            remove(family, 1);
            add(family, 1, 2);
        });
        let (first, second) = (lifetime(&family), lifetime(&family));
        assert!(1 <= first && first <= second && second <= 3, "{first}, {second}");
        other.join().unwrap();
        assert_eq!(lifetime(&family), 3);
    });
}

/// Two threads remove the same series, while a third has just found it, and notes that it is used.
/// (Over `crossbeam-epoch` three threads that pin have half a million orders with one preemption
/// alone.)
#[test]
fn an_add_against_two_removals_of_its_series() {
    Model::new("families::an_add_against_two_removals_of_its_series")
        .bounded(3)
        .bounded_over_epoch(0)
        .explore(|| {
            let family = family();
            add(&family, 1, 1);
            let adder = spawn(&family, |family| add(family, 1, 2));
            let remover = spawn(&family, |family| {
                turn();
                family.retain(|_, _| false);
            });
            remove(&family, 1);
            adder.join().unwrap();
            remover.join().unwrap();
            assert!(family.len() <= 1);
            assert_eq!(lifetime(&family), 3);
        });
}

/// A series of enums is hidden while another thread looks at its idle time. It is kept, so it is in
/// use; but it is not back before it is used.
#[test]
fn a_look_against_the_removal_of_a_kept_series() {
    Model::new("families::a_look_against_the_removal_of_a_kept_series").explore(|| {
        let family = Arc::new(Family::<Sides, Number>::new());
        let left = Sides { side: Side::Left };
        let _handle = family.handle(left);
        let other = thread::spawn({
            let family = Arc::clone(&family);
            move || {
                turn();
                family.retain(|_, _| true);
            }
        });
        turn();
        assert!(family.remove(left));
        other.join().unwrap();
        assert_eq!((family.len(), family.iter().count()), (0, 0));
        family.with(left).0.fetch_add(1, Relaxed);
        assert_eq!((family.len(), family.iter().count()), (1, 1));
    });
}

/// A series of enums comes back by its use, and is removed at once: it is not counted off before it
/// was counted.
#[test]
fn a_series_that_comes_back_against_its_removal() {
    Model::new("families::a_series_that_comes_back_against_its_removal").bounded(3).explore(|| {
        let family = Arc::new(Family::<Sides, Number>::new());
        let left = Sides { side: Side::Left };
        family.with(left).0.fetch_add(1, Relaxed);
        assert!(family.remove(left));
        let users = [2, 4].map(|n| {
            let family = Arc::clone(&family);
            thread::spawn(move || {
                turn();
                family.with(left).0.fetch_add(n, Relaxed);
            })
        });
        turn();
        let is_removed = family.remove(left);
        let counted = family.len(); // by each thread that is about to bring it back
        assert!(counted <= 2, "{counted}");
        for user in users {
            user.join().unwrap();
        }
        let is_there = family.iter().count();
        assert!(is_removed || is_there == 1);
        assert_eq!((family.len(), family.lifetime()), (is_there, 7));
    });
}

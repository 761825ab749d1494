//! Looks of several threads at the series of one set: which it is, and whether there is one.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use windrow_loom_tests::engine::sync::Arc;
use windrow_loom_tests::engine::sync::atomic::{AtomicU64, fence};
use windrow_loom_tests::{Model, turn};

use super::{Key, Numbers, add, family, remove, spawn};

/// Two threads find a series that is over, take it out, and look again. None takes out the one that
/// the other has found then.
#[test]
fn two_threads_take_out_the_same_series_by_a_look_at_it() {
    const OVER: u64 = 7;
    /// Returns whether it has got the only one that a series has.
    fn get(family: &Numbers) -> bool {
        loop {
            turn();
            let number = family.with(Key { key: 1 });
            match number.0.compare_exchange(0, 1, Relaxed, Relaxed) {
                Ok(_) => return true,
                Err(OVER) => drop(number),
                Err(_) => return false,
            }
            turn();
            family.remove_if(Key { key: 1 }, |number| number.0.load(Relaxed) == OVER);
        }
    }
    Model::new("families::looks::two_threads_take_out_the_same_series_by_a_look_at_it")
        .bounded(2)
        .bounded_over_epoch(1)
        .explore(|| {
            let family = family();
            add(&family, 1, OVER);
            let other = spawn(&family, get);
            let has_got = get(&family);
            assert_ne!(has_got, other.join().unwrap());
            assert_eq!(family.len(), 1);
        });
}

/// A set finds the family full, and counts in the overflow series, while another thread frees a
/// place and makes a series for the same set. Each writes first, and looks then whether the other
/// has: as `windrow-tower` does, so that no client has two limits at once.
#[test]
fn room_that_is_found_beside_a_stranger() {
    Model::new("families::looks::room_that_is_found_beside_a_stranger")
        .bounded(3)
        .bounded_over_epoch(1)
        .explore(|| {
            let family = Arc::new(Numbers::new().with_max_series(1));
            let shared = Arc::new(AtomicU64::new(0));
            add(&family, 2, 0);
            let stranger = spawn(&family, {
                let shared = Arc::clone(&shared);
                move |family| {
                    turn();
                    let found = family.with(Key { key: 1 });
                    if found.keep().labels().is_some() {
                        return false;
                    }
                    drop(found);
                    shared.fetch_add(1, Relaxed);
                    fence(SeqCst); // between the grant and the look
                    turn();
                    family.get(Key { key: 1 }).is_none()
                }
            });
            assert!(remove(&family, 2));
            turn();
            let has_found_room = family.with(Key { key: 1 }).keep().labels().is_some();
            fence(SeqCst); // between the series and the look
            let is_alone = has_found_room && shared.load(Relaxed) == 0;
            let has_shared = stranger.join().unwrap();
            assert!(!(is_alone && has_shared), "it has shared, and has its own beside it");
        });
}

/// The set with the new series leaves again before the stranger looks: then nothing that it was
/// granted counts any more. Departures are counted before they happen. So the stranger, which finds
/// no series, does not use what was granted to it before.
#[test]
fn a_series_that_comes_and_goes_beside_a_stranger() {
    Model::new("families::looks::a_series_that_comes_and_goes_beside_a_stranger")
        .bounded(3)
        .bounded_over_epoch(1)
        .explore(|| {
            let family = Arc::new(Numbers::new().with_max_series(1));
            let words = Arc::new([0; 3].map(AtomicU64::new));
            add(&family, 2, 0);
            let stranger = spawn(&family, {
                let words = Arc::clone(&words);
                move |family| {
                    let [shared, departures, intervals] = &*words;
                    turn();
                    let found = family.with(Key { key: 1 });
                    if found.keep().labels().is_some() {
                        return false;
                    }
                    drop(found);
                    let before = departures.load(Acquire);
                    let is_early = intervals.load(Relaxed) == 0;
                    shared.fetch_add(1, Relaxed);
                    fence(SeqCst); // between the grant and the look
                    turn();
                    let finds_none = family.get(Key { key: 1 }).is_none();
                    fence(Acquire); // between the look and the departures
                    finds_none && departures.load(Relaxed) == before && is_early
                }
            });
            let [shared, departures, intervals] = &*words;
            assert!(remove(&family, 2));
            turn();
            let has_found_room = family.with(Key { key: 1 }).keep().labels().is_some();
            fence(SeqCst); // between the series and the look
            let is_alone = has_found_room && shared.load(Relaxed) == 0;
            intervals.store(1, Relaxed); // what it was granted counts no longer
            departures.fetch_add(1, Release);
            fence(Release); // between the departure and the removal
            remove(&family, 1);
            let has_shared = stranger.join().unwrap();
            assert!(!(is_alone && has_shared), "it has shared in the interval of its own");
        });
}

//! A window's memory grows as it is used: buckets that have left the ring are used again, even if
//! threads come late for them (I1, I2, I3, I9); and the first thread that needs a block makes it.
//!
//! Explores a bucket that is taken out of its slot against threads that may look for it there; and
//! two threads that need the same memory at once.

use std::time::Duration;

use windrow::{Clock, SlidingWindow, Timestamp};
use windrow_loom_tests::engine::{sync::Arc, thread};
use windrow_loom_tests::window::{
    Hits, Local, Window, add, at, each, interval, late, lifetime, set_time, window,
};
use windrow_loom_tests::{Model, turn};

use crate::spawn;

/// Returns a window of two buckets. Bucket 0 has left the ring of bucket 5, and is still in its
/// slot: the next rotation takes it out, unless it uses that slot.
fn with_a_bucket_that_has_left() -> Arc<Window> {
    set_time(0);
    let window = Arc::new(window(2));
    add(&window, 0, 1);
    add(&window, 5, 2);
    window
}

/// Returns a window of two buckets. Bucket 0 has no block, so that it is used again even while a
/// reader is pinned.
fn with_a_back_dated_bucket() -> Arc<Window> {
    set_time(1);
    let window = Arc::new(window(2));
    add(&window, 0, 1);
    add(&window, 1, 2);
    window
}

/// [`Local`], but others may have their turn where the time is asked for. A reader has loaded
/// `current` by then, and nothing else.
#[derive(Clone, Copy, Debug)]
struct Turning;

impl Clock for Turning {
    fn now(&self) -> Timestamp {
        turn();
        Local.now()
    }

    fn resolution(&self) -> Duration {
        Duration::ZERO
    }
}

/// A reader that has seen bucket 0 in the ring finds all of the ring, or nothing of it.
#[test]
fn read_against_the_eviction_of_a_bucket() {
    let name = "growth::read_against_the_eviction_of_a_bucket";
    Model::new(name).bounded(1).explore(|| {
        set_time(1);
        let builder = SlidingWindow::<Hits>::builder().interval(interval(2)).buckets(2);
        let window = Arc::new(builder.clock(Turning).build().expect("sound"));
        let add_at = |window: &SlidingWindow<Hits, Turning>, bucket: u64, hits: u64| {
            set_time(bucket);
            window.add_at(at(bucket), Hits::Hit, hits).expect("in the ring");
        };
        // Without a block, so that it is used again even while a reader is pinned.
        add_at(&window, 0, 1);
        set_time(1);
        window.add(Hits::Hit, 2);
        let other = {
            let window = Arc::clone(&window);
            thread::spawn(move || {
                add_at(&window, 5, 4); // in the slot of bucket 1
                add_at(&window, 7, 8); // bucket 0 is taken out of its slot
            })
        };
        let snapshot = window.snapshot();
        let found: Vec<u64> =
            snapshot.buckets().iter().map(|bucket| bucket.sum(Hits::Hit)).collect();
        assert!([[1, 2], [0, 0]].contains(&[found[0], found[1]]), "{found:?} was never there");
        other.join().unwrap();
        assert_eq!(window.lifetime(Hits::Hit).sum, 15);
    });
}

/// A back-dated add to bucket 0 is in it, or late, also if it finds bucket 0 missing and would
/// insert it.
#[test]
fn back_dated_add_against_the_eviction_of_its_bucket() {
    let name = "growth::back_dated_add_against_the_eviction_of_its_bucket";
    Model::new(name).bounded(1).explore(|| {
        set_time(1);
        let window = Arc::new(window(2));
        let other = spawn(&window, |window| {
            add(window, 0, 1); // inserts bucket 0
            add(window, 5, 4);
            add(window, 2, 8); // late; takes bucket 0 out of its slot if it needs memory
            add(window, 4, 16); // in its slot
            assert_eq!(each(window, 5), [16, 4]);
        });
        add(&window, 0, 2);
        other.join().unwrap();
        assert_eq!(each(&window, 5), [16, 4]);
        assert!([8, 10].contains(&late(&window)), "{} hits were late", late(&window));
        assert_eq!(lifetime(&window), 31);
    });
}

/// Two rotations would use bucket 0 again; one of them goes into its slot.
#[test]
fn rotation_into_the_slot_of_a_bucket_against_its_eviction() {
    let name = "growth::rotation_into_the_slot_of_a_bucket_against_its_eviction";
    Model::long(name).explore(|| {
        let window = with_a_bucket_that_has_left();
        let other = spawn(&window, |window| add(window, 7, 4));
        add(&window, 6, 8);
        other.join().unwrap();
        assert_eq!(each(&window, 7), [8, 4]);
        assert_eq!((late(&window), lifetime(&window)), (0, 15));
    });
}

/// Two rotations take bucket 0 out of its slot.
#[test]
fn eviction_against_eviction() {
    let name = "growth::eviction_against_eviction";
    Model::long(name).explore(|| {
        let window = with_a_bucket_that_has_left();
        let other = spawn(&window, |window| add(window, 7, 4));
        add(&window, 7, 8);
        other.join().unwrap();
        assert_eq!(each(&window, 7), [0, 12]);
        assert_eq!((late(&window), lifetime(&window)), (0, 15));
    });
}

/// A drain hands out bucket 0, all of it and once, or passes over it.
#[test]
fn drain_against_the_eviction_of_a_bucket() {
    let name = "growth::drain_against_the_eviction_of_a_bucket";
    Model::new(name).bounded(1).explore(|| {
        let window = with_a_back_dated_bucket();
        let other = spawn(&window, |window| {
            add(window, 5, 4);
            add(window, 7, 8);
        });
        let drained = || {
            let mut found = 0;
            turn();
            window.drain_closed(|bucket| found += bucket.sum(Hits::Hit));
            found
        };
        let first = drained();
        other.join().unwrap();
        let second = drained();
        assert_eq!(first & !7, 0, "{first}, then {second}");
        assert_eq!(first & second, 0, "handed out twice: {first}, then {second}");
        assert_eq!(lifetime(&window), 15);
    });
}

/// A rotation from bucket 0, while two others move on from it and use it again.
#[test]
fn stalled_rotation_against_the_eviction_of_its_bucket() {
    let name = "growth::stalled_rotation_against_the_eviction_of_its_bucket";
    Model::longest(name).explore(|| {
        set_time(0);
        let window = Arc::new(window(2));
        let other = spawn(&window, |window| add(window, 1, 1));
        add(&window, 5, 4);
        add(&window, 7, 8);
        other.join().unwrap();
        assert_eq!(each(&window, 7), [0, 8]);
        assert!([0, 1].contains(&late(&window)), "{} hits were late", late(&window));
        assert_eq!(lifetime(&window), 13);
    });
}

/// Both threads need a second block, and a second bucket.
#[test]
fn two_first_rotations() {
    let name = "growth::two_first_rotations";
    Model::longest(name).explore(|| {
        set_time(0);
        let window = Arc::new(window(3));
        let other = spawn(&window, |window| {
            add(window, 1, 1);
            assert_eq!(lifetime(window) & 1, 1, "a lifetime without a block");
        });
        add(&window, 2, 2);
        assert_eq!(lifetime(&window) & 2, 2, "a lifetime without a block");
        other.join().unwrap();
        assert_eq!(each(&window, 2), [0, 1, 2]);
        assert_eq!((late(&window), lifetime(&window)), (0, 3));
    });
}

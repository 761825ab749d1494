//! I1, I2, I5 across a `clear`: each add is before it or after it, as a whole, whichever thread
//! makes it and wherever it takes the ring; nothing is lost for the lifetime, and no bucket that
//! still counts is used again.
//!
//! Explores a clear against rotations, one that takes the ring back, one that a rotation makes
//! because its caller was not fast enough, and an add that was held up before it.

use std::time::Duration;

use windrow::{Clock, SlidingWindow, Timestamp};
use windrow_loom_tests::engine::{
    sync::Arc,
    thread::{self, JoinHandle},
};
use windrow_loom_tests::window::{Hits, Local, interval, set_time};
use windrow_loom_tests::{Model, turn};

/// [`Local`], but others have their turn where the time is asked for. A clear has proposed itself
/// by then, and has loaded `current`.
#[derive(Clone, Copy, Debug)]
struct Yielding;

impl Clock for Yielding {
    fn now(&self) -> Timestamp {
        thread::yield_now();
        Local.now()
    }

    fn resolution(&self) -> Duration {
        Duration::ZERO
    }
}

type Window = SlidingWindow<Hits, Yielding>;

/// Returns a window of two buckets, at a time in the bucket of this number; with a tier of three
/// pairs of buckets or without.
fn window(bucket: u64, has_tier: bool) -> Arc<Window> {
    set_time(bucket);
    let builder = SlidingWindow::<Hits>::builder().interval(interval(2)).buckets(2);
    let builder = if has_tier { builder.tier(interval(2), 3) } else { builder };
    Arc::new(builder.clock(Yielding).build().expect("a tier that fits"))
}

fn add(window: &Window, bucket: u64, hits: u64) {
    set_time(bucket);
    turn();
    window.add(Hits::Hit, hits);
}

/// Adds in another thread.
fn spawn_add(window: &Arc<Window>, bucket: u64, hits: u64) -> JoinHandle<()> {
    let window = Arc::clone(window);
    thread::spawn(move || add(&window, bucket, hits))
}

fn clear(window: &Window, bucket: u64) {
    set_time(bucket);
    turn();
    window.clear().expect("there is memory");
}

fn sum(window: &Window, bucket: u64) -> u64 {
    set_time(bucket);
    turn();
    window.sum(Hits::Hit)
}

fn late(window: &Window) -> u64 {
    turn();
    window.late(Hits::Hit).sum
}

fn lifetime(window: &Window) -> u64 {
    turn();
    window.lifetime(Hits::Hit).sum
}

#[test]
fn clear_against_a_rotation() {
    Model::new("clear::clear_against_a_rotation").bounded(1).explore(|| {
        let window = window(0, false);
        add(&window, 0, 1);
        let other = spawn_add(&window, 1, 2);
        clear(&window, 1);
        other.join().unwrap();
        let found = sum(&window, 1);
        assert!([0, 2].contains(&found), "{found} are neither before the clear nor after it");
        add(&window, 2, 4);
        assert_eq!((sum(&window, 2), late(&window), lifetime(&window)), (found + 4, 0, 7));
    });
}

/// The add that rotates is before the clear; or it is after it, and takes the ring to its own time.
#[test]
fn clear_that_goes_back_against_a_rotation() {
    Model::new("clear::clear_that_goes_back_against_a_rotation").bounded(1).explore(|| {
        let window = window(8, false);
        add(&window, 8, 1);
        let other = spawn_add(&window, 9, 2);
        clear(&window, 0);
        other.join().unwrap();
        add(&window, 0, 4);
        let (at_0, at_9) = (sum(&window, 0), sum(&window, 9));
        let is_before = (at_0, at_9, late(&window)) == (4, 0, 0);
        let is_after = (at_0, at_9, late(&window)) == (0, 2, 4);
        assert!(is_before || is_after, "{at_0} at 0, and {at_9} at 9");
        assert_eq!(lifetime(&window), 7);
    });
}

/// An add finds that its bucket has left the ring. Then a clear takes the ring, and its tier, back
/// to before that bucket. The tier holds the adds from there on.
#[test]
fn late_add_against_a_clear_that_goes_back_with_a_tier() {
    let model = Model::new("clear::late_add_against_a_clear_that_goes_back_with_a_tier");
    model.bounded(1).explore(|| {
        let window = window(30, true);
        let other = spawn_add(&window, 12, 1);
        clear(&window, 0);
        other.join().unwrap();
        if late(&window) == 1 {
            add(&window, 0, 2);
            add(&window, 2, 4);
            set_time(3);
            let found = window.over(interval(4)).expect("the tier reaches so far").totals();
            // If bucket 30 was not closed in time, the count before 0 is unknown.
            let all = if found.interval() < interval(4) { 4 } else { 6 };
            assert_eq!(found.sum(Hits::Hit), all, "the adds behind the clear");
        }
        assert!([1, 7].contains(&lifetime(&window)));
    });
}

/// A rotation makes the clear. Its caller comes too late with one of its own, at a time far ahead;
/// or it comes before the rotation has put its bucket into its slot.
#[test]
fn clear_against_the_rotation_that_makes_it() {
    Model::new("clear::clear_against_the_rotation_that_makes_it").bounded(1).explore(|| {
        let window = window(0, false);
        add(&window, 0, 1);
        let other = spawn_add(&window, 1, 2);
        clear(&window, 9);
        other.join().unwrap();
        let (at_9, at_1, late) = (sum(&window, 9), sum(&window, 1), late(&window));
        assert!(at_9 == 0 && [0, 2].contains(&at_1) && late <= 2 - at_1, "{at_1} and {late} late");
        assert_eq!(lifetime(&window), 3);
    });
}

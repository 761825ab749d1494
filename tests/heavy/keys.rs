//! Keys that strangers choose, and user code that misbehaves.

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use testkit::ms;
use windrow::clock::Manual;
use windrow::heavy::MAX_TEXT_BYTES;
use windrow::{HeavyKeys, Timestamp};

use crate::oracle::check;
use crate::{exact, heavy, pair};

/// A key that has the hash of all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Same(u64);

impl Hash for Same {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

#[test]
fn keys_of_one_hash_are_told_apart() {
    let keys = heavy::<Same>(20, 2, 1, &Manual::default());
    (0..20).for_each(|key| keys.add(&Same(key), key + 1));
    assert_eq!(exact(&keys.top(99)), (0..20).map(|key| (Same(key), key + 1)).collect());
    (0..2_000).for_each(|key| keys.increment(&Same(key)));
    assert_eq!(keys.total(), 2_210);
    assert!(keys.snapshot().max_error() <= 110);
    let bounds = keys.bounds(&Same(19));
    assert!((bounds.at_least..=bounds.at_most).contains(&21), "{bounds:?}");
}

/// Each pattern is meant to evict the wrong keys.
#[test]
fn bounds_hold_for_adversarial_orders() {
    type Order = fn(u64) -> (u64, u64);
    let orders: [Order; 6] = [
        |i| (i, 1),                                          // only new keys
        |i| (i % 21, 1),                                     // one more than there is room for
        |i| (if i % 3 == 0 { 0 } else { i }, 1),             // a heavy key in a flood
        |i| (i, i + 1),                                      // each heavier than all before
        |i| (i, 5_001 - i),                                  // each lighter
        |i| (if i < 4_000 { i / 40 } else { 0 }, 1 + i % 7), // floods, then one key
    ];
    for (number, order) in orders.iter().enumerate() {
        for capacity in [1, 2, 16] {
            let keys = heavy::<u64>(capacity, 2, 1, &Manual::default());
            let mut truth: HashMap<u64, u64> = HashMap::new();
            for (key, weight) in (0..5_000).map(order) {
                keys.add(&key, weight);
                *truth.entry(key).or_default() += weight;
            }
            println!("order {number}, capacity {capacity}");
            check(&keys.snapshot(), &truth, capacity as u64);
        }
    }
}

/// Numbers stop at the end; upper bounds are no lower, and lower ones no higher, than the truth.
#[test]
fn weights_stop_at_the_end_of_numbers() {
    let keys = heavy::<u64>(2, 2, 1, &Manual::default());
    keys.add(&1, u64::MAX);
    keys.add(&1, 1);
    keys.add(&2, 7);
    assert_eq!((keys.total(), keys.lifetime()), (u64::MAX, u64::MAX));
    assert_eq!(pair(keys.bounds(&1)), (u64::MAX, u64::MAX));
    assert_eq!(keys.top(1)[0].at_most, u64::MAX);
    for key in 3..20 {
        keys.add(&key, u64::MAX - key);
        assert_eq!(keys.bounds(&key).at_most, u64::MAX, "or more than its weight");
        assert_eq!(keys.bounds(&1).at_most, u64::MAX);
        assert!(keys.bounds(&key).at_least <= u64::MAX - key);
    }
    let mut twice = keys.snapshot();
    twice.merge(&keys.snapshot());
    assert_eq!((twice.total(), twice.bounds(&1).at_most), (u64::MAX, u64::MAX));
}

#[test]
fn long_texts_count_by_their_beginning() {
    let keys = heavy::<str>(10, 2, 1, &Manual::default());
    let long = "x".repeat(MAX_TEXT_BYTES);
    keys.add(&long, 1);
    keys.add(&format!("{long}y"), 2);
    keys.add(&"x".repeat(1 << 20), 4);
    keys.add(&long[1..], 8);
    let expected = [(long.clone(), 7), (long[1..].to_owned(), 8)];
    assert_eq!(exact(&keys.top(9)), expected.into());
    assert_eq!(pair(keys.bounds(&format!("{long}{long}"))), (7, 7));
    let snowmen = "☃".repeat(MAX_TEXT_BYTES); // three bytes each, of which 85 fit
    keys.add(&snowmen, 16);
    assert_eq!(keys.top(1)[0].key, "☃".repeat(85));
}

/// A key that panics when it is compared with a marked one.
#[derive(Clone, Copy, Debug)]
struct Angry(u64, bool);

impl PartialEq for Angry {
    fn eq(&self, other: &Angry) -> bool {
        assert!(!self.1 && !other.1, "compared");
        self.0 == other.0
    }
}

impl Eq for Angry {}

impl Hash for Angry {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

#[test]
fn a_comparison_that_panics_counts_nothing_and_breaks_nothing() {
    let keys = heavy::<Angry>(4, 2, 1, &Manual::default());
    keys.add(&Angry(1, false), 3);
    let panicked = || {
        let add = AssertUnwindSafe(|| keys.add(&Angry(1, true), 5));
        assert!(catch_unwind(add).is_err());
        let read = AssertUnwindSafe(|| keys.bounds(&Angry(1, true)));
        assert!(catch_unwind(read).is_err());
    };
    panicked();
    assert_eq!((keys.total(), keys.lifetime()), (3, 3));
    (2..50).for_each(|key| keys.increment(&Angry(key, false)));
    keys.add(&Angry(1, false), 90);
    panicked();
    assert_eq!((keys.total(), keys.lifetime()), (141, 141));
    let bounds = keys.bounds(&Angry(1, false));
    assert!((bounds.at_least..=bounds.at_most).contains(&93), "{bounds:?}");
    keys.clear();
    assert_eq!(keys.total(), 0);
}

/// A key that was never evicted is exact in a tier, beside any other keys.
#[test]
fn a_key_that_was_never_evicted_stays_exact_in_a_tier() {
    let clock = Manual::default();
    let builder = HeavyKeys::<u64>::builder(4).interval(ms(20)).buckets(2).shards(1);
    let keys = builder.tier(ms(100), 2).clock(clock.clone()).build().unwrap();
    for bucket in 0..6 {
        clock.set(Timestamp::from_millis(10 * bucket));
        keys.add(&0, 1_000);
        (1..50).for_each(|key| keys.increment(&(50 * bucket + key)));
    }
    let read = keys.snapshot_over(ms(200)).unwrap();
    assert!(read.max_error() >= 6, "there were evictions");
    assert_eq!(pair(read.bounds(&0)), (6_000, 6_000));
}

/// A bucket that leaves the ring is compared with the tier's: keys of one hash are taken for equal.
#[test]
fn a_comparison_that_panics_in_a_tier_breaks_no_bound() {
    let clock = Manual::default();
    let builder = HeavyKeys::<Angry>::builder(4).interval(ms(20)).buckets(2).shards(1);
    let keys = builder.tier(ms(100), 2).clock(clock.clone()).build().unwrap();
    let at = |time: u64| clock.set(Timestamp::from_millis(time));
    keys.add(&Angry(1, true), 3);
    at(20);
    keys.add(&Angry(1, true), 4); // the first bucket goes to the tier
    at(40);
    keys.add(&Angry(2, false), 5);
    let read = || keys.snapshot_over(ms(200)).unwrap();
    assert_eq!((read().total(), keys.lifetime()), (12, 12));
    assert_eq!((read().max_error(), read().top(9).len()), (0, 2));
    assert_eq!(pair(read().bounds(&Angry(2, false))), (5, 5));
    let all: Vec<_> = read().top(2).iter().map(|heavy| (heavy.key.0, heavy.at_least)).collect();
    assert_eq!(all, [(1, 7), (2, 5)]);
    at(200); // another bucket of the tier
    keys.add(&Angry(2, false), 6);
    at(300);
    assert_eq!((read().total(), read().max_error()), (6, 0));
}

/// A payload of a panic of a [`Twin`].
#[derive(Clone, Copy)]
enum With {
    Text,
    /// A value whose drop panics, too.
    Bomb,
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        resume_unwind(Box::new("dropped")); // a panic without a message
    }
}

thread_local! {
    /// The payload of the panics of twins that are compared, if they panic.
    static PANICS: Cell<Option<With>> = const { Cell::new(None) };
}

/// A key that has the hash of one other.
#[derive(Clone, Copy, Debug)]
struct Twin(u64);

impl PartialEq for Twin {
    fn eq(&self, other: &Twin) -> bool {
        match PANICS.get() {
            None => self.0 == other.0,
            Some(With::Text) => resume_unwind(Box::new("compared")),
            Some(With::Bomb) => resume_unwind(Box::new(Bomb)),
        }
    }
}

impl Eq for Twin {}

impl Hash for Twin {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.0 / 2).hash(state);
    }
}

/// Two keys of a bucket that leaves the ring are taken for one: no weight is lost or counted twice,
/// and no bound of the one is above their weight.
#[test]
fn twins_that_are_taken_for_one_key_in_a_tier_lose_no_weight() {
    for with in [With::Text, With::Bomb] {
        let clock = Manual::default();
        let builder = HeavyKeys::<Twin>::builder(4).interval(ms(20)).buckets(2).shards(1);
        let keys = builder.tier(ms(100), 2).clock(clock.clone()).build().unwrap();
        keys.add(&Twin(0), 100);
        keys.add(&Twin(1), 200);
        (2..40).for_each(|key| keys.add(&Twin(key), 3)); // the floor rises above the twins' errors
        let total = 300 + 38 * 3;
        clock.set(Timestamp::from_millis(20));
        PANICS.set(Some(with));
        keys.add(&Twin(100), 5); // the first bucket goes to the tier
        PANICS.set(None);
        assert_eq!(keys.lifetime(), total + 5);
        keys.add(&Twin(100), 5);
        assert_eq!((keys.lifetime(), keys.total()), (total + 10, 10));
        let read = keys.snapshot_over(ms(200)).unwrap();
        assert_eq!(read.total(), total + 10);
        for twin in [0, 1] {
            let bounds = read.bounds(&Twin(twin));
            assert!(bounds.at_least <= bounds.at_most && bounds.at_least <= 300, "{bounds:?}");
        }
    }
}

/// A key that is unequal to itself is no key: it costs memory and bounds, but no more.
#[test]
fn a_key_that_is_unequal_to_itself_fills_no_memory() {
    #[derive(Clone, Copy)]
    struct Never;
    impl PartialEq for Never {
        fn eq(&self, _: &Never) -> bool {
            false
        }
    }
    impl Eq for Never {}
    impl Hash for Never {
        fn hash<H: Hasher>(&self, _: &mut H) {}
    }
    let keys = heavy::<Never>(10, 2, 1, &Manual::default());
    (0..1_000).for_each(|_| keys.increment(&Never));
    assert!(keys.snapshot().top(usize::MAX).len() <= 12);
    assert_eq!(keys.total(), 1_000);
}

/// A program's clock may wait for a thread that adds.
#[test]
fn a_clear_holds_up_no_add_while_its_clock_waits() {
    let is_armed = Arc::new(AtomicBool::new(false));
    let ((ask, asked), (tell, told)) = (mpsc::channel(), mpsc::channel());
    let told = Mutex::new(told);
    let waits = {
        let is_armed = Arc::clone(&is_armed);
        move || {
            if is_armed.swap(false, Ordering::SeqCst) {
                ask.send(()).expect("the other thread is there");
                let told = told.lock().expect("no failure");
                told.recv_timeout(Duration::from_secs(20)).expect("an add waits for the clear");
            }
            Timestamp::from_secs(1)
        }
    };
    let keys = HeavyKeys::<u64>::builder(10).clock((waits, Duration::ZERO));
    let keys = keys.build().expect("a sound window");
    thread::scope(|scope| {
        let keys = &keys;
        scope.spawn(move || {
            asked.recv().expect("the clear asks the clock");
            keys.increment(&1);
            tell.send(()).expect("the clear waits");
        });
        is_armed.store(true, Ordering::SeqCst);
        keys.clear();
    });
    assert_eq!((keys.total(), keys.lifetime()), (0, 1));
}

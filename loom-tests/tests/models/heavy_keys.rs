//! Heavy keys: each add is in one bucket of one shard; a read is of one span, and of one side of a
//! clear.
//!
//! Explores adds that meet in one shard and in two, an add of a held key against an add that evicts
//! it, a read against adds, a read against a rotation that takes the slot it is about to visit,
//! reads and adds against a clear, and reads of a tier. The locks, and the two words beside them,
//! are the library's own.

use windrow::HeavyKeys;
use windrow_loom_tests::engine::{
    sync::Arc,
    thread::{self, JoinHandle},
};
use windrow_loom_tests::window::{Local, interval, set_time};
use windrow_loom_tests::{Model, turn};

type Keys = HeavyKeys<u8, Local>;

/// Returns heavy keys of one bucket, at time 0.
fn keys(shards: usize) -> Arc<Keys> {
    set_time(0);
    let builder = HeavyKeys::builder(2).interval(interval(1)).buckets(1).shards(shards);
    Arc::new(builder.clock(Local).build().expect("a sound geometry"))
}

/// Runs `body` in another thread, which mostly uses another shard.
fn spawn<R: Send + 'static>(
    keys: &Arc<Keys>,
    body: impl FnOnce(&Keys) -> R + Send + 'static,
) -> JoinHandle<R> {
    let keys = Arc::clone(keys);
    thread::spawn(move || body(&keys))
}

fn add(keys: &Keys, bucket: u64, key: u8, weight: u64) {
    set_time(bucket);
    turn();
    keys.add(&key, weight);
}

/// Two adds of one key: in two shards, and in one, where one thread waits.
#[test]
fn add_against_add() {
    Model::new("heavy_keys::add_against_add").explore(|| {
        for shards in [1, 2] {
            let keys = keys(shards);
            let other = spawn(&keys, |keys| add(keys, 0, 7, 2));
            add(&keys, 0, 7, 1);
            let total = keys.total();
            assert!(total == 1 || total == 3, "{total}");
            other.join().unwrap();
            let bounds = keys.bounds(&7);
            assert_eq!((bounds.at_least, bounds.at_most), (3, 3));
            assert_eq!((keys.total(), keys.lifetime()), (3, 3));
            assert_eq!(keys.snapshot().top(9).len(), 1);
        }
    });
}

/// An add of a held key is before the eviction of that key, or after it: never in between, where it
/// would be lost, or come to the key that takes the place.
#[test]
fn add_against_an_eviction() {
    Model::new("heavy_keys::add_against_an_eviction").explore(|| {
        let keys = keys(1);
        add(&keys, 0, 1, 1);
        add(&keys, 0, 2, 1);
        let other = spawn(&keys, |keys| add(keys, 0, 3, 4)); // there is room for two
        add(&keys, 0, 1, 2);
        other.join().unwrap();
        for (key, weight) in [(1, 3), (2, 1), (3, 4)] {
            let bounds = keys.bounds(&key);
            assert!((bounds.at_least..=bounds.at_most).contains(&weight), "{key}: {bounds:?}");
        }
        assert_eq!((keys.total(), keys.lifetime()), (8, 8));
    });
}

/// A read finds an add with its key, its count and the total, or has nothing of it.
#[test]
fn read_against_adds() {
    Model::new("heavy_keys::read_against_adds").explore(|| {
        let keys = keys(1);
        add(&keys, 0, 7, 1);
        let other = spawn(&keys, |keys| {
            add(keys, 0, 7, 2);
            add(keys, 0, 8, 4);
        });
        let read = keys.snapshot();
        let weights = [7, 8].map(|key| read.bounds(&key).at_least);
        assert!([[1, 0], [3, 0], [3, 4]].contains(&weights), "{weights:?}");
        assert_eq!((read.total(), read.max_error()), (weights.iter().sum(), 0));
        other.join().unwrap();
        assert_eq!((keys.total(), keys.lifetime()), (7, 7));
    });
}

/// The read finds the bucket that leaves, or the one that takes its slot, and never neither.
#[test]
fn read_against_a_rotation() {
    Model::new("heavy_keys::read_against_a_rotation").explore(|| {
        let keys = keys(1);
        add(&keys, 0, 7, 1);
        let other = spawn(&keys, |keys| add(keys, 1, 7, 2));
        let total = keys.total();
        assert!(total == 1 || total == 2, "{total}");
        other.join().unwrap();
        assert_eq!((keys.total(), keys.lifetime()), (2, 3));
    });
}

/// An add of the bucket that leaves counts there, or is late.
#[test]
fn add_against_the_rotation_that_ends_its_bucket() {
    let model = Model::new("heavy_keys::add_against_the_rotation_that_ends_its_bucket");
    model.explore(|| {
        let keys = keys(2);
        let other = spawn(&keys, |keys| add(keys, 1, 7, 2));
        add(&keys, 0, 7, 1);
        let late = keys.late();
        assert!(late <= 1, "{late}");
        other.join().unwrap();
        assert_eq!((keys.total(), keys.late(), keys.lifetime()), (2, late, 3));
    });
}

/// Both shards are read before the clear, or both after it.
#[test]
fn read_against_a_clear() {
    Model::new("heavy_keys::read_against_a_clear").explore(|| {
        let keys = keys(2);
        spawn(&keys, |keys| add(keys, 0, 7, 2)).join().unwrap();
        add(&keys, 0, 7, 1);
        let other = spawn(&keys, |keys| {
            set_time(0);
            keys.clear();
        });
        let total = keys.total();
        assert!(total == 0 || total == 3, "{total}");
        other.join().unwrap();
        assert_eq!((keys.total(), keys.lifetime()), (0, 3));
    });
}

/// Returns heavy keys of one bucket, with a tier of two buckets of four.
fn keys_with_a_tier() -> Arc<Keys> {
    set_time(0);
    let builder = HeavyKeys::builder(2).interval(interval(1)).buckets(1).shards(2);
    let builder = builder.tier(interval(4), 2).clock(Local);
    Arc::new(builder.build().expect("a sound geometry"))
}

fn total_of_the_tier(keys: &Keys) -> u64 {
    keys.snapshot_over(interval(8)).expect("it covers the span").total()
}

/// A bucket that leaves the ring during the read of a tier is counted once, here or there.
#[test]
fn tier_read_against_a_rotation() {
    Model::new("heavy_keys::tier_read_against_a_rotation").explore(|| {
        let keys = keys_with_a_tier();
        add(&keys, 0, 7, 1);
        let other = spawn(&keys, |keys| {
            add(keys, 0, 7, 2);
            add(keys, 1, 7, 4);
        });
        let total = total_of_the_tier(&keys);
        assert!([1, 3, 7].contains(&total), "{total}");
        add(&keys, 1, 7, 8);
        other.join().unwrap();
        let late = keys.late();
        assert!([0, 2].contains(&late), "{late}");
        assert_eq!((total_of_the_tier(&keys), keys.lifetime()), (15 - late, 15));
    });
}

/// Both shards are read before the clear, or both after it.
#[test]
fn tier_read_against_a_clear() {
    Model::new("heavy_keys::tier_read_against_a_clear").explore(|| {
        let keys = keys_with_a_tier();
        spawn(&keys, |keys| add(keys, 0, 7, 2)).join().unwrap();
        add(&keys, 1, 7, 1);
        let other = spawn(&keys, |keys| {
            set_time(1);
            keys.clear();
        });
        let total = total_of_the_tier(&keys);
        assert!(total == 0 || total == 3, "{total}");
        other.join().unwrap();
        assert_eq!((total_of_the_tier(&keys), keys.lifetime()), (0, 3));
    });
}

/// An add is before a clear or after it.
#[test]
fn add_against_a_clear() {
    Model::new("heavy_keys::add_against_a_clear").explore(|| {
        let keys = keys(2);
        let other = spawn(&keys, |keys| {
            set_time(1);
            keys.clear();
        });
        add(&keys, 1, 7, 1);
        other.join().unwrap();
        let total = keys.total();
        assert!(total <= 1, "{total}");
        assert_eq!((keys.late(), keys.lifetime()), (0, 1));
    });
}

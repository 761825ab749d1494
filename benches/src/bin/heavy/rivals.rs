//! The ways to find the keys with the most weight.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pingora_limits::estimator::Estimator;
use windrow::HeavyKeys;

/// The capacity of all that have one.
pub(crate) const CAPACITY: usize = 1_000;

/// A way to find the keys with the most weight.
pub(crate) trait Finds: Sync {
    /// Adds 1 to a key.
    fn add(&self, key: u64);

    /// Adds 1 to each key, without a virtual call for each.
    fn add_all(&self, keys: &[u64]);

    /// Returns the keys that are known, the heaviest first, each with bounds of its weight.
    fn found(&self) -> Vec<(u64, [u64; 2])>;

    /// Returns an upper bound of a key's weight, where no keys are known.
    fn estimate(&self, _key: u64) -> Option<u64> {
        None
    }
}

/// A contender's name, and how to make one.
type Contender = (&'static str, fn() -> Box<dyn Finds>);

pub(crate) const ALL: [Contender; 5] = [
    ("windrow", || {
        let keys = HeavyKeys::builder(CAPACITY).interval(Duration::from_hours(1));
        Box::new(Windrow(keys.build().expect("an hour in two buckets")))
    }),
    ("SpaceSaving, locked", || Box::new(Locked(Mutex::new(SpaceSaving::default())))),
    ("pingora-limits", || Box::new(Estimated(Estimator::new(ROWS, SLOTS)))),
    ("HashMap, locked", || Box::new(Locked(Mutex::new(Exact::default())))),
    ("HashMap, 16 locks", || Box::new(Sharded(Default::default()))),
];

struct Windrow(HeavyKeys<u64>);

impl Finds for Windrow {
    fn add(&self, key: u64) {
        self.0.increment(&key);
    }

    fn add_all(&self, keys: &[u64]) {
        for key in keys {
            self.add(*key);
        }
    }

    fn found(&self) -> Vec<(u64, [u64; 2])> {
        let list = self.0.top(usize::MAX);
        list.iter().map(|heavy| (heavy.key, [heavy.at_least, heavy.at_most])).collect()
    }
}

/// The hashes of pingora's estimator, and the counters of each: 64 KiB together, the memory of a
/// summary of windrow.
const ROWS: usize = 4;
const SLOTS: usize = 2_048;

/// A count-min summary of atomics, which has an estimate for each key, and knows no keys.
struct Estimated(Estimator);

impl Finds for Estimated {
    fn add(&self, key: u64) {
        self.0.incr(key, 1);
    }

    fn add_all(&self, keys: &[u64]) {
        for key in keys {
            self.add(*key);
        }
    }

    fn found(&self) -> Vec<(u64, [u64; 2])> {
        Vec::new()
    }

    fn estimate(&self, key: u64) -> Option<u64> {
        u64::try_from(self.0.get(key)).ok()
    }
}

/// One thread's way.
trait Counts: Default {
    fn add(&mut self, key: u64);

    fn found(&self) -> Vec<(u64, [u64; 2])>;
}

struct Locked<C>(Mutex<C>);

impl<C: Counts + Send> Finds for Locked<C> {
    fn add(&self, key: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).add(key);
    }

    fn add_all(&self, keys: &[u64]) {
        for key in keys {
            self.add(*key);
        }
    }

    fn found(&self) -> Vec<(u64, [u64; 2])> {
        let mut found = self.0.lock().unwrap_or_else(PoisonError::into_inner).found();
        found.sort_unstable_by_key(|(_, [least, _])| std::cmp::Reverse(*least));
        found
    }
}

/// A map of all keys.
#[derive(Default)]
struct Exact(HashMap<u64, u64>);

impl Counts for Exact {
    fn add(&mut self, key: u64) {
        *self.0.entry(key).or_default() += 1;
    }

    fn found(&self) -> Vec<(u64, [u64; 2])> {
        self.0.iter().map(|(key, weight)| (*key, [*weight; 2])).collect()
    }
}

/// Maps of all keys, by the key.
#[derive(Default)]
struct Sharded([Mutex<Exact>; 16]);

impl Finds for Sharded {
    fn add(&self, key: u64) {
        // Multiplied, so that neighbours are in different maps.
        let shard = &self.0[(key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60) as usize];
        shard.lock().unwrap_or_else(PoisonError::into_inner).add(key);
    }

    fn add_all(&self, keys: &[u64]) {
        for key in keys {
            self.add(*key);
        }
    }

    fn found(&self) -> Vec<(u64, [u64; 2])> {
        let of =
            |shard: &Mutex<Exact>| shard.lock().unwrap_or_else(PoisonError::into_inner).found();
        let mut found: Vec<_> = self.0.iter().flat_map(of).collect();
        found.sort_unstable_by_key(|(_, [least, _])| std::cmp::Reverse(*least));
        found
    }
}

/// `SpaceSaving` as published, with the room of a summary of windrow: a key that is
/// not held takes the place of the one with the least count.
#[derive(Default)]
struct SpaceSaving {
    /// Count and error of each key.
    held: HashMap<u64, [u64; 2]>,
    by_count: BTreeSet<(u64, u64)>,
}

impl Counts for SpaceSaving {
    fn add(&mut self, key: u64) {
        if let Some([count, _]) = self.held.get_mut(&key) {
            self.by_count.remove(&(*count, key));
            *count += 1;
            self.by_count.insert((*count, key));
            return;
        }
        let mut least = 0;
        if self.held.len() == CAPACITY + CAPACITY / 4 - 1 {
            let (count, evicted) = self.by_count.pop_first().expect("it is full");
            self.held.remove(&evicted);
            least = count;
        }
        self.held.insert(key, [least + 1, least]);
        self.by_count.insert((least + 1, key));
    }

    fn found(&self) -> Vec<(u64, [u64; 2])> {
        self.held.iter().map(|(key, [count, error])| (*key, [count - error, *count])).collect()
    }
}

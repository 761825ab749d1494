//! The ways to find the keys with the most weight.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dashmap::DashMap;
use heavykeeper::{CuckooTopK, TopK};
use moka::sync::Cache;
use pingora_limits::estimator::Estimator;
use windrow::HeavyKeys;

use crate::locked::{CountMin, Exact, Locked, SpaceSaving};

/// The capacity of all that have one, unless their name says otherwise.
pub(crate) const CAPACITY: usize = 1_000;

/// A way to find the keys with the most weight.
pub(crate) trait Finds: Sync {
    /// Adds 1 to a key.
    fn add(&self, key: u64);

    /// Adds 1 to each key, without a virtual call for each.
    fn add_all(&self, keys: &[u64]) {
        for key in keys {
            self.add(*key);
        }
    }

    /// Returns the keys that are known.
    fn found(&self) -> Found;

    /// Returns the estimate of the weight of a key that is not known.
    fn estimate(&self, _key: u64) -> u64 {
        0
    }
}

/// The keys that are known.
#[derive(Default)]
pub(crate) struct Found {
    /// Each key, with bounds of its weight, or with an estimate twice.
    pub(crate) list: Vec<(u64, [u64; 2])>,
    /// The greatest weight of a key that is not in the list; none where weights are estimates.
    pub(crate) others: Option<u64>,
}

impl Found {
    /// Returns estimates.
    pub(crate) fn estimated(list: impl Iterator<Item = (u64, u64)>) -> Found {
        Found { list: list.map(|(key, weight)| (key, [weight; 2])).collect(), others: None }
    }

    /// Returns the weights of all keys.
    pub(crate) fn exact(list: impl Iterator<Item = (u64, u64)>) -> Found {
        Found { others: Some(0), ..Found::estimated(list) }
    }
}

/// A contender's name, and how to make one.
type Contender = (&'static str, fn() -> Box<dyn Finds>);

pub(crate) const ALL: [Contender; 12] = [
    ("windrow", || windrow(CAPACITY)),
    ("windrow, capacity 2600", || windrow(2_600)),
    ("SpaceSaving, locked", || Box::new(Locked(Mutex::new(SpaceSaving::default())))),
    ("count-min and heap, locked", || Box::new(Locked(Mutex::new(CountMin::default())))),
    ("heavykeeper, locked", || keeper(WIDTH)),
    ("heavykeeper, a quarter of the cells", || keeper(WIDTH / 4)),
    ("its CuckooTopK, locked", || cuckoo(WIDTH)),
    ("CuckooTopK, a quarter of the cells", || cuckoo(WIDTH / 4)),
    ("pingora-limits", || Box::new(Estimated(Estimator::new(DEPTH, CELLS / DEPTH)))),
    ("moka", || Box::new(Cached(Cache::new(CAPACITY as u64)))),
    ("dashmap", || Box::new(Sharded(DashMap::new()))),
    ("HashMap, locked", || Box::new(Locked(Mutex::new(Exact::default())))),
];

/// The cells of a key in a table of estimates.
pub(crate) const DEPTH: usize = 4;
/// The cells of a table of numbers: 64 KiB, the memory of a summary of windrow.
pub(crate) const CELLS: usize = 8_192;
/// The cells of a row of heavykeeper's tables. A cell has 16 bytes, so a table has 64 KiB, too. A
/// heap of [`CAPACITY`] keys is beside it.
const WIDTH: usize = CELLS / DEPTH / 2;
/// The decay that the crate's own examples have.
const DECAY: f64 = 0.9;

fn windrow(capacity: usize) -> Box<dyn Finds> {
    let keys = HeavyKeys::builder(capacity).interval(Duration::from_hours(1));
    Box::new(Windrow(keys.build().expect("an hour in two buckets")))
}

fn keeper(width: usize) -> Box<dyn Finds> {
    Box::new(Locked(Mutex::new(TopK::new(CAPACITY, width, DEPTH, DECAY))))
}

fn cuckoo(width: usize) -> Box<dyn Finds> {
    Box::new(Locked(Mutex::new(CuckooTopK::new(CAPACITY, width, DEPTH, DECAY))))
}

struct Windrow(HeavyKeys<u64>);

impl Finds for Windrow {
    fn add(&self, key: u64) {
        self.0.increment(&key);
    }

    fn found(&self) -> Found {
        let all = self.0.snapshot();
        let list = all.top(usize::MAX);
        let list = list.iter().map(|heavy| (heavy.key, [heavy.at_least, heavy.at_most])).collect();
        Found { list, others: Some(all.max_error()) }
    }
}

/// A count-min summary of atomics, which has an estimate for each key, and knows no keys.
struct Estimated(Estimator);

impl Finds for Estimated {
    fn add(&self, key: u64) {
        self.0.incr(key, 1);
    }

    fn found(&self) -> Found {
        Found::default()
    }

    fn estimate(&self, key: u64) -> u64 {
        u64::try_from(self.0.get(key)).unwrap_or(0)
    }
}

/// Counters in a cache, which keeps the keys that it saw most often lately.
struct Cached(Cache<u64, Arc<AtomicU64>>);

impl Finds for Cached {
    fn add(&self, key: u64) {
        self.0.get_with(key, Arc::default).fetch_add(1, Ordering::Relaxed);
    }

    fn found(&self) -> Found {
        self.0.run_pending_tasks();
        Found::estimated(self.0.iter().map(|(key, count)| (*key, count.load(Ordering::Relaxed))))
    }
}

/// A map of all keys, in parts with a lock each.
struct Sharded(DashMap<u64, u64>);

impl Finds for Sharded {
    fn add(&self, key: u64) {
        *self.0.entry(key).or_default() += 1;
    }

    fn found(&self) -> Found {
        Found::exact(self.0.iter().map(|entry| (*entry.key(), *entry.value())))
    }
}

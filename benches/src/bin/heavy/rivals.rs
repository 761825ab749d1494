//! The ways to find the keys with the most weight.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dashmap::DashMap;
use heavykeeper::{CuckooTopK, TopK};
use moka::sync::Cache;
use pingora_limits::estimator::Estimator;
use windrow::clock::Ticker;
use windrow::{Clock, HeavyKeys};

use crate::finds::{CAPACITY, CELLS, DEPTH, Finds, Found};
use crate::locked::{CountMin, Counts, Exact, Locked, SpaceSaving};

/// Makes a contender.
pub(crate) type Make = fn() -> Box<dyn Finds>;

pub(crate) const ALL: [(&str, Make); 12] = [
    ("windrow", || windrow(CAPACITY)),
    ("windrow, capacity 2600", || windrow(2_600)),
    ("SpaceSaving, locked", || locked(SpaceSaving::default())),
    ("count-min and heap, locked", || locked(CountMin::default())),
    ("heavykeeper, locked", || keeper(WIDTH)),
    ("heavykeeper, a quarter of the cells", || keeper(WIDTH / 4)),
    ("its CuckooTopK, locked", || cuckoo(WIDTH)),
    ("CuckooTopK, a quarter of the cells", || cuckoo(WIDTH / 4)),
    ("pingora-limits", || Box::new(Estimated(Estimator::new(DEPTH, CELLS / DEPTH)))),
    ("moka", || Box::new(Cached(Cache::new(CAPACITY as u64)))),
    ("dashmap", || Box::new(Sharded(DashMap::new()))),
    ("HashMap, locked", || locked(Exact::default())),
];

/// The cells of a row of heavykeeper's tables. A cell has 16 bytes, so a table has 64 KiB, too. A
/// heap of [`CAPACITY`] keys is beside it.
const WIDTH: usize = CELLS / DEPTH / 2;
/// The decay that the crate's own examples have.
const DECAY: f64 = 0.9;

/// Those whose adds of held keys are compared; the yardstick is the first.
pub(crate) const HELD: [Make; 3] = [|| locked(Exact::default()), || windrow(CAPACITY), on_a_ticker];

fn windrow(capacity: usize) -> Box<dyn Finds> {
    let keys = HeavyKeys::builder(capacity).interval(Duration::from_hours(1));
    Box::new(Windrow(keys.build().expect("an hour in two buckets")))
}

fn on_a_ticker() -> Box<dyn Finds> {
    let keys = HeavyKeys::builder(CAPACITY).interval(Duration::from_hours(1));
    let keys = keys.clock(Ticker::start(Duration::from_millis(4)));
    Box::new(Windrow(keys.build().expect("an hour in two buckets")))
}

fn locked(counts: impl Counts + Send + 'static) -> Box<dyn Finds> {
    Box::new(Locked(Mutex::new(counts)))
}

fn keeper(width: usize) -> Box<dyn Finds> {
    locked(TopK::new(CAPACITY, width, DEPTH, DECAY))
}

fn cuckoo(width: usize) -> Box<dyn Finds> {
    locked(CuckooTopK::new(CAPACITY, width, DEPTH, DECAY))
}

struct Windrow<C>(HeavyKeys<u64, C>);

impl<C: Clock + Sync> Finds for Windrow<C> {
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

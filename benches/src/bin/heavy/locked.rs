//! Ways of one thread, under a lock.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

use heavykeeper::{CuckooTopK, TopK};

use crate::finds::{CAPACITY, CELLS, DEPTH, Finds, Found};

/// One thread's way.
pub(crate) trait Counts {
    fn add(&mut self, key: u64);

    fn found(&self) -> Found;
}

pub(crate) struct Locked<C>(pub(crate) Mutex<C>);

impl<C: Counts + Send> Finds for Locked<C> {
    fn add(&self, key: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).add(key);
    }

    fn found(&self) -> Found {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).found()
    }
}

/// A map of all keys.
#[derive(Default)]
pub(crate) struct Exact(HashMap<u64, u64>);

impl Counts for Exact {
    fn add(&mut self, key: u64) {
        *self.0.entry(key).or_default() += 1;
    }

    fn found(&self) -> Found {
        Found::exact(self.0.iter().map(|(key, weight)| (*key, *weight)))
    }
}

/// `SpaceSaving` as published, with the room of a summary of windrow: a key that is
/// not held takes the place of the one with the least count.
#[derive(Default)]
pub(crate) struct SpaceSaving {
    /// Count and error of each key.
    held: HashMap<u64, [u64; 2]>,
    by_count: BTreeSet<(u64, u64)>,
}

impl SpaceSaving {
    fn is_full(&self) -> bool {
        self.held.len() == CAPACITY + CAPACITY / 4 - 1
    }
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
        if self.is_full() {
            let (count, evicted) = self.by_count.pop_first().expect("it is full");
            self.held.remove(&evicted);
            least = count;
        }
        self.held.insert(key, [least + 1, least]);
        self.by_count.insert((least + 1, key));
    }

    fn found(&self) -> Found {
        let list =
            self.held.iter().map(|(key, [count, error])| (*key, [count - error, *count])).collect();
        let least = self.by_count.first().filter(|_| self.is_full());
        Found { list, others: Some(least.map_or(0, |(count, _)| *count)) }
    }
}

/// A count-min table, and the keys with the greatest estimates beside it.
pub(crate) struct CountMin {
    hashers: [RandomState; DEPTH],
    cells: Vec<u64>,
    held: HashMap<u64, u64>,
    by_count: BTreeSet<(u64, u64)>,
}

impl Default for CountMin {
    fn default() -> CountMin {
        CountMin {
            hashers: std::array::from_fn(|_| RandomState::new()),
            cells: vec![0; CELLS],
            held: HashMap::new(),
            by_count: BTreeSet::new(),
        }
    }
}

impl Counts for CountMin {
    fn add(&mut self, key: u64) {
        let width = CELLS / DEPTH;
        let mut estimate = u64::MAX;
        for (row, hasher) in self.hashers.iter().enumerate() {
            let cell = &mut self.cells[row * width + hasher.hash_one(key) as usize % width];
            *cell += 1;
            estimate = estimate.min(*cell);
        }
        if let Some(held) = self.held.get_mut(&key) {
            self.by_count.remove(&(*held, key));
            *held = estimate;
        } else {
            if self.held.len() == CAPACITY {
                let least = *self.by_count.first().expect("it is full");
                if least.0 >= estimate {
                    return;
                }
                self.by_count.remove(&least);
                self.held.remove(&least.1);
            }
            self.held.insert(key, estimate);
        }
        self.by_count.insert((estimate, key));
    }

    fn found(&self) -> Found {
        Found::estimated(self.held.iter().map(|(key, estimate)| (*key, *estimate)))
    }
}

impl Counts for TopK<u64> {
    fn add(&mut self, key: u64) {
        TopK::add(self, &key, 1);
    }

    fn found(&self) -> Found {
        Found::estimated(self.list().into_iter().map(|node| (node.item, node.count)))
    }
}

impl Counts for CuckooTopK<u64> {
    fn add(&mut self, key: u64) {
        CuckooTopK::add(self, &key, 1);
    }

    fn found(&self) -> Found {
        Found::estimated(self.list().into_iter().map(|node| (node.item, node.count)))
    }
}

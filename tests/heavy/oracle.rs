//! Random histories against an oracle that counts every key: adds, steps of the clock, clears and
//! reads of all kinds.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::time::Duration;

use testkit::{Rng, at_ns, ns};
use windrow::HeavyKeys;
use windrow::clock::Manual;
use windrow::heavy::HeavySnapshot;

/// The length of a bucket, in nanoseconds.
const LENGTH: u64 = 10;

/// All weights, by the rules of the documentation.
struct Oracle {
    buckets: u64,
    newest: u64,
    /// By start and key.
    weights: BTreeMap<u64, HashMap<u64, u64>>,
    late: u64,
    lifetime: u64,
}

impl Oracle {
    /// Returns the key's weight in its bucket, zero if the add is late.
    fn add(&mut self, now: u64, key: u64, weight: u64) -> u64 {
        let start = now - now % LENGTH;
        self.lifetime += weight;
        if start + self.buckets * LENGTH <= self.newest {
            self.late += weight;
            return 0;
        }
        self.newest = self.newest.max(start);
        let added = self.weights.entry(start).or_default().entry(key).or_default();
        *added += weight;
        *added
    }

    fn clear(&mut self, now: u64) {
        self.weights.clear();
        self.newest = now - now % LENGTH;
    }

    /// Returns the weight of each key in the newest buckets of a tier, and behind them.
    fn over_tier(&self, now: u64, length: u64, buckets: u64) -> HashMap<u64, u64> {
        let newest = self.newest.max(now - now % LENGTH) / length * length;
        let from = newest.saturating_sub((buckets - 1) * length);
        let mut keys: HashMap<u64, u64> = HashMap::new();
        for (key, weight) in self.weights.range(from..).flat_map(|(_, weights)| weights) {
            *keys.entry(*key).or_default() += weight;
        }
        keys
    }

    /// Returns the weights of the buckets in the ring that have ended and begin at `from` or
    /// later.
    fn closed_since(&self, now: u64, from: u64) -> BTreeMap<u64, &HashMap<u64, u64>> {
        let newest = self.newest.max(now - now % LENGTH);
        let is_in = |start: &u64| {
            *start >= from && start + LENGTH <= now && start + self.buckets * LENGTH > newest
        };
        let all = self.weights.iter().filter(|(start, _)| is_in(start));
        let all = all.map(|(start, weights)| (*start, weights));
        all.filter(|(_, weights)| weights.values().any(|weight| *weight > 0)).collect()
    }

    /// Returns the weight of each key in the newest buckets, and the total.
    fn over(&self, now: u64, buckets: u64) -> (HashMap<u64, u64>, u64) {
        let newest = self.newest.max(now - now % LENGTH);
        let mut keys: HashMap<u64, u64> = HashMap::new();
        let is_in = |start: &u64| *start <= newest && start + buckets * LENGTH > newest;
        for (_, weights) in self.weights.iter().filter(|(start, _)| is_in(start)) {
            for (key, weight) in weights {
                *keys.entry(*key).or_default() += weight;
            }
        }
        let total = keys.values().sum();
        (keys, total)
    }
}

/// Checks all that is promised of a snapshot; returns the number of bounds that were compared.
pub(crate) fn check(
    snapshot: &HeavySnapshot<u64>,
    truth: &HashMap<u64, u64>,
    capacity: u64,
) -> usize {
    let total: u64 = truth.values().sum();
    assert_eq!(snapshot.total(), total, "the total is exact");
    let error = snapshot.max_error();
    assert!(error <= total / capacity, "an error of {error} of {total}");
    for (key, weight) in truth {
        let bounds = snapshot.bounds(key);
        assert!((bounds.at_least..=bounds.at_most).contains(weight), "{weight}: {bounds:?}");
        assert!(bounds.at_most - bounds.at_least <= error, "{bounds:?}");
    }
    let list = snapshot.top(usize::MAX);
    assert!(list.is_sorted_by_key(|heavy| std::cmp::Reverse(heavy.at_least)));
    for heavy in &list {
        let bounds = snapshot.bounds(&heavy.key);
        assert_eq!((heavy.at_least, heavy.at_most), (bounds.at_least, bounds.at_most));
        assert!(truth.contains_key(&heavy.key), "a key that never came");
    }
    for (key, _) in truth.iter().filter(|(_, weight)| **weight > error) {
        assert!(list.iter().any(|heavy| heavy.key == *key), "a heavy key is missing");
    }
    truth.len() + list.len()
}

/// Returns a key: of a few, of many, or new.
fn key(rng: &mut Rng, kind: u32, next: &mut u64) -> u64 {
    match kind {
        0 => rng.u64(0..8),
        1 => rng.u64(0..rng.clone().u64(1..200)),
        2 if rng.bool() => 3,
        _ => {
            *next += 1;
            1_000 + *next
        }
    }
}

fn history(seed: u64) -> usize {
    let mut rng = Rng::with_seed(seed);
    let (capacity, buckets) = (rng.usize(1..20), rng.u64(1..6));
    let clock = Manual::default();
    clock.set(at_ns(1_000));
    let mut builder = HeavyKeys::<u64>::builder(capacity)
        .interval(ns(buckets * LENGTH))
        .buckets(buckets as usize)
        .shards(rng.usize(1..4))
        .clock(clock.clone());
    // Of the length of a tier's bucket, and their number.
    let mut tiers = Vec::new();
    for _ in 0..rng.usize(0..3) {
        let finer = tiers.last().map_or(LENGTH, |&(length, _)| length);
        let tier = (finer * rng.u64(1..5), rng.u64(1..6));
        builder = builder.tier(ns(tier.0), tier.1 as usize);
        tiers.push(tier);
    }
    let keys = builder.build().expect("a valid geometry");
    let mut oracle =
        Oracle { buckets, newest: 1_000, weights: BTreeMap::new(), late: 0, lifetime: 0 };
    let (mut now, mut next, mut compared) = (1_000, 0, 0);
    for _ in 0..rng.usize(1..400) {
        match rng.u32(0..40) {
            0 => now += rng.u64(0..3 * LENGTH),
            1 => now -= rng.u64(0..2 * LENGTH).min(now),
            2 if rng.u8(..) < 8 => now = rng.u64(0..2_000),
            3 if rng.u8(..) < 32 => {
                keys.clear();
                oracle.clear(now);
            }
            4 => {
                let span = rng.u64(1..=buckets * LENGTH);
                let (truth, _) = oracle.over(now, span.div_ceil(LENGTH));
                let snapshot = keys.snapshot_over(Duration::from_nanos(span)).expect("it fits");
                compared += check(&snapshot, &truth, capacity as u64);
            }
            6 if !tiers.is_empty() => {
                let span = rng.u64(1..=keys.longest_span().as_nanos() as u64);
                if span > buckets * LENGTH {
                    let covers = |&&(length, buckets): &&(u64, u64)| span <= length * buckets;
                    let (length, _) = *tiers.iter().find(covers).expect("it is not too long");
                    let truth = oracle.over_tier(now, length, span.div_ceil(length));
                    let snapshot = keys.snapshot_over(ns(span)).expect("it fits");
                    compared += check(&snapshot, &truth, capacity as u64);
                }
            }
            7 => {
                let from = now.saturating_sub(rng.u64(0..2 * buckets * LENGTH));
                let truth = oracle.closed_since(now, from);
                let closed = keys.closed_since(at_ns(from));
                assert!(closed.iter().map(|(start, _)| start.as_nanos()).eq(truth.keys().copied()));
                for ((_, snapshot), truth) in closed.iter().zip(truth.values()) {
                    compared += check(snapshot, truth, capacity as u64);
                }
            }
            5 => {
                let (truth, total) = oracle.over(now, buckets);
                assert_eq!(keys.total(), total);
                let snapshot = keys.snapshot();
                compared += check(&snapshot, &truth, capacity as u64);
                for key in truth.keys() {
                    assert_eq!(keys.bounds(key), snapshot.bounds(key));
                }
                assert_eq!(keys.bounds(&0), snapshot.bounds(&0));
                assert_eq!((keys.lifetime(), keys.late()), (oracle.lifetime, oracle.late));
            }
            kind => {
                let key = key(&mut rng, kind % 4, &mut next);
                let weight = if rng.bool() { 1 } else { rng.u64(0..1_000) };
                let at_least = keys.add_and_weigh(&key, weight);
                if weight > 0 {
                    let truth = oracle.add(now, key, weight);
                    assert!(at_least <= truth && (truth == 0 || at_least >= weight), "{at_least}");
                } else {
                    assert_eq!(at_least, 0);
                }
            }
        }
        clock.set(at_ns(now));
    }
    compared
}

#[test]
fn no_bound_is_broken_in_any_history() {
    let histories = std::env::var("HEAVY_HISTORIES").ok();
    let histories = histories.map_or(3_000, |number| number.parse().expect("a number"));
    let compared: usize = (0..histories).map(history).sum();
    println!("{compared} bounds were compared");
    assert!(compared > 20 * histories as usize, "{compared}");
}

//! Keys whose comparison panics: no other key loses a weight, in any tier.

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use testkit::{Rng, at_ns, ns};
use windrow::HeavyKeys;
use windrow::clock::Manual;
use windrow::heavy::HeavySnapshot;

thread_local! {
    /// The number of comparisons until one panics.
    static LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// A key whose comparison panics when the thread's number has come to zero.
#[derive(Clone, Copy, Debug)]
struct Fragile(u64);

impl PartialEq for Fragile {
    fn eq(&self, other: &Fragile) -> bool {
        match LEFT.get() {
            u64::MAX => {}
            0 => {
                LEFT.set(u64::MAX);
                resume_unwind(Box::new("compared")); // a panic without a message
            }
            left => LEFT.set(left - 1),
        }
        self.0 == other.0
    }
}

impl Eq for Fragile {}

impl Hash for Fragile {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// The length of a bucket.
const LENGTH: u64 = 10;
/// The buckets of the ring.
const BUCKETS: u64 = 2;
/// Length and number of each tier's buckets.
const TIERS: [(u64, u64); 3] = [(20, 2), (20, 4), (60, 3)];

/// The adds of a history.
const ADDS: usize = 100;

/// Checks a snapshot of everything that was added from a start on.
fn check(
    snapshot: &HeavySnapshot<Fragile>,
    added: &[(u64, u64, u64)],
    from: u64,
    capacity: u64,
    told: &str,
) {
    let mut truth: HashMap<u64, u64> = HashMap::new();
    for (start, key, weight) in added {
        if *start >= from {
            *truth.entry(*key).or_default() += weight;
        }
    }
    let total: u64 = truth.values().sum();
    assert_eq!(snapshot.total(), total, "{told}");
    assert!(
        snapshot.max_error() <= total / capacity,
        "{told}: {} of {total}",
        snapshot.max_error()
    );
    for (key, weight) in truth {
        let bounds = snapshot.bounds(&Fragile(key));
        assert!(
            (bounds.at_least..=bounds.at_most).contains(&weight),
            "{told}: {weight}: {bounds:?}"
        );
        assert!(bounds.at_most - bounds.at_least <= snapshot.max_error(), "{told}: {bounds:?}");
    }
}

/// Runs a history in which the comparison with this number panics. Returns whether there is one.
fn history(seed: u64, tiers: usize, panics_at: u64) -> bool {
    let mut random = Rng::with_seed(seed);
    let capacity = random.usize(1..6);
    let clock = Manual::default();
    let mut builder = HeavyKeys::<Fragile>::builder(capacity).interval(ns(BUCKETS * LENGTH));
    builder = builder.buckets(2).shards(1);
    for (length, buckets) in &TIERS[..tiers] {
        builder = builder.tier(ns(*length), *buckets as usize);
    }
    let keys = builder.clock(clock.clone()).build().unwrap();
    let (mut added, mut now) = (Vec::new(), 0);
    LEFT.set(panics_at);
    for _ in 0..ADDS {
        now += random.u64(0..8);
        clock.set(at_ns(now));
        let (key, weight) = (random.u64(0..7), random.u64(1..50));
        let add = AssertUnwindSafe(|| keys.add(&Fragile(key), weight));
        if catch_unwind(add).is_ok() {
            added.push((now - now % LENGTH, key, weight));
        }
    }
    let has_panicked = LEFT.replace(u64::MAX) == u64::MAX;
    let told = format!("seed {seed}, {tiers} tiers, panic at {panics_at}");
    assert!(added.len() >= ADDS - 1, "{told}");
    assert_eq!(keys.lifetime(), added.iter().map(|(.., weight)| weight).sum::<u64>(), "{told}");
    assert_eq!(keys.late(), 0);
    let newest = now - now % LENGTH;
    let from = newest.saturating_sub((BUCKETS - 1) * LENGTH);
    check(&keys.snapshot(), &added, from, capacity as u64, &told);
    for (length, buckets) in &TIERS[..tiers] {
        let from = (newest / length * length).saturating_sub((buckets - 1) * length);
        let read = keys.snapshot_over(ns(length * buckets)).unwrap();
        check(&read, &added, from, capacity as u64, &format!("{told}, tier of {length}"));
    }
    has_panicked
}

#[test]
fn a_comparison_that_panics_loses_no_other_weight() {
    let histories: u64 = testkit::rounds(12);
    for (seed, tiers) in (0..histories).flat_map(|seed| (0..=3).map(move |tiers| (seed, tiers))) {
        let mut panics = 0;
        while history(seed, tiers, panics) {
            panics += 1;
        }
        assert!(panics > 5, "seed {seed}, {tiers} tiers: {panics}");
    }
}

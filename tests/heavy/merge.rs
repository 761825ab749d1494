//! Merged snapshots: of machines, and of spans; and snapshots that forget.

use std::collections::HashMap;

use testkit::Rng;
use windrow::clock::Manual;
use windrow::heavy::HeavySnapshot;

use crate::heavy;
use crate::oracle::check;

/// Adds random keys to a fresh machine, and to the truth.
fn machine(rng: &mut Rng, capacity: usize, truth: &mut HashMap<u64, u64>) -> HeavySnapshot<u64> {
    let keys = heavy::<u64>(capacity, 2, 1, &Manual::default());
    for _ in 0..rng.usize(0..2_000) {
        let (key, weight) = (rng.u64(0..rng.clone().u64(1..100)), rng.u64(1..9));
        keys.add(&key, weight);
        *truth.entry(key).or_default() += weight;
    }
    keys.snapshot()
}

/// Returns the number of keys that a snapshot knows.
fn known(snapshot: &HeavySnapshot<u64>) -> usize {
    snapshot.top(usize::MAX).len()
}

/// Checks bounds alone: what a snapshot that forgets promises.
fn check_bounds(snapshot: &HeavySnapshot<u64>, truth: &HashMap<u64, u64>) {
    assert_eq!(snapshot.total(), truth.values().sum());
    for (key, weight) in truth {
        let bounds = snapshot.bounds(key);
        assert!((bounds.at_least..=bounds.at_most).contains(weight), "{weight}: {bounds:?}");
    }
    for heavy in snapshot.top(usize::MAX) {
        let weight = truth[&heavy.key];
        assert!((heavy.at_least..=heavy.at_most).contains(&weight), "{weight}: {heavy:?}");
    }
    for (key, _) in truth.iter().filter(|(_, weight)| **weight > snapshot.max_error()) {
        assert!(snapshot.top(usize::MAX).iter().any(|heavy| heavy.key == *key));
    }
}

#[test]
fn bounds_hold_for_many_machines_in_any_order() {
    let mut rng = Rng::with_seed(11);
    for _ in 0..100 {
        let (capacity, mut truth) = (rng.usize(1..30), HashMap::new());
        let mut parts: Vec<_> = (0..5).map(|_| machine(&mut rng, capacity, &mut truth)).collect();
        rng.shuffle(&mut parts);
        let mut all = parts.pop().expect("there are five").clone();
        for part in &parts {
            all.merge(part);
        }
        check(&all, &truth, capacity as u64);
        let n = rng.usize(0..40);
        let before = known(&all);
        all.truncate(n);
        assert!(known(&all) <= n.min(before));
        check_bounds(&all, &truth);
        all.merge(&machine(&mut rng, capacity, &mut truth));
        check_bounds(&all, &truth);
    }
}

#[test]
fn a_merge_of_exact_snapshots_is_exact() {
    let mut rng = Rng::with_seed(13);
    let mut truth = HashMap::new();
    let mut all = machine(&mut rng, 100, &mut truth);
    (0..9).for_each(|_| all.merge(&machine(&mut rng, 100, &mut truth)));
    assert_eq!(all.max_error(), 0);
    check(&all, &truth, 100);
    assert!(truth.iter().all(|(key, weight)| all.bounds(key).at_least == *weight));
}

#[test]
fn a_snapshot_that_is_large_enough_forgets_nothing() {
    let mut truth = HashMap::new();
    let mut all = machine(&mut Rng::with_seed(17), 100, &mut truth);
    all.truncate(known(&all));
    check(&all, &truth, 100);
    all.truncate(0);
    assert!(all.top(1).is_empty());
    assert_eq!(all.max_error(), *truth.values().max().expect("keys came"));
}

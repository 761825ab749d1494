//! Memory: bounded by the number that is documented, and taken before, or at the first use of a
//! slot.

use std::time::Duration;

use testkit::heap::{Counting, allocations_of, kept_by};
use testkit::{at, clock_at, ms};
use windrow::HeavyKeys;
use windrow::clock::Manual;
use windrow::heavy::{HeavyKeysBuilder, Key};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn builder<K: Key + ?Sized>(clock: &Manual) -> HeavyKeysBuilder<K, Manual> {
    let builder = HeavyKeys::<K>::builder(100).interval(ms(1_000)).buckets(4).shards(2);
    builder.clock(clock.clone())
}

/// Adds many keys, in many buckets.
fn flood(clock: &Manual, mut add: impl FnMut(u64)) {
    for round in 0..12 {
        clock.set(at(round * 250));
        (0..5_000).for_each(|number| add(round * 1_000 + number % 2_000));
    }
}

#[test]
fn all_memory_is_that_which_is_documented() {
    let clock = clock_at(0);
    let (keys, kept) = kept_by(|| builder::<u64>(&clock).preallocate().build().unwrap());
    assert_eq!(kept, keys.max_bytes().cast_signed() as i64);
    let per_key = keys.max_bytes() / (2 * 4 * 100);
    assert!((40..=60).contains(&per_key), "{per_key} bytes for each key, bucket and shard");
    let (texts, kept) = kept_by(|| builder::<str>(&clock).preallocate().build().unwrap());
    assert_eq!(kept, texts.max_bytes().cast_signed() as i64);
}

/// The formula of the page about memory, for keys of all sizes and alignments.
#[test]
fn no_capacity_takes_more_than_the_formula_says() {
    const BUCKETS: usize = 100;
    fn bytes<K: Key + ?Sized>(capacity: usize) -> usize {
        let keys = HeavyKeys::<K>::builder(capacity).interval(ms(100_000)).buckets(BUCKETS);
        keys.shards(1).build().unwrap().max_bytes()
    }
    for capacity in 1..600 {
        let said = |key: usize| {
            let formula = capacity * (BUCKETS * (200 + 5 * key) / 4 + 10);
            formula + (BUCKETS + 2) * 150 // a little
        };
        assert!(bytes::<u8>(capacity) <= said(8), "{capacity} bytes");
        assert!(bytes::<u64>(capacity) <= said(8), "{capacity} words");
        assert!(bytes::<[u64; 2]>(capacity) <= said(16), "{capacity} pairs");
        assert!(bytes::<u128>(capacity) <= said(24), "{capacity} numbers of 16 bytes");
        assert!(bytes::<str>(capacity) <= said(264), "{capacity} texts");
    }
}

#[test]
fn preallocated_keys_never_allocate_in_an_add() {
    let clock = clock_at(0);
    let keys = builder::<u64>(&clock).preallocate().build().unwrap();
    assert_eq!(allocations_of(|| flood(&clock, |key| keys.increment(&key))), 0);
    let texts = builder::<str>(&clock).preallocate().build().unwrap();
    let all: Vec<String> = (0..20_000).map(|key| format!("{key}").repeat(1 + key % 100)).collect();
    let add = |key: u64| texts.increment(&all[key as usize]);
    assert_eq!(allocations_of(|| flood(&clock, add)), 0);
    assert!(texts.snapshot().max_error() > 0, "there were evictions");
}

#[test]
fn tiers_take_the_memory_of_their_buckets_and_never_allocate_in_an_add() {
    let clock = clock_at(0);
    let tiers =
        |builder: HeavyKeysBuilder<str, Manual>| builder.tier(ms(500), 3).tier(ms(1_500), 2);
    let (keys, kept) = kept_by(|| tiers(builder(&clock)).preallocate().build().unwrap());
    assert_eq!(kept, keys.max_bytes().cast_signed() as i64);
    let all: Vec<String> = (0..20_000).map(|key| key.to_string()).collect();
    let add = |key: u64| keys.increment(&all[key as usize]);
    assert_eq!(allocations_of(|| flood(&clock, add)), 0);
    assert!(keys.snapshot_over(ms(3_000)).unwrap().max_error() > 0, "there were evictions");
}

#[test]
fn others_allocate_at_the_first_use_of_a_slot_alone() {
    let clock = clock_at(0);
    let keys = builder::<str>(&clock).shards(1).build().unwrap();
    let ((), kept) = kept_by(|| flood(&clock, |key| keys.increment(&key.to_string())));
    assert!(kept <= keys.max_bytes().cast_signed() as i64);
    clock.set(at(0));
    keys.clear(); // keeps the memory
    let all: Vec<String> = (0..20_000).map(|key| key.to_string()).collect();
    let add = |key: u64| keys.increment(&all[key as usize]);
    assert_eq!(allocations_of(|| flood(&clock, add)), 0);
}

#[test]
fn bounds_and_totals_allocate_nothing() {
    let clock = clock_at(0);
    let keys = builder::<str>(&clock).build().unwrap();
    flood(&clock, |key| keys.increment(&key.to_string()));
    assert_eq!(allocations_of(|| (keys.bounds("7"), keys.total(), keys.lifetime())), 0);
}

#[test]
fn a_static_takes_memory_at_its_first_use() {
    static KEYS: HeavyKeys<str> = HeavyKeys::of(10, Duration::from_secs(1), 2);
    KEYS.increment("acme");
    assert_eq!((KEYS.lifetime(), KEYS.top(1)[0].key.as_str()), (1, "acme"));
}

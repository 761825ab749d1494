//! Heavy keys: no bound is ever broken, in random histories against an oracle, on many threads, and
//! with hostile keys; totals and few keys are exact; memory is bounded.

mod export;
mod keys;
mod memory;
mod merge;
mod oracle;
mod panics;
mod threads;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use testkit::{at, clock_at, ms};
use windrow::clock::{Manual, Ticker};
use windrow::heavy::{Bounds, Heavy, Key};
use windrow::labels::ShortText;
use windrow::snapshot::OutOfRangeError;
use windrow::{BuildError, HeavyKeys};

/// Returns heavy keys of a second in `buckets` buckets.
fn heavy<K: Key + ?Sized>(
    capacity: usize,
    buckets: usize,
    shards: usize,
    clock: &Manual,
) -> HeavyKeys<K, Manual> {
    HeavyKeys::builder(capacity)
        .interval(ms(1_000))
        .buckets(buckets)
        .shards(shards)
        .clock(clock.clone())
        .build()
        .expect("a valid geometry")
}

fn pair(bounds: Bounds) -> (u64, u64) {
    (bounds.at_least, bounds.at_most)
}

/// Returns the keys of a list with their exact weights, which the bounds must be.
fn exact<K: ToOwned<Owned: Ord + Clone> + ?Sized>(list: &[Heavy<K>]) -> BTreeMap<K::Owned, u64> {
    assert!(list.iter().all(|heavy| heavy.at_least == heavy.at_most), "all are exact");
    list.iter().map(|heavy| (heavy.key.clone(), heavy.at_least)).collect()
}

#[test]
fn up_to_its_capacity_all_keys_are_exact() {
    for capacity in [1, 2, 3, 4, 5, 8, 100] {
        let keys = heavy::<u64>(capacity, 2, 1, &Manual::default());
        let mut truth = BTreeMap::new();
        for round in 0..10 {
            for key in 0..capacity as u64 {
                keys.add(&key, key + round);
                *truth.entry(key).or_insert(0) += key + round;
            }
        }
        let snapshot = keys.snapshot();
        let all = snapshot.top(usize::MAX);
        assert_eq!((all.len(), snapshot.max_error()), (capacity, 0), "{capacity}");
        assert_eq!(exact(&all), truth);
        assert_eq!(keys.total(), truth.values().sum());
        assert_eq!(pair(keys.bounds(&u64::MAX)), (0, 0), "a key that never came");
    }
}

/// The room behind the capacity is for the batch of an eviction, and not promised.
#[test]
fn beyond_its_room_the_error_begins() {
    let keys = heavy::<u64>(100, 2, 1, &Manual::default());
    (0..1_000).for_each(|key| keys.increment(&key));
    let snapshot = keys.snapshot();
    assert!((1..=10).contains(&snapshot.max_error()), "{}", snapshot.max_error());
    assert!(snapshot.top(usize::MAX).len() <= 124);
    assert_eq!(snapshot.total(), 1_000);
}

/// A key of any weight is found among a flood of others, if it weighs more than the total divided
/// by the capacity.
#[test]
fn a_heavy_key_is_found_in_a_flood() {
    let keys = heavy::<u64>(50, 2, 1, &Manual::default());
    for number in 0..100_000 {
        keys.increment(&(1_000 + number));
        if number % 40 == 0 {
            keys.increment(&7); // a 41st of all
        }
    }
    let first = &keys.top(1)[0];
    assert_eq!(first.key, 7);
    assert!((first.at_least..=first.at_most).contains(&2_500));
    assert!(first.at_most - first.at_least <= keys.total() / 50);
}

#[test]
fn texts_bytes_tuples_and_addresses_are_keys() {
    let clock = Manual::default();
    let texts = heavy::<str>(10, 2, 1, &clock);
    texts.add(&String::from("one"), 2);
    texts.increment("");
    assert_eq!(exact(&texts.top(2)), [(String::from("one"), 2), (String::new(), 1)].into());
    let bytes = heavy::<[u8]>(10, 2, 1, &clock);
    bytes.increment(&[0xff, 0]);
    assert_eq!(bytes.top(1)[0].key, [0xff, 0]);
    let address = IpAddr::from(Ipv4Addr::LOCALHOST);
    let addresses = heavy::<IpAddr>(10, 2, 1, &clock);
    addresses.increment(&address);
    assert_eq!(addresses.top(1)[0].key, address);
    let tuples = heavy::<(IpAddr, ShortText, u16)>(10, 2, 1, &clock);
    tuples.increment(&(address, ShortText::of("acme"), 443));
    assert_eq!(pair(tuples.bounds(&(address, ShortText::of("acme"), 443))), (1, 1));
    assert_eq!(pair(tuples.bounds(&(address, ShortText::of("acme"), 80))), (0, 0));
    let names = heavy::<&'static str>(10, 2, 1, &clock);
    names.increment(&"one");
    assert_eq!(names.top(1)[0].key, "one");
}

/// The order is that of lower bounds, which is the count less its error: a key that came late, and
/// may be the heaviest by its upper bound, does not displace one that certainly weighs more.
#[test]
fn a_list_is_in_the_order_of_the_weights_that_are_certain() {
    let keys = heavy::<u64>(10, 2, 1, &Manual::default());
    for round in 0..200_u64 {
        keys.add(&(round % 7), 10);
        keys.add(&(100 + round), 9 + round % 5); // each of them once
    }
    let all = keys.snapshot().top(usize::MAX);
    let bounds: Vec<_> = all.iter().map(|heavy| (heavy.at_least, heavy.at_most)).collect();
    assert!(bounds.is_sorted_by(|one, next| one.0 >= next.0), "{bounds:?}");
    assert!(!bounds.is_sorted_by(|one, next| one.1 >= next.1), "the other order: {bounds:?}");
}

#[test]
fn a_list_is_sorted_and_as_long_as_it_can_be() {
    let keys = heavy::<u64>(100, 2, 1, &Manual::default());
    for key in [3, 1, 4, 1, 5, 9, 2, 6] {
        keys.add(&key, key);
    }
    let list = |n| keys.top(n).iter().map(|heavy| heavy.key).collect::<Vec<_>>();
    assert_eq!(list(3), [9, 6, 5]);
    assert_eq!(list(usize::MAX), [9, 6, 5, 4, 3, 2, 1]);
    assert_eq!(list(7), list(8));
    assert_eq!(list(0), []);
}

#[test]
fn a_span_has_the_newest_buckets_that_cover_it() {
    let clock = clock_at(10_000);
    let keys = heavy::<u64>(10, 4, 1, &clock);
    for key in 0..4 {
        clock.set(at(10_000 + 250 * key));
        keys.add(&key, 1 << key);
    }
    let over =
        |span| exact(&keys.snapshot_over(ms(span)).unwrap().top(9)).into_keys().collect::<Vec<_>>();
    assert_eq!(over(1), [3]);
    assert_eq!(over(250), [3]);
    assert_eq!(over(251), [2, 3]);
    assert_eq!(over(1_000), [0, 1, 2, 3]);
    assert_eq!(keys.snapshot_over(ms(0)).unwrap_err(), OutOfRangeError::ZeroSpan);
    let too_long = OutOfRangeError::SpanTooLong { span: ms(1_001), interval: ms(1_000) };
    assert_eq!(keys.snapshot_over(ms(1_001)).unwrap_err(), too_long);
    clock.set(at(11_000)); // nothing is added, and the first bucket leaves
    assert_eq!(exact(&keys.top(9)).into_keys().collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!((keys.total(), keys.snapshot().total()), (14, 14));
    assert_eq!(pair(keys.bounds(&0)), (0, 0));
    clock.set(at(11_750));
    assert_eq!(keys.total(), 0);
    assert_eq!((keys.lifetime(), keys.late()), (15, 0));
}

/// Each shard turns its own ring; the newest bucket is one for all.
#[test]
fn a_clock_that_steps_back_loses_nothing() {
    let clock = clock_at(10_000);
    let keys = heavy::<u64>(10, 2, 2, &clock);
    keys.increment(&1);
    clock.set(at(9_500));
    keys.increment(&2); // back-dated, in the interval
    assert_eq!(keys.total(), 2);
    clock.set(at(9_499));
    keys.increment(&3);
    assert_eq!((keys.total(), keys.late(), keys.lifetime()), (2, 1, 3));
    clock.set(at(0));
    std::thread::scope(|scope| {
        scope.spawn(|| keys.add(&4, 10)); // maybe in another shard
    });
    assert_eq!((keys.total(), keys.late(), keys.lifetime()), (2, 11, 13));
    keys.clear();
    keys.increment(&5);
    assert_eq!((keys.total(), keys.late(), keys.lifetime()), (1, 11, 14));
    assert_eq!(exact(&keys.top(9)), [(5, 1)].into());
    clock.set(at(10_000)); // the slot of the first bucket, which was emptied
    assert_eq!(keys.total(), 0);
}

#[test]
fn a_weight_of_zero_is_no_add() {
    let keys = heavy::<u64>(10, 2, 1, &Manual::default());
    keys.add(&1, 0);
    assert!(keys.snapshot().top(1).is_empty());
}

#[test]
fn what_cannot_be_built_is_refused() {
    let builder = || HeavyKeys::<u64>::builder(10);
    let error = |result: Result<HeavyKeys<u64>, _>| result.unwrap_err();
    assert_eq!(error(HeavyKeys::builder(0).build()), BuildError::ZeroCapacity);
    let most = 1 << 20;
    let too_high = BuildError::CapacityTooHigh { capacity: most + 1, most };
    assert_eq!(error(HeavyKeys::builder(most + 1).build()), too_high);
    assert!(HeavyKeys::<u64>::builder(most).build().is_ok());
    assert_eq!(error(builder().shards(0).build()), BuildError::ZeroShards);
    assert_eq!(error(builder().buckets(0).build()), BuildError::NoBuckets);
    assert_eq!(error(builder().interval(ms(0)).build()), BuildError::ZeroInterval);
    let uneven = BuildError::UnevenTier { length: ms(1_250), finer: ms(500) };
    assert_eq!(error(builder().tier(ms(1_250), 2).build()), uneven);
    assert_eq!(error(builder().tier(ms(500), 0).build()), BuildError::NoBuckets);
    let too_many = usize::MAX / 8;
    let ages = builder().interval(testkit::ns(too_many as u64)).buckets(too_many);
    let error_of_ages = ages.clock(Manual::default()).build().unwrap_err();
    assert_eq!(error_of_ages, BuildError::TooManyBuckets { buckets: too_many });
    let coarse = builder().interval(ms(10)).clock(Ticker::start(ms(4)));
    let refused = coarse.build().unwrap_err();
    assert!(matches!(refused, BuildError::ClockTooCoarse { .. }));
}

#[test]
fn keys_and_builders_show_what_they_are() {
    let clock = Manual::default();
    let keys = heavy::<str>(10, 2, 1, &clock);
    keys.add("acme", 3);
    assert_eq!(
        format!("{keys:?}"),
        "HeavyKeys { capacity: 10, interval: 1s, buckets: 2, total: 3, top: [Heavy { key: \
         \"acme\", at_least: 3, at_most: 3 }], .. }"
    );
    assert_eq!((keys.buckets(), keys.interval()), (2, ms(1_000)));
    assert!(format!("{:?}", keys.snapshot()).contains("total: 3, max_error: 0"));
    let builder = HeavyKeys::<str>::builder(10).shards(3);
    assert!(
        format!("{builder:?}")
            .contains("capacity: 10, interval: 1s, buckets: 2, tiers: [], shards: 3")
    );
    let list = keys.top(1);
    assert_eq!(list.clone(), list);
}

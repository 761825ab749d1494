//! Snapshots of heavy keys by serde: their shape, that they come back, that those of several
//! processes keep their bounds when they are merged, and the inputs that are refused.

use std::collections::HashMap;
use std::fmt::Debug;
use std::net::IpAddr;

use proptest::prelude::*;
use serde_core::Serialize;
use serde_core::de::DeserializeOwned;
use testkit::{Rng, at_ns, clock_at, ms};
use windrow::HeavyKeys;
use windrow::clock::Manual;
use windrow::heavy::{HeavySnapshot, Key, MAX_TEXT_BYTES};

/// One shard, two buckets of half a second, and a tier of two seconds.
fn heavy<K: Key + ?Sized>(capacity: usize, clock: &Manual) -> HeavyKeys<K, Manual> {
    let builder = HeavyKeys::builder(capacity).shards(1).tier(ms(2_000), 4);
    builder.clock(clock.clone()).build().expect("a valid geometry")
}

/// Total, greatest error, and keys with their bounds.
type Shown<K> = (u64, u64, Vec<(<K as ToOwned>::Owned, u64, u64)>);

/// Returns all that can be asked of a snapshot.
fn shown<K: Key + ?Sized>(snapshot: &HeavySnapshot<K>) -> Shown<K> {
    let top = snapshot.top(usize::MAX).into_iter();
    let top = top.map(|heavy| (heavy.key, heavy.at_least, heavy.at_most)).collect();
    (snapshot.total(), snapshot.max_error(), top)
}

/// Sends a snapshot in a format with types in its data, and in one without; returns what arrives.
fn sent<K>(snapshot: &HeavySnapshot<K>) -> HeavySnapshot<K>
where
    K: Key<Owned: Serialize + DeserializeOwned + PartialEq + Debug> + ?Sized,
{
    let text = serde_json::to_string(snapshot).expect("JSON");
    let read: HeavySnapshot<K> = serde_json::from_str(&text).expect(&text);
    let mut expected = shown(snapshot);
    let mut found = shown(&read);
    // Keys with the same bounds have no order.
    let sort = |keys: &mut Vec<(K::Owned, u64, u64)>| {
        keys.sort_by_cached_key(|(key, ..)| format!("{key:?}"));
    };
    sort(&mut expected.2);
    sort(&mut found.2);
    assert_eq!(found, expected, "{text}");
    let bytes = postcard::to_stdvec(snapshot).expect("bytes");
    let read: HeavySnapshot<K> = postcard::from_bytes(&bytes).expect("bytes");
    let mut found = shown(&read);
    sort(&mut found.2);
    assert_eq!(found, expected, "{text}");
    read
}

#[test]
fn the_shape_is_this_for_each_type_of_keys() {
    let clock = clock_at(1_000);
    let text = |snapshot| serde_json::to_string(&snapshot).expect("JSON");
    let keys = heavy::<(IpAddr, u16)>(10, &clock);
    keys.add(&([192, 0, 2, 7].into(), 443), 3);
    sent(&keys.snapshot());
    let expected = r#"{"total":3,"max_error":0,"keys":[[["192.0.2.7",443],3,3]]}"#;
    assert_eq!(text(keys.snapshot()), expected);
    let keys = heavy::<[u8]>(10, &clock);
    keys.add(b"\0\xff", u64::MAX);
    keys.add(b"", 1);
    let read = sent(&keys.snapshot());
    assert_eq!((read.total(), read.bounds(b"\0\xff").at_most), (u64::MAX, u64::MAX));
    let keys = heavy::<str>(2, &clock);
    assert_eq!(serde_json::to_string(&sent(&keys.snapshot())).expect("JSON"), EMPTY);
    let long = "é".repeat(MAX_TEXT_BYTES);
    for key in ["", "\"\\\n\0", &long] {
        keys.increment(key);
    }
    let read = sent(&keys.snapshot());
    assert_eq!(read.bounds(&long), keys.snapshot().bounds(&long));
    let fields = r#"{"keys":[[7,2,2]],"max_error":0,"total":2}"#;
    let read: HeavySnapshot<u8> = serde_json::from_str(fields).expect("in any order");
    assert_eq!(read.bounds(&7).at_least, 2);
}

const EMPTY: &str = r#"{"total":0,"max_error":0,"keys":[]}"#;

/// Adds random keys in several seconds to a process of its own, and to the truth. Returns the
/// longest span that can be read, which may have left some of them behind.
fn process(rng: &mut Rng, capacity: usize, truth: &mut HashMap<u64, u64>) -> HeavySnapshot<u64> {
    let clock = clock_at(100_000);
    let keys = heavy::<u64>(capacity, &clock);
    for _ in 0..rng.usize(0..600) {
        let (key, weight) = (rng.u64(0..rng.clone().u64(1..100)), rng.u64(1..9));
        keys.add(&key, weight);
        *truth.entry(key).or_default() += weight;
        if rng.u64(0..200) == 0 {
            clock.advance(ms(400));
        }
    }
    keys.snapshot_over(keys.longest_span()).expect("the tier")
}

/// Checks each promise of a merged snapshot against exact counts.
fn check(snapshot: &HeavySnapshot<u64>, truth: &HashMap<u64, u64>) {
    assert_eq!(snapshot.total(), truth.values().sum::<u64>(), "the total is exact");
    for (key, weight) in truth {
        let bounds = snapshot.bounds(key);
        let is_in = (bounds.at_least..=bounds.at_most).contains(weight);
        assert!(is_in, "{key} weighs {weight}, which is not in {bounds:?}");
        assert!(bounds.at_most - bounds.at_least <= snapshot.max_error());
    }
    let listed: HashMap<u64, _> =
        snapshot.top(usize::MAX).into_iter().map(|heavy| (heavy.key, heavy)).collect();
    assert!(listed.keys().all(|key| truth.contains_key(key)));
    let heavy = truth.iter().filter(|(_, weight)| **weight > snapshot.max_error());
    heavy.for_each(|(key, weight)| assert!(listed.contains_key(key), "{key} weighs {weight}"));
}

/// Five processes of one capacity send what they have, of which some is cut before. The receiver
/// merges it, sends that on, and merges it again.
#[test]
fn the_bounds_of_several_processes_hold_when_they_are_merged() {
    let mut rng = Rng::with_seed(19);
    for _ in 0..150 {
        let (capacity, mut truth) = (rng.usize(1..30), HashMap::new());
        let mut all: HeavySnapshot<u64> = serde_json::from_str(EMPTY).expect("an empty one");
        let mut is_whole = true;
        for _ in 0..5 {
            let mut part = process(&mut rng, capacity, &mut truth);
            if rng.u64(0..3) == 0 {
                part.truncate(rng.usize(0..40));
                is_whole = false;
            }
            all.merge(&sent(&part));
            check(&all, &truth);
            if is_whole {
                assert!(all.max_error() <= all.total() / capacity as u64);
            }
            if rng.u64(0..4) == 0 {
                all = sent(&all);
                check(&all, &truth);
            }
        }
    }
}

/// A snapshot with evictions, in which each rule is close to its edge.
const SOUND: &str = r#"{"total":30,"max_error":4,"keys":[["a",10,14],["b",9,10],["c",2,4]]}"#;

#[test]
fn what_no_snapshot_is_is_refused_with_the_value_and_the_rule() {
    let read = |text: &str| serde_json::from_str::<HeavySnapshot<str>>(text);
    let sound = read(SOUND).expect("it is sound");
    assert_eq!((sound.total(), sound.max_error(), sound.top(9).len()), (30, 4, 3));
    assert_eq!(sound.bounds("a").at_most, 14);
    assert_eq!(sound.bounds("z").at_most, 4);
    let long = format!("\"{}\"", "x".repeat(MAX_TEXT_BYTES + 1));
    for (found, instead, words) in [
        ("\"c\"", "\"a\"", "key 2 occurs a second time; each must occur once"),
        ("\"c\"", &*long, "key 2 is a text of more than 256 bytes"),
        ("10,14", "15,14", "the lower bound 15 of key 0 is above its upper bound 14"),
        ("10,14", "9,14", "the bounds of key 0 are 5 apart; the greatest error is 4"),
        ("2,4", "2,3", "the upper bound 3 of key 2 is below the greatest error 4"),
        ("10,14", "27,31", "the upper bound 31 of key 0 is above the total 30"),
        ("10,14", "20,24", "the lower bounds add up to 31; the total is 30"),
        ("\"max_error\":4", "\"max_error\":31", "error 31 is above the total 30"),
        ("2,4", "2", "invalid length 2"),
        ("2,4", "2,4,4", "trailing characters"),
        ("2,4", "-2,4", "invalid value: integer `-2`"),
        ("\"c\"", "7", "invalid type: integer `7`, expected a string"),
        ("\"total\":30,", "", "missing field `total`"),
        ("\"total\"", "\"sum\"", "unknown field `sum`"),
        ("\"total\":30,", "\"total\":30,\"total\":30,", "duplicate field `total`"),
    ] {
        let text = SOUND.replace(found, instead);
        assert_ne!(text, SOUND, "{found}");
        let error = read(&text).map(|_| ()).expect_err(&text).to_string();
        assert!(error.contains(words), "{error}, and not: {words}");
    }
}

/// The number of keys is bounded where they are read and where they are written.
#[test]
fn too_many_keys_are_neither_written_nor_read() {
    const MOST: u32 = 1 << 20;
    let parts = |keys: u32| {
        let list: Vec<_> = (0..keys).map(|key| (key, 1_u64, 1_u64)).collect();
        postcard::to_stdvec(&(u64::from(keys), 0_u64, list)).expect("bytes")
    };
    let read = |bytes: &[u8]| postcard::from_bytes::<HeavySnapshot<u32>>(bytes);
    assert!(read(&parts(MOST + 1)).is_err());
    let mut most = read(&parts(MOST)).expect("as many as there may be");
    assert_eq!(postcard::to_stdvec(&most).expect("bytes").len(), parts(MOST).len());
    let other: HeavySnapshot<u32> =
        serde_json::from_str(r#"{"total":1,"max_error":0,"keys":[[4000000000,1,1]]}"#).unwrap();
    most.merge(&other);
    let error = serde_json::to_string(&most).expect_err("one key more").to_string();
    assert_eq!(error, "there are more than 1048576 keys; a snapshot can be truncated");
    most.truncate(MOST as usize);
    assert!(serde_json::to_string(&most).is_ok());
}

/// Changes a sound text in some bytes: it is refused, or read as what can be used.
fn is_harmless(text: &[u8]) {
    let Ok(mut read) = serde_json::from_slice::<HeavySnapshot<str>>(text) else { return };
    let (total, error, keys) = shown(&read);
    assert!(keys.iter().all(|(_, least, most)| least <= most && *most <= total));
    assert!(error <= total);
    let again = read.clone();
    read.merge(&again);
    assert_eq!(read.total(), total.saturating_mul(2));
    read.truncate(1);
    sent(&read);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_texts_are_refused_or_sound(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut text = SOUND.as_bytes().to_vec();
        for (index, byte) in changes {
            let digits = b"0123456789,[]\"-e.u";
            text[index.index(SOUND.len())] = digits[usize::from(byte) % digits.len()];
        }
        is_harmless(&text);
    }

    /// Weights at which numbers stop come back, and are merged without a panic.
    #[test]
    fn numbers_that_stop_come_back(
        adds in prop::collection::vec((0..6_u64, any::<u64>(), 0..64_u32), 0..40),
    ) {
        let keys = heavy::<u64>(3, &clock_at(1_000));
        for (key, bits, shift) in &adds {
            keys.add(key, bits >> shift);
        }
        let mut read = sent(&keys.snapshot());
        read.merge(&sent(&keys.snapshot()));
        sent(&read);
        let total = adds.iter().fold(0_u64, |sum, (_, bits, by)| sum.saturating_add(bits >> by));
        prop_assert_eq!(read.total(), total.saturating_mul(2));
    }
}

#[test]
fn a_snapshot_of_another_time_comes_back_too() {
    let clock = clock_at(1_000);
    let keys = heavy::<u64>(2, &clock);
    for key in 0..50 {
        keys.add(&(key % 7), key);
        clock.set(at_ns(1_000_000_000 + key * 100_000_000));
    }
    for span in [ms(500), ms(1_000), ms(6_000)] {
        sent(&keys.snapshot_over(span).expect("it can be read"));
    }
}

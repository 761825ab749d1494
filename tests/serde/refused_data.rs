//! Snapshots that no window gives are refused, with the value and the rule; and no input causes a
//! panic.

use proptest::prelude::*;
use serde_json::{Value, json};
use windrow::{
    Events, Stats,
    snapshot::{BucketSnapshot, Snapshot},
};

use crate::{JSON, Seen, returns, sample};

/// Returns the sample, changed at a place; and why that is refused.
fn refused(place: &str, value: Value) -> String {
    let mut tree: Value = serde_json::from_str(JSON).expect("JSON");
    *tree.pointer_mut(place).expect(place) = value;
    serde_json::from_value::<Snapshot<Seen>>(tree).expect_err(place).to_string()
}

const FIRST: &str = "/buckets/0";
const RT: &str = "/buckets/0/events/Rt";

#[test]
fn an_error_names_the_value_and_the_rule() {
    let values =
        |count: u64, min, max| json!({"Value": {"count": count, "sum": 9, "min": min, "max": max}});
    let cases = [
        ("/length", json!(0), "length is 0 ns"),
        (
            "/interval",
            json!(0),
            "0 ns is not a positive multiple of a bucket's length of 500000000",
        ),
        ("/interval", json!(1_200_000_000), "1200000000 ns is not a positive multiple"),
        (
            "/interval",
            json!(1_500_000_000),
            "number of buckets is 2; at the time 1700000000 ns the interval has 3",
        ),
        ("/interval", json!(u64::MAX), "not a positive multiple"),
        ("/at", json!(2_000_000_000), "bucket 0 begins at 1000000000 ns"),
        ("/at", json!(1_499_999_999), "it must begin at 500000000 ns"),
        ("/at", json!(0), "number of buckets is 2; at the time 0 ns the interval has 1"),
        ("/at", json!(-1), "-1"),
        ("/buckets", json!([]), "number of buckets is 0"),
        (
            "/buckets/0/start",
            json!(1_000_000_001),
            "start, 1000000001 ns, is not a multiple of its length, 499999999 ns",
        ),
        (
            "/buckets/0/start",
            json!(1_500_000_000),
            "end, 1500000000 ns, is not after its start, 1500000000 ns",
        ),
        ("/buckets/0/start", json!(1_600_000_000), "is not after its start, 1600000000 ns"),
        ("/buckets/0/end", json!(2_000_000_000), "from 1000000000 ns to 2000000000 ns must be"),
        ("/buckets/0/end", json!(u64::MAX), "must be 500000000 ns long"),
        (RT, values(0, Some(1), Some(1)), "`Rt` has the count 0, with a minimum of Some(1)"),
        (RT, values(0, None, Some(7)), "maximum of Some(7); without records it must have neither"),
        (RT, values(3, None, Some(1)), "`Rt` has the count 3, without a minimum and a maximum"),
        (RT, values(3, Some(1), None), "the count 3, without"),
        (RT, values(3, Some(2), Some(1)), "minimum 2 of the event `Rt` is above its maximum 1"),
        (RT, json!({"Count": 3}), "`Rt` is a Count; it must be a Value"),
        (
            RT,
            json!({"Quantile": 3}),
            "unknown variant `Quantile`, expected one of `Count`, `Signed`, `Value`",
        ),
        ("/buckets/0/events/Level", json!({"Signed": u64::MAX}), "18446744073709551615"),
        (
            "/buckets/0/events/Most",
            json!({"Minimum": 1}),
            "`Most` is a Minimum; it must be a Maximum",
        ),
        (RT, json!(3), "invalid type: integer `3`"),
        ("/buckets/0/events", json!({"Pass": {"Count": 1}}), "the event `Rt` is missing"),
        (
            "/buckets/0/events",
            json!({"Gone": {"Count": 1}}),
            "no event `Gone`, only `Pass`, `Rt`, `Level`",
        ),
        ("/buckets/0/events", json!({}), "the event `Pass` is missing"),
        (FIRST, json!({"start": 0}), "missing field `end`"),
        (FIRST, json!({"begin": 0}), "unknown field `begin`, expected one of `start`, `end`"),
    ];
    for (place, value, reason) in cases {
        let error = refused(place, value.clone());
        assert!(error.contains(reason), "{place} {value}: {error}");
    }
}

#[test]
fn buckets_that_are_not_in_order_are_refused() {
    let mut tree: Value = serde_json::from_str(JSON).expect("JSON");
    tree["buckets"].as_array_mut().expect("buckets").swap(0, 1);
    let error = serde_json::from_value::<Snapshot<Seen>>(tree).expect_err("order").to_string();
    let reason = "bucket 0 begins at 1500000000 ns; oldest first, and one beside the other up to the \
                  time 1700000000 ns, it must begin at 1000000000 ns";
    assert_eq!(error, reason);
}

#[test]
fn a_name_that_is_there_twice_is_refused() {
    let twice = [
        (r#"{"Pass":{"Count":1},"Pass":{"Count":1}}"#, "the event `Pass` occurs twice"),
        (r#"{"Rt":{"Value":{"count":1,"count":1}}}"#, "duplicate field `count`"),
    ];
    for (events, reason) in twice {
        let text = format!(r#"{{"start":0,"end":1,"is_closed":true,"events":{events}}}"#);
        let error = serde_json::from_str::<BucketSnapshot<Seen>>(&text).expect_err(&text);
        assert!(error.to_string().contains(reason), "{error}");
    }
    let error = serde_json::from_str::<Stats>(r#"{"count":9,"sum":1,"min":5,"max":4}"#);
    let error = error.expect_err("order").to_string();
    assert!(error.contains("minimum 5 is above the maximum 4"), "{error}");
}

windrow::events! { enum Renamed { Passed: Count, Rt: Value } }
windrow::events! { enum OtherKind { Pass: Value, Rt: Value, Level: Signed, Most: Maximum, Least: Minimum } }
windrow::events! { enum More { Pass: Count, Rt: Value, Level: Signed, Most: Maximum, Least: Minimum, Block: Count } }
windrow::events! { enum Moved { Least: Minimum, Rt: Value, Most: Maximum, Pass: Count, Level: Signed } }

/// In both formats; the compact one gives no reasons.
fn refused_by<E: Events>(reason: &str) {
    let error = serde_json::from_str::<Snapshot<E>>(JSON).expect_err(reason).to_string();
    assert!(error.contains(reason), "{error}");
    let bytes = postcard::to_stdvec(&sample()).expect("bytes");
    assert!(postcard::from_bytes::<Snapshot<E>>(&bytes).is_err());
}

#[test]
fn another_enum_is_noticed_and_another_order_is_none() {
    refused_by::<Renamed>("no event `Pass`, only `Passed`, `Rt`");
    refused_by::<OtherKind>("`Pass` is a Count; it must be a Value");
    refused_by::<More>("`Block` is missing");
    let moved: Snapshot<Moved> = serde_json::from_str(JSON).expect("JSON");
    assert_eq!(moved.totals().stats(Moved::Rt), sample().totals().stats(Seen::Rt));
    assert_eq!(moved.totals().stats(Moved::Least), sample().totals().stats(Seen::Least));
    let bytes = postcard::to_stdvec(&sample()).expect("bytes");
    assert_eq!(postcard::from_bytes::<Snapshot<Moved>>(&bytes).expect("bytes"), moved);
}

/// Checks that a snapshot that was read is as good as a window's own.
fn is_sound(snapshot: &Snapshot<Seen>) {
    returns(snapshot);
    let mut twice = snapshot.clone();
    twice.merge(snapshot).expect("the same times");
    assert_eq!(twice.totals().sum(Seen::Pass), snapshot.totals().sum(Seen::Pass).wrapping_mul(2));
    if twice.totals().stats(Seen::Rt).count > 0 {
        // The minimum has not wrapped to zero.
        assert_eq!(twice.totals().stats(Seen::Rt).min, snapshot.totals().stats(Seen::Rt).min);
    }
    assert!(snapshot.totals().stats(Seen::Rt).min <= snapshot.totals().stats(Seen::Rt).max);
    assert!(!format!("{snapshot:?}").is_empty() && snapshot.totals().rate(Seen::Pass) >= 0.0);
}

/// Numbers at which arithmetic ends, and small ones.
fn number() -> impl Strategy<Value = u64> {
    let near = |n: u64| (0..4_u64).prop_map(move |less| n.wrapping_sub(less));
    prop_oneof![near(u64::MAX), near(1 << 63), near(500_000_001), near(3), any::<u64>()]
}

/// Changes the numbers that `which` names, in the order in which they stand.
fn change(tree: &mut Value, which: &mut dyn FnMut() -> Option<u64>) {
    match tree {
        Value::Array(all) => all.iter_mut().for_each(|value| change(value, which)),
        Value::Object(all) => all.values_mut().for_each(|value| change(value, which)),
        Value::Number(_) | Value::Null => {
            if let Some(number) = which() {
                *tree = number.into();
            }
        }
        _ => {}
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(snapshot) = postcard::from_bytes::<Snapshot<Seen>>(&bytes) {
            is_sound(&snapshot);
        }
        let _ = serde_json::from_slice::<Snapshot<Seen>>(&bytes);
    }

    #[test]
    fn changed_bytes_are_read_or_refused(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = postcard::to_stdvec(&sample()).expect("bytes");
        for (index, byte) in changes {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        if let Ok(snapshot) = postcard::from_bytes::<Snapshot<Seen>>(&bytes) {
            is_sound(&snapshot);
        }
        let short = &bytes[..cut.index(bytes.len())];
        prop_assert!(postcard::from_bytes::<Snapshot<Seen>>(short).is_err());
    }

    #[test]
    fn changed_numbers_are_read_or_refused(
        changes in prop::collection::vec(prop::option::weighted(0.1, number()), 20),
    ) {
        let mut tree: Value = serde_json::from_str(JSON).expect("JSON");
        let mut changes = changes.into_iter();
        change(&mut tree, &mut || changes.next().flatten());
        if let Ok(snapshot) = serde_json::from_value::<Snapshot<Seen>>(tree) {
            is_sound(&snapshot);
        }
    }

    /// Times that a window has, at both ends of time too, and one of them changed or none.
    #[test]
    fn times_are_right_or_refused(
        at in number(), length in number(), count in 1..4_u64,
        wrong in prop::option::of((0..3_usize, any::<bool>(), 1..u64::MAX)),
    ) {
        let length = (length / count).max(1);
        let newest = at / length;
        let oldest = newest - newest.min(count - 1);
        let events = serde_json::to_value(sample()).expect("JSON")["buckets"][0]["events"].clone();
        let bucket = |number: u64| json!({
            "start": number * length, "end": (number * length).saturating_add(length), "is_closed": true,
            "events": events,
        });
        let mut buckets: Vec<Value> = (oldest..=newest).map(bucket).collect();
        let wrong = wrong.filter(|(index, ..)| *index < buckets.len());
        if let Some((index, is_start, by)) = wrong {
            let time = &mut buckets[index][if is_start { "start" } else { "end" }];
            *time = time.as_u64().expect("a number").wrapping_add(by).into();
        }
        let tree = json!({"at": at, "interval": length * count, "length": length, "buckets": buckets});
        match serde_json::from_value::<Snapshot<Seen>>(tree) {
            Ok(snapshot) => {
                prop_assert!(wrong.is_none());
                is_sound(&snapshot);
            }
            Err(error) => prop_assert!(wrong.is_some(), "{}", error),
        }
    }
}

//! Snapshots and distributions by serde: their shape in JSON and in a binary format, that they come
//! back, the inputs that are refused, and the memory that hostile inputs take.

mod distributions;
mod heavy;
mod histograms;
mod memory;
mod refused_data;

use std::fmt::Debug;

use proptest::prelude::*;
use serde_core::Serialize;
use serde_core::de::DeserializeOwned;
use testkit::{at, at_ns, clock_at, ms, ns, window};
use windrow::clock::Manual;
use windrow::{
    Clock, SlidingWindow, Stats, Timestamp,
    snapshot::{BucketSnapshot, Snapshot},
};

windrow::events! {
    /// One of each kind.
    enum Seen { Pass: Count, Rt: Value, Level: Signed, Most: Maximum, Least: Minimum }
}

type Window = SlidingWindow<Seen, Manual>;

/// Two buckets: of the first the minimum is the least there is, in the second there is nothing.
fn sample() -> Snapshot<Seen> {
    let clock = clock_at(1_000);
    let window: Window = window(ms(500), 2, &clock);
    window.add(Seen::Pass, u64::MAX);
    window.record(Seen::Rt, 0);
    window.record(Seen::Rt, 9);
    window.add(Seen::Level, -3);
    window.record(Seen::Most, 0);
    window.record(Seen::Least, u64::MAX);
    clock.advance(ms(700));
    window.snapshot()
}

const JSON: &str = r#"{
  "at": 1700000000,
  "interval": 1000000000,
  "length": 500000000,
  "buckets": [
    {
      "start": 1000000000,
      "end": 1500000000,
      "is_closed": false,
      "events": {
        "Pass": {
          "Count": 18446744073709551615
        },
        "Rt": {
          "Value": {
            "count": 2,
            "sum": 9,
            "min": 0,
            "max": 9
          }
        },
        "Level": {
          "Signed": -3
        },
        "Most": {
          "Maximum": 0
        },
        "Least": {
          "Minimum": 18446744073709551615
        }
      }
    },
    {
      "start": 1500000000,
      "end": 2000000000,
      "is_closed": false,
      "events": {
        "Pass": {
          "Count": 0
        },
        "Rt": {
          "Value": {
            "count": 0,
            "sum": 0,
            "min": null,
            "max": null
          }
        },
        "Level": {
          "Signed": 0
        },
        "Most": {
          "Maximum": null
        },
        "Least": {
          "Minimum": null
        }
      }
    }
  ]
}"#;

/// Checks the way there and back, in a format with types in its data and in one without.
fn returns<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let text = serde_json::to_string(value).expect("JSON");
    assert_eq!(&serde_json::from_str::<T>(&text).expect(&text), value);
    let tree = serde_json::to_value(value).expect("a tree of JSON");
    assert_eq!(&serde_json::from_value::<T>(tree).expect("a tree"), value);
    let bytes = postcard::to_stdvec(value).expect("bytes");
    assert_eq!(&postcard::from_bytes::<T>(&bytes).expect("bytes"), value);
}

#[test]
fn the_shape_is_this() {
    assert_eq!(serde_json::to_string_pretty(&sample()).expect("JSON"), JSON);
    assert_eq!(serde_json::from_str::<Snapshot<Seen>>(JSON).expect("JSON"), sample());
    let bucket = sample().buckets()[1].clone();
    let bytes = [
        &[0x80, 0xde, 0xa0, 0xcb, 0x05, 0x80, 0xa8, 0xd6, 0xb9, 0x07, 0][..], // start, end, closed
        &[5, 4, b'P', b'a', b's', b's', 0, 0, 2, b'R', b't', 2, 0, 0, 0, 0], // events: names, kinds
        b"\x05Level\x01\0\x04Most\x03\0\x05Least\x04\0",
    ];
    assert_eq!(postcard::to_stdvec(&bucket).expect("bytes"), bytes.concat());
    assert_eq!(serde_json::to_string(&at_ns(7)).expect("JSON"), "7");
    let stats = Stats { count: 1, sum: 2, min: Some(2), max: None };
    let text = r#"{"count":1,"sum":2,"min":2,"max":null}"#;
    assert_eq!(serde_json::to_string(&stats).expect("JSON"), text);
}

#[test]
fn stats_and_timestamps_return() {
    returns(&Timestamp::from_nanos(0));
    returns(&Timestamp::from_nanos(u64::MAX));
    returns(&Stats::default());
    returns(&Stats { count: 3, sum: u64::MAX, min: Some(0), max: Some(u64::MAX) });
}

#[test]
fn fields_and_events_may_stand_in_any_order() {
    let text = r#"{"events":{"Rt":{"Value":{"max":4,"min":4,"sum":4,"count":1}},"Pass":{"Count":3},
                   "Least":{"Minimum":4},"Most":{"Maximum":4},"Level":{"Signed":-1}},
                   "is_closed":true,"end":20,"start":10}"#;
    let bucket: BucketSnapshot<Seen> = serde_json::from_str(text).expect("JSON");
    assert_eq!((bucket.start(), bucket.end(), bucket.is_closed()), (at_ns(10), at_ns(20), true));
    let rt = Stats { count: 1, sum: 4, min: Some(4), max: Some(4) };
    assert_eq!((bucket.sum(Seen::Pass), bucket.stats(Seen::Rt)), (3, rt));
    assert_eq!((bucket.stats(Seen::Most).max, bucket.stats(Seen::Least).min), (Some(4), Some(4)));
    assert_eq!(bucket.stats(Seen::Level).sum.cast_signed(), -1);
    returns(&bucket);
}

#[test]
fn what_was_read_merges_as_what_was_written() {
    let read: Snapshot<Seen> = serde_json::from_str(JSON).expect("JSON");
    let (mut one, mut other) = (sample(), read.clone());
    one.merge(&read).expect("the same window");
    other.merge(&sample()).expect("the same window");
    assert_eq!(one, other);
    assert_eq!(
        one.totals().stats(Seen::Rt),
        Stats { count: 4, sum: 18, min: Some(0), max: Some(9) }
    );
    let empty = read.buckets()[1].clone();
    assert_eq!(empty.stats(Seen::Rt), Stats::default(), "no value is not the value zero");
}

#[test]
fn snapshots_at_both_ends_of_time_return() {
    let clock = Manual::default();
    let window: Window = window(ns(7), 5, &clock);
    for nanos in [0, 6, 13, 34, 35, u64::MAX - 7, u64::MAX - 1, u64::MAX] {
        clock.set(at_ns(nanos));
        window.record(Seen::Rt, nanos);
        returns(&window.snapshot());
        returns(&window.previous());
    }
}

#[test]
fn a_tiers_buckets_return() {
    let clock = clock_at(0);
    let window = SlidingWindow::<Seen>::builder()
        .interval(ms(400))
        .buckets(4)
        .tier(ms(300), 5)
        .clock(clock.clone())
        .build()
        .expect("a window");
    for _ in 0..40 {
        window.add(Seen::Pass, 1);
        window.record(Seen::Rt, window.clock().now().as_nanos() / 1_000_000);
        clock.advance(ms(90));
        returns(&window.snapshot());
        returns(&window.series(0).expect("a tier"));
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Add(u64),
    Record(u64),
    Wait(u64),
    Back(u64),
    Change(u32),
}

fn step() -> impl Strategy<Value = Step> {
    let value = prop_oneof![0..10_u64, any::<u64>()];
    prop_oneof![
        value.clone().prop_map(Step::Add),
        value.prop_map(Step::Record),
        (0..300_u64).prop_map(Step::Wait),
        (0..100_u64).prop_map(Step::Back),
        (1..8_u32).prop_map(Step::Change),
    ]
}

proptest! {
    #[test]
    fn all_that_a_window_gives_returns(
        begin in 0..1_000_u64,
        buckets in 1..8_u32,
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let clock = clock_at(begin);
        let window: Window = window(ms(50), buckets, &clock);
        for step in steps {
            match step {
                Step::Add(n) => window.add(Seen::Pass, n),
                Step::Record(value) => {
                    window.record(Seen::Rt, value);
                    window.record(Seen::Most, value);
                    window.record(Seen::Least, value);
                    window.add(Seen::Level, value.cast_signed());
                }
                Step::Wait(millis) => clock.advance(ms(millis)),
                Step::Back(millis) => clock.set(window.clock().now() - ms(millis)),
                Step::Change(buckets) => {
                    window.reconfigure(ms(60) * buckets, buckets as usize).expect("a geometry");
                }
            }
        }
        returns(&window.snapshot());
        returns(&window.previous());
        window.drain_closed(|bucket| returns(&bucket));
        prop_assert!(window.clock().now() >= at(0));
    }
}

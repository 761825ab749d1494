//! The heaviest keys, which strangers choose, as gauges: escaped in each format, of bounded length
//! and number, and adding up to the exact total.

#![allow(clippy::float_cmp, reason = "the numbers are exact")]

use std::sync::Arc;

use windrow::HeavyKeys;
use windrow::clock::Manual;
use windrow::export::top;
use windrow::heavy::MAX_TEXT_BYTES;
use windrow_prometheus::{Escaping, Exposition, Format};

use crate::formats::{hostile, read};
use crate::spec::text::Rules;
use crate::spec::{Family as Found, protobuf};

#[test]
fn keys_of_strangers_are_gauges_whose_sum_is_the_total() {
    let keys = HeavyKeys::<str>::builder(100).clock(Manual::default()).build().expect("a second");
    let (keys, hostile) = (Arc::new(keys), hostile());
    let listed = hostile.len();
    for (key, weight) in hostile.iter().zip(10..) {
        keys.add(key, weight);
    }
    (0..50).for_each(|key| keys.increment(&format!("light {key}")));
    let mut metrics = Exposition::new();
    let shown = Arc::clone(&keys);
    let source = top(move || shown.snapshot(), "client", listed);
    metrics.register("heavy_clients", "Requests in a second", source).unwrap();
    let utf_8 = |format: Format| format.with_escaping(Escaping::AllowUtf8);
    let binary = protobuf::parse(&metrics.encode(utf_8(Format::PROTOBUF)));
    let binary: Vec<Found> = binary.into_iter().map(|found| found.family).collect();
    for families in [
        read(&metrics, utf_8(Format::TEXT_1_0_0), Rules::New),
        read(&metrics, Format::TEXT, Rules::Old),
        read(&metrics, utf_8(Format::OPENMETRICS), Rules::OpenMetrics),
        binary,
    ] {
        let family = families.iter().find(|one| one.name == "heavy_clients").expect("it is there");
        assert_eq!(family.kind, "gauge", "a weight can fall");
        assert_eq!(family.samples.len(), listed + 1);
        let value = |label: &str, key: &str| {
            let is = |labels: &std::collections::BTreeMap<String, String>| {
                labels.len() == 1 && labels.get(label).is_some_and(|value| value == key)
            };
            let mut found = family.samples.iter().filter(|sample| is(&sample.labels));
            let value = found.next().unwrap_or_else(|| panic!("{key:?} is missing")).value;
            assert!(found.next().is_none());
            value
        };
        for (key, weight) in hostile.iter().zip(10_u32..) {
            let kept = &key[..key.len().min(MAX_TEXT_BYTES)];
            assert_eq!(value("client", kept), f64::from(weight));
        }
        assert_eq!(value("overflow", "true"), 50.0);
        let sum: f64 = family.samples.iter().map(|sample| sample.value).sum();
        assert_eq!(sum, keys.total() as f64);
    }
}

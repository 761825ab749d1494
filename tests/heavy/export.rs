//! The heaviest keys as series of an exporter.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use testkit::{clock_at, ms};
use windrow::HeavyKeys;
use windrow::clock::Manual;
use windrow::export::{AnyMetric, Source, top};
use windrow::snapshot::OutOfRangeError;

use crate::heavy;

/// Returns the series, by their labels, with their numbers and values.
fn seen(source: &dyn Source) -> BTreeMap<String, (u64, f64)> {
    let mut all = BTreeMap::new();
    source.visit(&mut |series| {
        let mut labels = Vec::new();
        series.labels(&mut |name, value| labels.push(format!("{name}={value}")));
        let AnyMetric::Real(value) = series.metric() else { panic!("a gauge") };
        assert_eq!(series.is_overflow(), labels == ["overflow=true"]);
        let series = all.insert(labels.join(","), (series.number(), value));
        assert!(series.is_none(), "twice: {labels:?}");
    });
    all
}

#[test]
fn the_heaviest_keys_are_series_and_the_others_are_one() {
    let keys = Arc::new(heavy::<str>(10, 2, 1, &Manual::default()));
    for (key, weight) in [("a", 5), ("b", 7), ("c", 1), ("d", 2)] {
        keys.add(key, weight);
    }
    let source = top(Arc::clone(&keys), "client", 2);
    let outline = source.outline();
    assert_eq!((&outline.labels[..], outline.max_series), (&["client".to_owned()][..], 2));
    assert!(outline.overflows);
    let before = seen(&source);
    let values = |all: &BTreeMap<String, (u64, f64)>| -> Vec<_> {
        all.iter().map(|(labels, (_, value))| (labels.clone(), *value)).collect()
    };
    let is = |expected: &[(&str, f64)], all| {
        let expected: Vec<_> = expected.iter().map(|(key, n)| ((*key).to_owned(), *n)).collect();
        assert_eq!(values(all), expected);
    };
    is(&[("client=a", 5.0), ("client=b", 7.0), ("overflow=true", 3.0)], &before);
    keys.add("d", 9);
    let after = seen(&source);
    is(&[("client=b", 7.0), ("client=d", 11.0), ("overflow=true", 6.0)], &after);
    assert_eq!(before["client=b"].0, after["client=b"].0, "a series has another number");
    let mut numbers: Vec<_> = before.values().chain(after.values()).map(|one| one.0).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 4, "two series have one number");
}

/// A key that shows only its tens.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Tens(u32);

impl fmt::Display for Tens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0 / 10)
    }
}

#[test]
fn keys_with_one_text_are_one_series() {
    let keys = Arc::new(heavy::<Tens>(10, 2, 1, &Manual::default()));
    (10..25).for_each(|key| keys.increment(&Tens(key)));
    let all = seen(&top(Arc::clone(&keys), "key", 99));
    let sum: f64 = all.values().map(|(_, value)| value).sum();
    assert_eq!(sum.to_bits(), 15_f64.to_bits());
    assert!(all.len() <= 3, "{all:?}");
}

#[test]
fn without_keys_there_is_the_series_of_all_others() {
    let keys = Arc::new(heavy::<u64>(10, 2, 1, &Manual::default()));
    keys.add(&1, 4);
    assert_eq!(
        seen(&top(Arc::clone(&keys), "key", 0))["overflow=true"].1.to_bits(),
        4_f64.to_bits()
    );
}

/// A key whose text is longer than any text that is kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Long(u8);

impl fmt::Display for Long {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", "é".repeat(200), self.0)
    }
}

#[test]
fn texts_are_cut_at_the_end_of_a_character() {
    let keys = Arc::new(heavy::<Long>(10, 2, 1, &Manual::default()));
    (0..3).for_each(|key| keys.increment(&Long(key)));
    let all = seen(&top(Arc::clone(&keys), "key", 99));
    let label = format!("key={}", "é".repeat(128));
    assert_eq!(all.keys().collect::<Vec<_>>(), [&label, "overflow=true"]);
    assert_eq!(all[&label].1.to_bits(), 3_f64.to_bits());
}

/// A tier or a part of the interval is shown: the sum of all series is that span's total.
#[test]
fn a_span_of_its_own_is_shown() {
    let clock = clock_at(1_000);
    let builder = HeavyKeys::<u64>::builder(10).shards(1).tier(ms(10_000), 6);
    let keys = Arc::new(builder.clock(clock.clone()).build().expect("a tier"));
    let source = |span| top(Arc::clone(&keys), "key", 1).over(span);
    keys.add(&1, 5);
    clock.advance(ms(2_000));
    keys.add(&2, 3);
    clock.advance(ms(500));
    keys.add(&3, 2);
    let values = |span| -> Vec<f64> {
        seen(&source(span).expect("a span")).values().map(|(_, value)| *value).collect()
    };
    assert_eq!(values(ms(500)), [2.0, 0.0]);
    assert_eq!(values(ms(1_000)), [3.0, 2.0]);
    assert_eq!(values(ms(60_000)), [5.0, 5.0]);
    assert_eq!(source(ms(0)).err(), Some(OutOfRangeError::ZeroSpan));
    assert!(matches!(source(ms(60_001)).err(), Some(OutOfRangeError::SpanTooLong { .. })));
}

//! Distributions by serde: they come back, and invalid ones are refused.

use proptest::prelude::*;
use windrow::{
    Histogram,
    histogram::{Distribution, Scale},
};

fn distribution(scale: Scale, values: &[u64]) -> Distribution {
    let histogram = Histogram::with_scale(scale);
    for value in values {
        histogram.record(*value);
    }
    histogram.distribution()
}

/// Checks that it comes back from JSON and from postcard, which has no types in its data.
fn comes_back(distribution: &Distribution) {
    let text = serde_json::to_string(distribution).unwrap();
    assert_eq!(&serde_json::from_str::<Distribution>(&text).unwrap(), distribution, "{text}");
    let bytes = postcard::to_stdvec(distribution).unwrap();
    assert_eq!(&postcard::from_bytes::<Distribution>(&bytes).unwrap(), distribution, "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_was_recorded_comes_back(
        schema in 0..=5_u8,
        ends in (any::<u64>(), 0..64_u32, any::<u64>(), 0..64_u32),
        values in proptest::collection::vec((any::<u64>(), 0..64_u32), 0..50),
    ) {
        let (one, two) = ((ends.0 >> ends.1).max(1), (ends.2 >> ends.3).max(1));
        let scale = Scale::new(schema, one.min(two), one.max(two)).unwrap();
        let values: Vec<u64> = values.iter().map(|(bits, shift)| bits >> shift).collect();
        comes_back(&distribution(scale, &values));
    }
}

#[test]
fn an_empty_one_and_one_that_was_drained_come_back() {
    comes_back(&Distribution::default());
    let histogram = Histogram::new();
    histogram.record(5_000);
    _ = histogram.take();
    histogram.record(6_000);
    comes_back(&histogram.distribution());
}

#[test]
fn what_no_histogram_gives_is_refused() {
    let sound = r#"{"scale":[3,513,1024],"sum":2624,"extremes":[600,1024,true],"cells":[[608,1],[1024,2]]}"#;
    assert_eq!(serde_json::from_str::<Distribution>(sound).unwrap().count(), 3);
    for (found, instead, words) in [
        ("[3,513", "[6,513", "the schema is 6"),
        ("[3,513", "[3,0", "begins at 0"),
        ("[3,513", "[3,2000", "before it begins"),
        ("[3,513", "[3,600", "from 600 to 1024"),
        ("[608,1]", "[607,1]", "no cell of the scale ends at 607"),
        ("[608,1]", "[608,0]", "ends at 608 has no values"),
        ("[608,1],[1024,2]", "[1024,2],[608,1]", "ends at 608 does not come after"),
        ("[608,1]", "[608,1],[608,1]", "ends at 608 does not come after"),
        ("[600,1024,true]", "[600,1024]", "invalid length 2"),
        ("[600,1024,true]", "null", "no extremes"),
        ("[600,1024,true]", "[609,1024,true]", "609 and 1024"),
        ("[600,1024,true]", "[1024,600,true]", "1024 and 600"),
        ("[600,1024,true]", "[558,1024,true]", "558 and 1024"),
        ("[600,1024,true]", "[600,1025,true]", "600 and 1025"),
        ("[[608,1],[1024,2]]", "[]", "600 and 1024"),
        ("[[608,1],[1024,2]]", "[[608,1]]", "600 and 1024"),
        ("\"sum\":2624,", "", "missing field `sum`"),
    ] {
        let text = sound.replace(found, instead);
        assert_ne!(text, sound, "{found}");
        let refused = serde_json::from_str::<Distribution>(&text).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}, and not: {words}");
    }
    let of_one_cell =
        r#"{"scale":[3,513,1024],"sum":2,"extremes":[602,600,false],"cells":[[608,2]]}"#;
    assert!(serde_json::from_str::<Distribution>(of_one_cell).is_err());
}

/// Counts that do not fit stop at the greatest, and come back.
#[test]
fn counts_that_do_not_fit_come_back_and_make_nothing_panic() {
    let histogram = Histogram::with_scale(Scale::fixed::<3, 513, 1024>());
    histogram.record_many(600, u64::MAX);
    let most = histogram.distribution();
    histogram.record_many(1_024, u64::MAX);
    let mut both = histogram.distribution();
    comes_back(&most);
    comes_back(&both);
    for _ in 0..3 {
        both.merge(&most).unwrap();
        assert_eq!(both.count(), u64::MAX);
        assert_eq!([0.0, 1.0].map(|q| both.quantile(q)), [Some(600), Some(1_024)]);
        assert!(both.mean().unwrap().is_finite());
        assert_eq!(both.count_above(700), u64::MAX..=u64::MAX);
        assert!(!format!("{both} {both:?}").is_empty());
        comes_back(&both);
    }
}

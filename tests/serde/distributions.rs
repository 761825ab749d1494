//! Distributions by serde: that they come back, and what is refused.

use proptest::prelude::*;
use windrow::{Distribution, Histogram, Scale};

fn distribution(scale: Scale, values: &[u64]) -> Distribution {
    let histogram = Histogram::with_scale(scale);
    for value in values {
        histogram.record(*value);
    }
    histogram.distribution()
}

/// From JSON and from postcard, which does not say what it holds.
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
    histogram.take();
    histogram.record(6_000);
    comes_back(&histogram.distribution());
}

#[test]
fn what_no_histogram_gives_is_refused() {
    let sound =
        r#"{"scale":[3,513,1024],"sum":2624,"extremes":[600,1024],"cells":[[608,1],[1024,2]]}"#;
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
        ("[608,1]", "[608,18446744073709551615]", "more values than 64 bits"),
        ("[600,1024]", "null", "no extremes"),
        ("[600,1024]", "[609,1024]", "609 and 1024"),
        ("[600,1024]", "[1024,600]", "1024 and 600"),
        ("[600,1024]", "[558,1024]", "558 and 1024"),
        ("[600,1024]", "[600,1025]", "600 and 1025"),
        ("[[608,1],[1024,2]]", "[]", "600 and 1024"),
        ("[[608,1],[1024,2]]", "[[608,1]]", "600 and 1024"),
        ("\"sum\":2624,", "", "missing field `sum`"),
    ] {
        let text = sound.replace(found, instead);
        assert_ne!(text, sound, "{found}");
        let refused = serde_json::from_str::<Distribution>(&text).unwrap_err().to_string();
        assert!(refused.contains(words), "{refused}, and not: {words}");
    }
    let of_one_cell = r#"{"scale":[3,513,1024],"sum":2,"extremes":[602,600],"cells":[[608,2]]}"#;
    assert!(serde_json::from_str::<Distribution>(of_one_cell).is_err());
}

/// No window counts so many; but what is read may say so.
#[test]
fn counts_that_wrap_when_they_are_merged_make_nothing_panic() {
    let most = r#"{"scale":[3,513,1024],"sum":2624,"extremes":[600,600],"cells":[[608,18446744073709551615]]}"#;
    let one = r#"{"scale":[3,513,1024],"sum":9,"extremes":[600,1024],"cells":[[608,1],[1024,1]]}"#;
    let most: Distribution = serde_json::from_str(most).unwrap();
    let mut both: Distribution = serde_json::from_str(one).unwrap();
    for count in [1, 0, u64::MAX] {
        both.merge(&most).unwrap();
        assert_eq!(both.count(), count);
        both.percentiles([0.0, 0.5, 1.0]);
        both.count_above(700);
        assert!(!format!("{both} {both:?}").is_empty());
    }
}

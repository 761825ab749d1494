//! The contents of a histogram of `hdrhistogram`, beside the recorded values.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer, V2Serializer};
use proptest::prelude::*;
use windrow::histogram::{Distribution, Scale};
use windrow_hdrhistogram::histogram;

fn distribution(scale: Scale, values: &[u64]) -> Distribution {
    let histogram = windrow::Histogram::with_scale(scale);
    for value in values {
        histogram.record(*value);
    }
    histogram.distribution()
}

/// Returns each value that it has, in order, as it answers it.
fn values(of: &Histogram<u64>) -> Vec<u64> {
    of.iter_recorded()
        .flat_map(|step| vec![step.value_iterated_to(); step.count_since_last_iteration() as usize])
        .collect()
}

/// Returns the end of the cell in which a value was counted.
fn cell_end(counted: &Distribution, value: u64) -> u64 {
    let mut ends = counted.cells().map(|(cell, _)| *cell.end());
    ends.find(|end| *end >= value).expect("it was counted")
}

/// Is each value there, as right as is promised?
fn check(scale: Scale, digits: u8, recorded: &mut [u64]) -> Result<(), TestCaseError> {
    let counted = distribution(scale, recorded);
    let hdr = histogram(&counted, digits).expect("no more than five digits");
    prop_assert_eq!(hdr.len(), recorded.len() as u64);
    recorded.sort_unstable();
    let found = values(&hdr);
    prop_assert_eq!(found.len(), recorded.len());
    let parts = 10_f64.powi(i32::from(digits));
    for (found, value) in found.into_iter().zip(recorded.iter()) {
        if (scale.min()..=scale.max()).contains(value) {
            let stands = *value as f64 * scale.error_bound() + 0.5;
            let allowed = stands + (*value as f64 + stands) / parts + 1.0;
            prop_assert!(
                (found as f64 - *value as f64).abs() <= allowed,
                "{} for {}",
                found,
                value
            );
        } else {
            let greatest = counted.max().unwrap().min(cell_end(&counted, *value)) as f64;
            prop_assert!(
                found as f64 <= greatest + greatest / parts + 1.0,
                "{} for {}",
                found,
                value
            );
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn each_value_is_there_within_the_error_of_its_scale_and_of_the_digits(
        mut recorded in prop::collection::vec(0..100_000_000_000_u64, 0..60),
        schema in 0..=5_u8,
        digits in 1..=3_u8,
    ) {
        check(Scale::new(schema, 1_000, 60_000_000_000).unwrap(), digits, &mut recorded)?;
    }

    #[test]
    fn small_values_are_there_too(
        mut recorded in prop::collection::vec(0..200_u64, 0..60),
        schema in 0..=5_u8,
    ) {
        check(Scale::new(schema, 1, 100).unwrap(), 3, &mut recorded)?;
    }
}

#[test]
fn nothing_is_an_empty_histogram_and_the_greatest_value_of_all_fits() {
    let nothing = histogram(&Distribution::default(), 3).unwrap();
    assert_eq!((nothing.len(), nothing.max()), (0, 0));
    let all = Scale::new(0, 1, u64::MAX).unwrap();
    let most = histogram(&distribution(all, &[0, u64::MAX, u64::MAX]), 2).unwrap();
    // The formats' numbers have a sign.
    assert_eq!((most.len(), most.max(), most.min()), (3, i64::MAX as u64, 0));
    assert_eq!(most.high(), i64::MAX as u64);
    let zeros = histogram(&distribution(all, &[0, 0]), 0).unwrap();
    assert_eq!((zeros.len(), zeros.max()), (2, 0));
    assert!(histogram(&Distribution::default(), 6).is_err());
}

#[test]
fn it_is_as_large_as_is_said() {
    let minute = histogram(&distribution(Scale::DEFAULT, &[60_000_000_000]), 3).unwrap();
    assert_eq!(8 * minute.distinct_values(), 221_184);
}

#[test]
fn its_own_formats_read_it_back() {
    let recorded: Vec<u64> = (1..=10_000).map(|micros| micros * 1_000).collect();
    let hdr = histogram(&distribution(Scale::DEFAULT, &recorded), 3).unwrap();
    let (mut plain, mut deflated) = (Vec::new(), Vec::new());
    V2Serializer::new().serialize(&hdr, &mut plain).unwrap();
    V2DeflateSerializer::new().serialize(&hdr, &mut deflated).unwrap();
    for bytes in [plain, deflated] {
        let back: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
        assert!(back == hdr);
        assert_eq!(back.value_at_quantile(0.99), hdr.value_at_quantile(0.99));
    }
}

#[test]
fn a_drain_and_a_window_have_distributions_that_are_histograms_too() {
    windrow::events! { enum Http { Rt: Histogram } }
    let (window, drained) =
        (windrow::SlidingWindow::<Http>::builder().build().unwrap(), windrow::Histogram::new());
    for value in [2_000, 3_000, 90_000] {
        window.record(Http::Rt, value);
        drained.record(value);
    }
    let of_window = histogram(&window.distribution(Http::Rt), 3).unwrap();
    let of_drain = histogram(&drained.take(), 3).unwrap();
    assert!(of_window == of_drain);
    assert_eq!(of_window.len(), 3);
    assert_eq!(histogram(&drained.take(), 3).unwrap().len(), 0);
}

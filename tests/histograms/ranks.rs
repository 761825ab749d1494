//! The rank of a quantile, beside that of exact fractions.

use testkit::Rng;
use windrow::Histogram;
use windrow::histogram::Scale;

/// Returns the rank that a quantile has among `count` values: the least number of ones, beside
/// twos, among which the quantile is.
fn rank(q: f64, count: u64) -> u64 {
    let is_among = |ones: u64| {
        let all = Histogram::with_scale(Scale::fixed::<5, 1, 1_024>());
        all.record_many(1, ones);
        all.record_many(2, count - ones);
        all.distribution().quantile(q) == Some(1)
    };
    let (mut less, mut enough) = (0, count);
    while less + 1 < enough {
        let middle = less + (enough - less) / 2;
        if is_among(middle) { enough = middle } else { less = middle }
    }
    enough
}

/// Returns `q * count`, rounded up, with `q` as the shortest decimal fraction that is read as `q`.
fn of_decimal(q: f64, count: u64) -> u64 {
    let text = format!("{q}"); // the shortest, and without an exponent
    let (whole, digits) = text.split_once('.').unwrap_or((&text, ""));
    let mut rank = 0_u128;
    for digit in digits.bytes().rev() {
        // Rounded up at each step, which is as if rounded up at the end.
        rank = (rank + u128::from(digit - b'0') * u128::from(count)).div_ceil(10);
    }
    let whole: u128 = whole.parse().unwrap();
    u64::try_from((rank + whole * u128::from(count)).max(1)).unwrap()
}

#[test]
fn a_quantile_just_above_a_rank_is_the_next_one() {
    assert_eq!(rank(0.5, 2), 1);
    assert_eq!(rank(0.500_000_000_000_000_1, 2), 2);
    assert_eq!(rank(0.500_000_000_000_000_2, 2), 2);
    assert_eq!(rank(0.666_666_666_666_666_6, 3), 2);
    assert_eq!(rank(0.666_666_666_666_666_7, 3), 3);
}

/// Parts of a thousand, and the numbers beside them; decimal fractions of any length; and very
/// small ones.
#[test]
fn a_quantile_is_taken_as_its_decimal_fraction() {
    let mut random = Rng::with_seed(1);
    let check = |q: f64, count: u64| {
        assert_eq!(rank(q, count), of_decimal(q, count), "{q} of {count}");
    };
    let sizes = [1, 2, 3, 7, 10, 64, 99, 100, 300, 1_000, 12_345, 1 << 40];
    for part in 0..=1_000 {
        let q = f64::from(part) / 1_000.0;
        for count in sizes {
            check(q, count);
            check(q.next_up().min(1.0), count.min(1_000));
            check(q.next_down().max(0.0), count.min(1_000));
        }
    }
    for _ in 0..5_000 {
        let digits = random.i32(1..=15);
        let q = random.u64(..10_u64.pow(digits.unsigned_abs()));
        let q: f64 = format!("{q}e-{digits}").parse().unwrap();
        check(q, random.u64(1..=300));
        check(q, sizes[random.usize(..sizes.len() - 1)]);
    }
    for q in [0.0, -0.0, 5e-324, 1e-300, 1e-17, 0.07, 0.998_05, 0.99_f64.next_up(), 1.0] {
        for count in sizes {
            check(q.abs(), count);
        }
    }
}

/// A fraction that was divided, and the next number above it.
#[test]
fn a_quantile_is_taken_as_the_fraction_that_it_was_divided_from() {
    for count in (1..=150).chain([1_000, 99_991, (1 << 40) + 7]) {
        for part in 1..count.min(150) {
            let q = part as f64 / count as f64;
            assert_eq!(rank(q, count), part, "{part} of {count}");
            assert_eq!(rank(q.next_up(), count), part + 1, "behind {part} of {count}");
        }
    }
}

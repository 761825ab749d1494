//! Numbers as the text formats have them.

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

/// The digits of 0 to 99, two for each.
const PAIRS: [[u8; 2]; 100] = {
    let (mut pairs, mut number) = ([[b'0'; 2]; 100], 0);
    while number < 100 {
        pairs[number] = [b'0' + (number / 10) as u8, b'0' + (number % 10) as u8];
        number += 1;
    }
    pairs
};

/// Appends a whole number.
#[inline]
pub(crate) fn push_unsigned(text: &mut Vec<u8>, number: u64) {
    match number {
        0..10 => text.push(b'0' + number as u8),
        10..100 => text.extend_from_slice(&PAIRS[number as usize]),
        100..1_000 => {
            let [tens, ones] = PAIRS[(number % 100) as usize];
            text.extend_from_slice(&[b'0' + (number / 100) as u8, tens, ones]);
        }
        _ => push_many_digits(text, number),
    }
}

fn push_many_digits(text: &mut Vec<u8>, mut number: u64) {
    const MOST_DIGITS: usize = 20;
    let mut digits = [0; MOST_DIGITS];
    let mut begin = MOST_DIGITS;
    while number >= 10 {
        begin -= 2;
        digits[begin..begin + 2].copy_from_slice(&PAIRS[(number % 100) as usize]);
        number /= 100;
    }
    if number > 0 {
        begin -= 1;
        digits[begin] = b'0' + number as u8;
    }
    text.extend_from_slice(&digits[begin..]);
}

/// Appends a whole number with a sign.
pub(crate) fn push_signed(text: &mut Vec<u8>, number: i64) {
    if number < 0 {
        text.push(b'-');
    }
    push_unsigned(text, number.unsigned_abs());
}

/// Appends a real number: the shortest text that reads as the same number, in the form that
/// Prometheus gives to the bounds of buckets. (It is that of Go's `%g`, with `.0` behind a whole
/// number.) So a series has one name, whether it is scraped as text or as protobuf.
pub(crate) fn push_real(text: &mut Vec<u8>, number: f64) {
    // Below a million, where Go writes no exponent.
    let whole = number as i32;
    if number.abs() < 1e6 && f64::from(whole).to_bits() == (number + 0.0).to_bits() {
        if number.is_sign_negative() {
            text.push(b'-');
        }
        push_unsigned(text, whole.unsigned_abs().into());
        text.extend_from_slice(b".0");
    } else if number.is_finite() {
        push_fraction(text, number);
    } else if number.is_nan() {
        text.extend_from_slice(b"NaN");
    } else {
        text.extend_from_slice(if number > 0.0 { b"+Inf" } else { b"-Inf" });
    }
}

/// Appends a finite number, by its digits in scientific form.
fn push_fraction(text: &mut Vec<u8>, number: f64) {
    let mut scientific = [0; LONGEST];
    let mut room = &mut scientific[..];
    let _ = write!(room, "{number:e}"); // it has room
    let left = room.len();
    let scientific = str::from_utf8(&scientific[..LONGEST - left]).unwrap_or_default();
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let (sign, digits) = mantissa.strip_prefix('-').map_or(("", mantissa), |digits| ("-", digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let mut push = |part: &str| text.extend_from_slice(part.as_bytes());
    push(sign);
    if !(-4..6).contains(&exponent) {
        push(digits);
        push(if exponent < 0 { "e-" } else { "e+" });
        if exponent.abs() < 10 {
            push("0");
        }
        push_unsigned(text, u64::from(exponent.unsigned_abs()));
    } else if exponent < 0 {
        push("0.");
        (1..-exponent).for_each(|_| push("0"));
        push(whole);
        push(fraction);
    } else {
        let exponent = exponent.unsigned_abs() as usize;
        let moved = exponent.min(fraction.len());
        push(whole);
        push(&fraction[..moved]);
        (moved..exponent).for_each(|_| push("0"));
        let rest = &fraction[moved..];
        push(".");
        push(if rest.is_empty() { "0" } else { rest });
    }
}

/// Appends a time in seconds since 1970, exact to the nanosecond.
pub(crate) fn push_time(text: &mut Vec<u8>, time: SystemTime) {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (seconds, nanos) = (since.as_secs(), since.subsec_nanos());
    let mut digits = [b'.'; 20];
    digits[11..19].copy_from_slice(&eight_digits(nanos / 10));
    digits[19] = b'0' + (nanos % 10) as u8;
    if let high @ 10..100 = seconds / 100_000_000 {
        // From 2001 to 2286: all is appended at once.
        digits[..2].copy_from_slice(&PAIRS[high as usize]);
        digits[2..10].copy_from_slice(&eight_digits((seconds % 100_000_000) as u32));
        text.extend_from_slice(&digits);
    } else {
        push_unsigned(text, seconds);
        text.extend_from_slice(&digits[10..]);
    }
    let zeros = digits[12..].iter().rev().take_while(|digit| **digit == b'0').count();
    text.truncate(text.len() - zeros);
}

/// Returns the last eight digits of a number.
#[inline]
fn eight_digits(number: u32) -> [u8; 8] {
    let mut digits = [0; 8];
    for (at, unit) in [(0, 1_000_000), (2, 10_000), (4, 100), (6, 1)] {
        digits[at..at + 2].copy_from_slice(&PAIRS[(number / unit % 100) as usize]);
    }
    digits
}

/// The length of the longest number in scientific form: a sign, 17 digits with a point, `e-308`.
const LONGEST: usize = 24;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn shown(push: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut text = Vec::new();
        push(&mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn whole_numbers_have_their_digits() {
        for number in [0, 1, 9, 10, 99, 100, 999, 1_000, 12_345, 100_000, u64::MAX - 1, u64::MAX] {
            assert_eq!(shown(|text| push_unsigned(text, number)), number.to_string());
        }
        for number in [0, -1, i64::MIN, i64::MAX] {
            assert_eq!(shown(|text| push_signed(text, number)), number.to_string());
        }
    }

    #[test]
    fn real_numbers_are_those_of_prometheus() {
        // As Go's `strconv.FormatFloat(number, 'g', -1, 64)` has them, with `.0`.
        let table = [
            (0.0, "0.0"),
            (-0.0, "-0.0"),
            (1.0, "1.0"),
            (-2.5, "-2.5"),
            (10.0, "10.0"),
            (512.0, "512.0"),
            (100_000.0, "100000.0"),
            (123_456.75, "123456.75"),
            (1_000_000.0, "1e+06"),
            (1_048_576.0, "1.048576e+06"),
            (-1_234_567.5, "-1.2345675e+06"),
            (1e21, "1e+21"),
            (0.1, "0.1"),
            (0.001_048_576, "0.001048576"),
            (0.000_1, "0.0001"),
            (0.000_01, "1e-05"),
            (5.12e-7, "5.12e-07"),
            (f64::MAX, "1.7976931348623157e+308"),
            (-f64::MIN_POSITIVE, "-2.2250738585072014e-308"),
            (f64::INFINITY, "+Inf"),
            (f64::NEG_INFINITY, "-Inf"),
            (f64::NAN, "NaN"),
        ];
        for (number, expected) in table {
            assert_eq!(shown(|text| push_real(text, number)), expected);
        }
        let mut number = 1e-30_f64;
        while number < 1e30 {
            let text = shown(|text| push_real(text, number));
            assert_eq!(text.parse(), Ok(number), "{text}");
            number *= 1.37;
        }
    }

    #[test]
    fn times_are_exact() {
        let at = |seconds, nanos| UNIX_EPOCH + Duration::new(seconds, nanos);
        for (time, expected) in [
            (at(0, 0), "0.0"),
            (at(1_700_000_000, 0), "1700000000.0"),
            (at(1_700_000_000, 500_000_000), "1700000000.5"),
            (at(1, 1), "1.000000001"),
            (at(1, 120_000), "1.00012"),
            (UNIX_EPOCH - Duration::from_secs(1), "0.0"),
        ] {
            assert_eq!(shown(|text| push_time(text, time)), expected);
        }
    }

    #[test]
    fn times_of_any_length_have_all_their_digits() {
        let ten_digits = [1_000_000_000, 1_234_567_890, 9_999_999_999];
        for seconds in ten_digits.into_iter().chain([7, 999_999_999, 10_000_000_000]) {
            for nanos in (0..9).map(|power| 10_u32.pow(power)).chain([123_456_789, 999_999_999]) {
                let time = UNIX_EPOCH + Duration::new(seconds, nanos);
                let expected = format!("{seconds}.{nanos:09}");
                let expected = expected.trim_end_matches('0');
                assert_eq!(shown(|text| push_time(text, time)), expected);
            }
        }
    }
}

//! Numbers, times and names in words, for people.

use std::time::{Duration, SystemTime};

use crate::read::buckets::millis;
use crate::read::number::Number;
use crate::shown::unit::Unit;

/// Returns a factor.
pub(crate) fn times(factor: f64) -> String {
    format!("\u{d7}{}", digits(factor, 2))
}

/// Returns the part that is left of something after a fall by a factor.
pub(crate) fn part(factor: f64) -> String {
    const PARTS: &str =
        "half,a third,a quarter,a fifth,a sixth,a seventh,an eighth,a ninth,a tenth";
    let whole = factor.round().max(2.0);
    let found = PARTS.split(',').zip(2_u32..).find(|(_, number)| f64::from(*number) >= whole);
    found.map_or_else(|| format!("1/{whole}"), |(part, _)| part.to_owned())
}

/// Returns a share.
pub(crate) fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.0001 {
        return "<0.01\u{202f}%".to_owned();
    }
    format!("{}\u{202f}%", digits(share * 100.0, 2))
}

/// Returns a duration in nanoseconds.
pub(crate) fn time(nanos: f64) -> String {
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "\u{b5}s")];
    let is_at_least = |unit: f64| nanos.abs() >= 0.9995 * unit;
    let unit = units.into_iter().find(|(unit, _)| is_at_least(*unit)).unwrap_or((1.0, "ns"));
    format!("{}\u{202f}{}", digits(nanos / unit.0, 3), unit.1)
}

/// Returns a number with three digits, and a letter for its size.
pub(crate) fn short(number: f64) -> String {
    let (unit, name) = match number {
        1e9.. => (1e9, "G"),
        1e6.. => (1e6, "M"),
        1e4.. => (1e3, "k"),
        _ => (1.0, ""),
    };
    format!("{}{name}", digits(number / unit, 3))
}

/// Returns a number with at least this number of digits that are not zeros in front, as far as they
/// are behind the point; and without zeros at the end.
fn digits(number: f64, digits: i32) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let behind = (digits - 1 - number.abs().log10().floor() as i32).clamp(0, 6);
    let text = format!("{number:.*}", usize::try_from(behind).unwrap_or(0));
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns a number of bytes.
pub(crate) fn bytes(number: f64) -> String {
    let mut units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"].into_iter().peekable();
    let mut scaled = number;
    // A number that would round to 1024 takes the next unit.
    while scaled.abs() >= 1_023.5 && units.len() > 1 {
        scaled /= 1_024.0;
        units.next();
    }
    format!("{}\u{202f}{}", digits(scaled, 3), units.next().unwrap_or("B"))
}

/// Returns a moment in seconds since 1970, to the second.
pub(crate) fn date(seconds: f64) -> String {
    let whole = seconds.floor() as i64;
    let (days, second) = (whole.div_euclid(86_400), whole.rem_euclid(86_400));
    // By Howard Hinnant's `civil_from_days`: years begin in March, so that leap days come last, and
    // eras have 400 years.
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let year = year + era * 400;
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// Returns an age, by its two largest units.
pub(crate) fn age(age: Duration) -> String {
    match age.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3_600 => format!("{} min", seconds / 60),
        seconds @ 3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
        seconds => format!("{} d {} h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

/// Returns a time that has passed.
pub(crate) fn span(millis: u64) -> String {
    match millis / 1_000 {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7_200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3_600),
    }
}

/// Returns the time of the day.
pub(crate) fn utc(millis: u64) -> String {
    let minutes = millis / 60_000 % 1_440;
    format!("{:02}:{:02} UTC", minutes / 60, minutes % 60)
}

/// Returns the milliseconds since 1970.
pub(crate) fn wall() -> u64 {
    let time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    millis(time)
}

/// Returns a key in which characters that a terminal obeys, or that change the direction of a text,
/// are escaped.
pub(crate) fn legible(key: &str) -> String {
    let mut shown = String::with_capacity(key.len());
    for character in key.chars() {
        match character {
            ' '..='~' => shown.push(character), // quotes and backslashes are already escaped
            _ => shown.extend(character.escape_debug()),
        }
    }
    shown
}

/// Returns a number in words: `57.2 MiB`, `12.3 s`, `2026-11-28 05:26:57 UTC`.
pub(crate) fn quantity(number: Number, unit: Unit) -> String {
    let Some(real) = number.as_f64() else { return "none".to_owned() };
    match unit {
        Unit::None => plain(number),
        Unit::Bytes => bytes(real),
        Unit::Seconds => time(real * 1e9),
        Unit::Moment => date(real),
    }
}

/// Returns a number without a unit.
pub(crate) fn plain(number: Number) -> String {
    match number {
        Number::None => "none".to_owned(),
        Number::Whole(number) => number.to_string(),
        Number::Real(number) if number.fract() == 0.0 && number.abs() < 1e15 => format!("{number}"),
        Number::Real(number) => format!("{number:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_that_a_reader_needs() {
        let percents = [0.0, 0.00005, 0.003, 0.0334, 0.5, 0.9, 0.999, 1.0].map(percent);
        let expected = ["0", "<0.01", "0.3", "3.3", "50", "90", "100", "100"];
        assert_eq!(percents, expected.map(|number| format!("{number}\u{202f}%")));
        let times_ = [850.0, 1_250.0, 2.1e6, 84.3e6, 999_900.0, 12.34e9].map(time);
        let expected = [
            "850\u{202f}ns",
            "1.25\u{202f}\u{b5}s",
            "2.1\u{202f}ms",
            "84.3\u{202f}ms",
            "1\u{202f}ms",
            "12.3\u{202f}s",
        ];
        assert_eq!(times_, expected);
        assert_eq!(
            [2.0, 39.7, 2.54, 812.0].map(times),
            ["\u{d7}2", "\u{d7}40", "\u{d7}2.5", "\u{d7}812"]
        );
        assert_eq!([2.1, 9.8, 40.0].map(part), ["half", "a tenth", "1/40"]);
        assert_eq!(
            [0.25, 92.0, 1234.0, 45_678.0, 2.5e6].map(short),
            ["0.25", "92", "1234", "45.7k", "2.5M"]
        );
    }

    #[test]
    fn bytes_have_units_of_1024() {
        let found = [0.0, 1_023.0, 1_024.0, 59_768_832.0, 1_073_741_000.0, 1.8e19].map(bytes);
        let expected = ["0 B", "1023 B", "1 KiB", "57 MiB", "1 GiB", "15987 PiB"];
        assert_eq!(found, expected.map(|text| text.replace(' ', "\u{202f}")));
    }

    #[test]
    fn a_moment_is_a_date() {
        let moments = [0.0, 951_782_399.0, 951_782_400.0, 1_795_843_617.9, -1.0, 4_107_542_399.0];
        let expected = [
            "1970-01-01 00:00:00 UTC",
            "2000-02-28 23:59:59 UTC",
            "2000-02-29 00:00:00 UTC",
            "2026-11-28 05:26:57 UTC",
            "1969-12-31 23:59:59 UTC",
            "2100-02-28 23:59:59 UTC",
        ];
        assert_eq!(moments.map(date), expected);
    }

    #[test]
    fn an_age_has_two_units() {
        let ages = [59, 3_599, 12_000, 86_399, 273_600].map(Duration::from_secs);
        let expected = ["59 s", "59 min", "3 h 20 min", "23 h 59 min", "3 d 4 h"];
        assert_eq!(ages.map(age), expected);
    }

    #[test]
    fn each_unit_has_its_words() {
        let of = |number, unit| quantity(Number::real(number), unit).replace('\u{202f}', " ");
        assert_eq!(of(59_768_832.0, Unit::Bytes), "57 MiB");
        assert_eq!(of(12.34, Unit::Seconds), "12.3 s");
        assert_eq!(of(0.0015, Unit::Seconds), "1.5 ms");
        assert_eq!(of(1_795_843_617.0, Unit::Moment), "2026-11-28 05:26:57 UTC");
        assert_eq!(of(31.0, Unit::None), "31");
        assert_eq!(of(0.75, Unit::None), "0.75");
        assert_eq!(of(f64::NAN, Unit::Bytes), "none");
        assert_eq!(quantity(Number::Whole(-2_048), Unit::Bytes), "-2\u{202f}KiB");
        assert_eq!(quantity(Number::whole(u64::MAX), Unit::None), u64::MAX.to_string());
    }
}

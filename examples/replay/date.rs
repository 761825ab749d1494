//! The dates of an access log: `21/Nov/2026:03:52:01 +0000`, read and written.

use std::time::Duration;

use windrow::Timestamp;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The moment that a log's date names, its zero being the start of 1970; `None` if it is not a
/// date, or one that 64 bits of nanoseconds do not reach (1970 to 2554).
pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    // dd/Mon/yyyy:hh:mm:ss +hhmm
    // 01234567890123456789012345
    let bytes = text.as_bytes();
    let signs = [(2, b'/'), (6, b'/'), (11, b':'), (14, b':'), (17, b':'), (20, b' ')];
    if bytes.len() != 26 || signs.iter().any(|&(at, sign)| bytes[at] != sign) {
        return None;
    }
    let number = |from: usize, to: usize| {
        bytes[from..to].iter().try_fold(0, |number, byte| {
            byte.is_ascii_digit().then(|| 10 * number + i64::from(byte - b'0'))
        })
    };
    let month = (1..).zip(MONTHS).find(|(_, name)| name.as_bytes() == &bytes[3..6])?.0;
    let (day, year) = (number(0, 2)?, number(7, 11)?);
    let (hour, minute, second) = (number(12, 14)?, number(15, 17)?, number(18, 20)?);
    let east = match bytes[21] {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (zone_hours, zone_minutes) = (number(22, 24)?, number(24, 26)?);
    let days = days(year, month, day);
    // A day that its month does not have comes back as another; a second 60 is a leap second.
    if civil(days) != (year, month, day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    if zone_hours > 23 || zone_minutes > 59 {
        return None;
    }
    let zone = east * (3_600 * zone_hours + 60 * zone_minutes);
    let seconds = 86_400 * days + 3_600 * hour + 60 * minute + second - zone;
    let nanos = u64::try_from(seconds).ok()?.checked_mul(1_000_000_000)?;
    Some(Timestamp::from_nanos(nanos))
}

/// The moment as `2026-11-21 03:52:01`, in UTC.
pub(crate) fn format(at: Timestamp) -> String {
    let seconds = Duration::from_nanos(at.as_nanos()).as_secs();
    let (year, month, day) = civil((seconds / 86_400).cast_signed());
    let (hour, minute, second) = (seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
}

/// Days from the start of 1970 to a date of the Gregorian calendar. Years begin in March here, so
/// that a leap day is the last of its year; 400 of them have 146 097 days.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year
        - 719_468
}

/// The date, as year, month and day, so many days after the start of 1970.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (400 * era + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<u64> {
        parse(text).map(|at| at.as_nanos() / 1_000_000_000)
    }

    #[test]
    fn known_dates() {
        assert_eq!(seconds("01/Jan/1970:00:00:00 +0000"), Some(0));
        assert_eq!(seconds("21/Nov/2026:03:52:01 +0000"), Some(1_795_233_121));
        assert_eq!(seconds("29/Feb/2000:23:59:59 +0000"), Some(951_868_799));
        assert_eq!(seconds("31/Dec/2016:23:59:60 +0000"), Some(1_483_228_800));
    }

    #[test]
    fn zones_are_taken_off() {
        let noon = seconds("21/Nov/2026:12:00:00 +0000");
        assert_eq!(seconds("21/Nov/2026:17:30:00 +0530"), noon);
        assert_eq!(seconds("21/Nov/2026:02:30:00 -0930"), noon);
        assert_eq!(seconds("22/Nov/2026:00:00:00 +1200"), noon);
        assert_eq!(seconds("01/Jan/1970:00:30:00 +0100"), None);
    }

    #[test]
    fn every_day_comes_back() {
        for day in 0..213_000 {
            let (year, month, date) = civil(day);
            assert_eq!(days(year, month, date), day);
        }
        let at = parse("29/Feb/2028:04:05:06 +0000").unwrap();
        assert_eq!(format(at), "2028-02-29 04:05:06");
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "21/Nov/2026:03:52:01",
            "21/Nov/2026:03:52:01 0000 ",
            "21/nov/2026:03:52:01 +0000",
            "31/Nov/2026:03:52:01 +0000",
            "00/Nov/2026:03:52:01 +0000",
            "29/Feb/2100:03:52:01 +0000",
            "21/Nov/2026:24:00:00 +0000",
            "21/Nov/2026:03:60:00 +0000",
            "21/Nov/2026:03:52:61 +0000",
            "21/Nov/2026:03:52:01 +2400",
            "21/Nov/2026:03:52:01 +0060",
            "21/Nov/2026 03:52:01 +0000",
            "+1/Nov/2026:03:52:01 +0000",
            "21/Nov/1969:03:52:01 +0000",
            "21/Nov/9999:03:52:01 +0000",
            "2\u{fffd}Nov/2026:03:52:01 +0000",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}

//! The dates of an access log: `21/Nov/2026:03:52:01 +0000`, read and written.

use jiff::Timestamp as Moment;
use jiff::fmt::strtime;
use windrow::Timestamp;

/// Returns the moment that a log's date names, its zero being the start of 1970; `None` if it is
/// not a date, or one that 64 bits of nanoseconds do not reach (1970 to 2554).
pub(crate) fn parse(text: &str) -> Option<Timestamp> {
    let date = strtime::parse("%d/%b/%Y:%H:%M:%S %z", text).ok()?;
    let nanos = date.to_timestamp().ok()?.as_nanosecond();
    Some(Timestamp::from_nanos(u64::try_from(nanos).ok()?))
}

/// Returns the moment as `2026-11-21 03:52:01`, in UTC.
pub(crate) fn format(at: Timestamp) -> String {
    let moment = Moment::from_nanosecond(at.as_nanos().into()).expect("jiff's time ends in 9999");
    moment.strftime("%Y-%m-%d %H:%M:%S").to_string()
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
        // A leap second is the one before.
        assert_eq!(seconds("31/Dec/2016:23:59:60 +0000"), Some(1_483_228_799));
        assert_eq!(format(parse("29/Feb/2028:04:05:06 +0000").unwrap()), "2028-02-29 04:05:06");
        assert_eq!(format(Timestamp::from_nanos(u64::MAX)), "2554-07-21 23:34:33");
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
    fn what_is_no_date_is_refused() {
        for text in [
            "",
            "21/Nov/2026:03:52:01",
            "21/Nov/2026:03:52:01 0000 ",
            "31/Nov/2026:03:52:01 +0000",
            "00/Nov/2026:03:52:01 +0000",
            "29/Feb/2100:03:52:01 +0000",
            "21/Nov/2026:24:00:00 +0000",
            "21/Nov/2026:03:60:00 +0000",
            "21/Nov/2026:03:52:61 +0000",
            "21/Nov/2026:03:52:01 +0060",
            "21/Nov/2026 03:52:01 +0000",
            "21/Nov/1969:03:52:01 +0000",
            "21/Nov/9999:03:52:01 +0000",
            "2\u{fffd}Nov/2026:03:52:01 +0000",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}

//! The unit of a metric that is one number: by the end of its name, as Prometheus' conventions have
//! it, or otherwise as the program says it.
//!
//! | name ends in | unit |
//! |---|---|
//! | `_start_time_seconds`, `_timestamp_seconds` | a moment, in seconds since 1970 |
//! | `_seconds` | seconds |
//! | `_bytes` | bytes |
//!
//! A suffix `_total` stands behind these and does not matter.

use windrow::export::Form;

/// A unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// A plain number.
    None,
    Bytes,
    Seconds,
    /// Seconds since 1970.
    Moment,
}

impl Unit {
    /// Returns the unit of a metric with this name and form. `said` is the unit that a catalog
    /// says: `By`, `s`, or any other.
    pub(crate) fn of(name: &str, form: Form, said: &str) -> Unit {
        // The values of these have units of their own.
        if matches!(form, Form::Window(..) | Form::Histogram(_)) {
            return Unit::None;
        }
        let name = name.strip_suffix("_total").unwrap_or(name);
        if name.ends_with("_start_time_seconds") || name.ends_with("_timestamp_seconds") {
            Unit::Moment
        } else if name.ends_with("_seconds") || said == "s" {
            Unit::Seconds
        } else if name.ends_with("_bytes") || said == "By" {
            Unit::Bytes
        } else {
            Unit::None
        }
    }

    /// Returns its name in frames and in `/snapshot.json`; `None` for a plain number.
    pub(crate) fn name(self) -> Option<&'static str> {
        match self {
            Unit::None => None,
            Unit::Bytes => Some("By"),
            Unit::Seconds => Some("s"),
            Unit::Moment => Some("time"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_its_unit_and_a_catalog_that_of_any_other() {
        let of = |name, said| Unit::of(name, Form::Real, said);
        assert_eq!(of("process_resident_memory_bytes", ""), Unit::Bytes);
        assert_eq!(of("process_cpu_seconds_total", ""), Unit::Seconds);
        assert_eq!(of("process_cpu_seconds", "s"), Unit::Seconds);
        assert_eq!(of("shop_start_time_seconds", ""), Unit::Moment);
        assert_eq!(of("last_backup_timestamp_seconds", "s"), Unit::Moment);
        assert_eq!(of("request_time_seconds", ""), Unit::Seconds, "it may be a span");
        assert_eq!(of("buffers", "By"), Unit::Bytes);
        assert_eq!(of("lag", "s"), Unit::Seconds);
        assert_eq!(of("bytes", ""), Unit::None);
        assert_eq!(of("process_open_fds", ""), Unit::None);
    }

    #[test]
    fn the_values_of_a_window_have_their_own_units() {
        assert_eq!(Unit::of("sent_bytes", Form::Window(&[], &[]), "By"), Unit::None);
    }
}

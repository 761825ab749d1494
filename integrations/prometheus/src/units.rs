//! Units as Prometheus names them.

/// The units of the Unified Code for Units of Measure that programs count in, and Prometheus' names
/// for them.
const UNITS: [(&str, &str); 12] = [
    ("ns", "nanoseconds"),
    ("us", "microseconds"),
    ("ms", "milliseconds"),
    ("s", "seconds"),
    ("min", "minutes"),
    ("h", "hours"),
    ("By", "bytes"),
    ("KiBy", "kibibytes"),
    ("MiBy", "mebibytes"),
    ("bit", "bits"),
    ("%", "percent"),
    ("Cel", "celsius"),
];

/// Returns Prometheus' name of a unit; an empty one for others.
pub(crate) fn prometheus_unit(code: &str) -> &'static str {
    UNITS.iter().find(|(known, _)| *known == code).map_or("", |(_, name)| name)
}

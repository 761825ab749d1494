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

/// Returns the unit in which Prometheus shows values of a unit that a program declares, and the
/// number by which it divides them: times are in seconds.
pub(crate) fn base_unit(code: &str) -> (&'static str, u64) {
    match code {
        "ns" => ("seconds", 1_000_000_000),
        "us" => ("seconds", 1_000_000),
        "ms" => ("seconds", 1_000),
        _ => (prometheus_unit(code), 1),
    }
}

/// Returns Prometheus' name of a unit; an empty one for others.
pub(crate) fn prometheus_unit(code: &str) -> &'static str {
    UNITS.iter().find(|(known, _)| *known == code).map_or("", |(_, name)| name)
}

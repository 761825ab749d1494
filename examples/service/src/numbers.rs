//! Numbers as people read them.

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    indicatif::HumanCount(number).to_string()
}

/// Microseconds as milliseconds, `n/a` where nothing was recorded.
pub(crate) fn milliseconds(microseconds: Option<f64>) -> String {
    microseconds.map_or_else(|| "n/a".to_owned(), |us| format!("{:.2}", us / 1_000.0))
}

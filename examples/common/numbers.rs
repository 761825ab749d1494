//! Numbers as people read them.

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Microseconds as milliseconds, `n/a` where nothing was recorded.
pub(crate) fn milliseconds(microseconds: Option<f64>) -> String {
    microseconds.map_or_else(|| "n/a".to_owned(), |us| format!("{:.2}", us / 1_000.0))
}

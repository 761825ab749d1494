//! The names of the variables, and what their values mean.

/// The maximum number of rows in a bank, because a read may have to visit each of them.
pub(in crate::stripe) const MOST_ROWS: usize = 256;

/// The variable that names a strategy.
pub(in crate::stripe) const STRATEGY: &str = "WINDROW_STRATEGY";
/// The variable that limits the number of rows.
pub(super) const ROWS: &str = "WINDROW_ROWS";
/// The variable that says whether threads lease rows.
pub(super) const LEASES: &str = "WINDROW_LEASES";

/// The beginning of each variable's name.
pub(super) const PREFIX: &str = "WINDROW_";
/// All variables.
pub(super) const NAMES: [&str; 3] = [STRATEGY, ROWS, LEASES];

/// The strategy that the environment demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::stripe) enum Wish {
    /// The best that works here.
    Any,
    Portable,
    Fenced,
    Epochs,
    /// Per core, with rows by processor.
    ByProcessor,
}

#[inline(never)] // its code once
pub(super) fn wish(value: &[u8]) -> Option<Wish> {
    Some(match value {
        b"" => Wish::Any,
        b"portable" => Wish::Portable,
        b"fenced" => Wish::Fenced,
        b"epochs" => Wish::Epochs,
        b"cpu-id" => Wish::ByProcessor,
        _ => return None,
    })
}

/// Reads a number of rows: digits, which a plus sign may precede.
#[inline(never)] // as above
pub(super) fn number(value: &[u8]) -> Option<usize> {
    let digits = value.strip_prefix(b"+").unwrap_or(value);
    let add = |number: usize, digit: &u8| {
        let digit = digit.is_ascii_digit().then(|| usize::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    };
    if digits.is_empty() { None } else { digits.iter().try_fold(0, add) }
}

#[inline(never)] // as above
pub(super) fn leases(value: &[u8]) -> Option<bool> {
    match value {
        b"on" => Some(true),
        b"off" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_what_std_reads_as_one() {
        for text in [
            "",
            "0",
            "1",
            "256",
            "+7",
            "007",
            "-1",
            "+",
            "++1",
            " 1",
            "1 ",
            "1_0",
            "0x1",
            "\u{663}",
            "18446744073709551615",
            "18446744073709551616",
            "99999999999999999999999999",
        ] {
            assert_eq!(number(text.as_bytes()), text.parse().ok(), "{text:?}");
        }
    }
}

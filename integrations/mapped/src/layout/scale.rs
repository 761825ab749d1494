//! A histogram's scale, as the detail of its entry.
//!
//! | byte | field |
//! |---|---|
//! | 0 | schema: an octave has 2^schema cells |
//! | 1 | the range's first octave |
//! | 2 | the octave behind its last |
//! | 3 to 7 | zero |
//!
//! Octave 0 has the value 1, and octave `n` the values above 2^(n - 1) up to 2^n.

use windrow::histogram::Scale;

/// Returns the number of a scale.
pub(crate) fn number(scale: Scale) -> u64 {
    let octave = |value: u64| u64::from(64 - (value - 1).leading_zeros()); // a value is not zero
    let end = octave(scale.max()) + 1;
    u64::from(scale.schema()) | octave(scale.min()) << 8 | end << 16
}

/// Returns the scale of a number; `None` if there is none.
pub(crate) fn of(number: u64) -> Option<Scale> {
    let [schema, first, end, rest @ ..] = number.to_le_bytes();
    if rest != [0; 5] || end > 65 || first >= end {
        return None;
    }
    let min = first.checked_sub(1).map_or(1, |before| (1 << before) + 1);
    let max = if end == 65 { u64::MAX } else { 1 << (end - 1) };
    Scale::new(schema, min, max).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_comes_back() {
        let ranges = [(1, 1), (1, 2), (2, 2), (3, 9), (513, 1 << 36), (1, u64::MAX), (1 << 63, !0)];
        for (min, max) in ranges {
            for schema in 0..=5 {
                let scale = Scale::new(schema, min, max).unwrap();
                assert_eq!(of(number(scale)), Some(scale), "{:?}", number(scale).to_le_bytes());
            }
        }
        assert_eq!(number(Scale::DEFAULT).to_le_bytes(), [3, 10, 37, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn other_numbers_are_no_scales() {
        for bytes in [[0; 8], [6, 1, 2, 0, 0, 0, 0, 0], [3, 2, 2, 0, 0, 0, 0, 0]] {
            assert_eq!(of(u64::from_le_bytes(bytes)), None, "{bytes:?}");
        }
        for bytes in [[0, 0, 66, 0, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0, 1], [255; 8]] {
            assert_eq!(of(u64::from_le_bytes(bytes)), None, "{bytes:?}");
        }
    }
}

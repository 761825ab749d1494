//! Functions for the compiler, which `labels!` calls in constants.

/// The maximum number of combinations up to which a family finds series by index: each takes a word
/// of memory.
const MOST_COMBINATIONS: usize = 65_536;

/// Computes [`Labels::COMBINATIONS`](crate::labels::Labels::COMBINATIONS).
pub const fn combinations(values: &[Option<usize>]) -> Option<usize> {
    let (mut product, mut index) = (1_usize, 0);
    while index < values.len() {
        let Some(values) = values[index] else { return None };
        product = product.saturating_mul(values);
        index += 1;
    }
    if product <= MOST_COMBINATIONS { Some(product) } else { None }
}

/// Returns whether all texts differ.
#[inline]
pub const fn all_differ(texts: &[&str]) -> bool {
    let mut one = 0;
    while one < texts.len() {
        let mut other = 0;
        while other < one {
            if are_same(texts[one].as_bytes(), texts[other].as_bytes()) {
                return false;
            }
            other += 1;
        }
        one += 1;
    }
    true
}

/// Returns whether two texts are equal, in a constant.
const fn are_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut index = 0;
    while index < one.len() {
        if one[index] != other[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// Returns a field's name as a label's: `r#type` is `type`.
#[inline]
pub const fn name(field: &'static str) -> &'static str {
    match field.as_bytes() {
        [b'r', b'#', ..] => field.split_at(2).1,
        _ => field,
    }
}

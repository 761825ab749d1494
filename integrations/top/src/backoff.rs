//! The time between two attempts to connect.

use std::time::Duration;

/// The first pause, and the longest.
const FIRST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(8);

/// Returns the pause after this many attempts in a row that have brought no frame.
pub(crate) fn pause(failed: u32) -> Duration {
    let doubled = 1_u32.checked_shl(failed.saturating_sub(1)).unwrap_or(u32::MAX);
    FIRST.saturating_mul(doubled).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let millis = [1, 2, 3, 4, 5, 6, 33, u32::MAX].map(|failed| pause(failed).as_millis());
        assert_eq!(millis, [500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000, 8_000]);
    }
}

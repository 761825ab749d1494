//! Words of sixteen bytes, which are loaded and exchanged as one.

use std::sync::atomic::Ordering;

use portable_atomic::AtomicU128;

/// Two words of eight bytes, which change as one.
pub(crate) trait Wide {
    /// Returns both words, of one moment.
    fn words(&self) -> [u64; 2];

    /// Stores `to` if the words are `from`; returns whether they were.
    fn exchange(&self, from: [u64; 2], to: [u64; 2]) -> bool;
}

impl Wide for AtomicU128 {
    #[inline]
    fn words(&self) -> [u64; 2] {
        // Acquire: pairs with the Release of `exchange`. See `ends`.
        apart(AtomicU128::load(self, Ordering::Acquire))
    }

    #[inline]
    fn exchange(&self, from: [u64; 2], to: [u64; 2]) -> bool {
        // Release: pairs with the Acquire of `words`. Acquire: a call that goes on after it reads
        // what its winner has seen. See `ends`.
        let (order, failed) = (Ordering::AcqRel, Ordering::Acquire);
        self.compare_exchange(joined(from), joined(to), order, failed).is_ok()
    }
}

/// Returns whether this processor exchanges sixteen bytes by one instruction. Where it does not, a
/// lock would stand in, of each process its own.
pub(crate) fn is_there() -> bool {
    AtomicU128::is_lock_free()
}

fn joined([low, high]: [u64; 2]) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

fn apart(words: u128) -> [u64; 2] {
    [words as u64, (words >> 64) as u64]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_and_are_exchanged_together() {
        let words = AtomicU128::new(joined([1, 2]));
        assert_eq!(words.words(), [1, 2]);
        assert!(!words.exchange([1, 3], [4, 5]) && !words.exchange([3, 2], [4, 5]));
        assert!(words.exchange([1, 2], [u64::MAX, 5]));
        assert_eq!(words.words(), [u64::MAX, 5]);
        assert!(is_there(), "tests of several limits need it");
    }
}

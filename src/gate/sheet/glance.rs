//! The part of a sheet that a grant in its bucket reads.

use super::{Glance, SEALED, left};

impl Glance<'_> {
    /// Returns whether the bucket is not sealed.
    #[inline]
    pub(in crate::gate) fn is_open(&self) -> bool {
        self.word & SEALED == 0
    }

    /// Returns whether a time lies in the bucket.
    #[inline]
    pub(in crate::gate) fn contains(&self, at: u64) -> bool {
        at.wrapping_sub(self.start) < self.length
    }

    /// Returns whether `n` more is within the limit. A weight of zero always is.
    #[inline]
    pub(in crate::gate) fn fits(&self, n: u64) -> bool {
        n <= left(self.word, self.top)
    }

    /// Grants `n`, which fits. If there was another grant since this was read, or the bucket was
    /// sealed, returns false and takes over the present word. The caller looks at the head again.
    #[inline]
    pub(in crate::gate) fn grant(&mut self, n: u64) -> bool {
        let granted = self.sheet.grant(self.word, n);
        granted.map_err(|word| self.word = word).is_ok()
    }
}

//! Rations: the units that a gate has granted to a row in advance. Module
//! [`ration_use`](super::ration_use) takes from them.

/// Units that were granted in a bucket, and not used yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(16))]
pub(crate) struct Ration {
    /// The last nanosecond of the bucket in which it was granted.
    pub(crate) last: u64,
    /// The number of units left.
    pub(crate) left: u64,
}

impl Ration {
    /// An empty ration: the contents of newly claimed columns.
    pub(crate) const NONE: Ration = Ration { last: 0, left: 0 };

    /// Returns the rest of the ration after `n` units are taken at `now`.
    #[inline]
    pub(crate) fn less(self, n: u64, now: u64) -> Result<Ration, Untaken> {
        let left = self.left.checked_sub(n).ok_or(Untaken::Short)?;
        if self.last < now {
            return Err(Untaken::Otherwise);
        }
        Ok(Ration { left, ..self })
    }

    pub(crate) fn is_none(self) -> bool {
        self.left == 0
    }
}

/// The reason why no unit was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Untaken {
    /// Fewer units are left.
    Short,
    /// The ration has ended, the thread has no row of its own, or it was interrupted.
    Otherwise,
}

//! A ration: what a gate has granted to a row in advance. How it is taken stands in
//! [`take`](super::take).

/// What was granted in a bucket, and not used yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(16))]
pub(crate) struct Ration {
    /// The last nanosecond of the bucket in which it was granted.
    pub(crate) last: u64,
    /// How much of it is left.
    pub(crate) left: u64,
}

impl Ration {
    /// Nothing: what stands in a column that was just claimed.
    pub(crate) const NONE: Ration = Ration { last: 0, left: 0 };

    /// What is left of it once `n` was taken at `now`.
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

/// Why nothing was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Untaken {
    /// There is not so much.
    Short,
    /// What there is has ended, the thread has no row of its own, or it was interrupted.
    Otherwise,
}

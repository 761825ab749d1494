//! A client's ask: the arguments of the script `lease.lua`.

use super::returns::Return;
use super::terms::Terms;

/// A client's ask. A repetition is equal to the first attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ask {
    /// The number of the ask: each new one is higher.
    pub(crate) number: u64,
    /// The number of permits wanted; zero in an ask that only gives back.
    pub(crate) want: u64,
    /// The least number that is of use, at least 1.
    pub(crate) need: u64,
    /// The permits given back.
    pub(crate) back: Return,
}

/// One attempt at an ask, which is sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    pub(crate) ask: Ask,
    #[allow(clippy::struct_field_names)]
    /// The place of the attempt among those at this ask, from 0. The answer is told with it.
    pub(crate) attempt: usize,
    /// The time at which it is sent, or a moment before that.
    pub(crate) sent: u64,
    pub(crate) terms: Terms,
}

impl Attempt {
    /// Returns the arguments of the script that follow the client's id.
    pub(crate) fn arguments(&self) -> [u64; 10] {
        let Ask { number, want, need, back: Return { count, bucket, born } } = self.ask;
        let Terms { limit, version, length, buckets, .. } = self.terms;
        [number, want, need, count, bucket, born, limit, version, length, buckets]
    }
}

//! The readings of a frame: the numbers of each series, and the check that they agree.

pub(crate) mod audit;
pub(crate) mod buckets;
pub(crate) mod ledger;
pub(crate) mod number;
pub(crate) mod row;
pub(crate) mod values;

//! The error of a capacity, geometry or clock that heavy keys cannot have.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use super::BuildError;

/// The error of a capacity, geometry or clock that [`HeavyKeys`](crate::HeavyKeys) cannot have.
///
/// Returned by [`HeavyKeysBuilder::build`](crate::heavy::HeavyKeysBuilder::build).
///
/// ```
/// use windrow::{BuildError, HeavyKeys, heavy::HeavyKeysError};
///
/// let error = HeavyKeys::<str>::builder(0).build().unwrap_err();
/// assert_eq!(error, HeavyKeysError::ZeroCapacity);
/// let error = HeavyKeys::<str>::builder(10).buckets(0).build().unwrap_err();
/// assert_eq!(error, HeavyKeysError::Buckets(BuildError::NoBuckets));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HeavyKeysError {
    /// The capacity is zero.
    ZeroCapacity,
    /// The capacity is more than a table can hold.
    CapacityTooHigh {
        /// The capacity requested.
        capacity: usize,
        /// The maximum.
        most: usize,
    },
    /// The number of shards is zero.
    ZeroShards,
    /// The interval, the buckets or the clock are invalid for windows, too.
    Buckets(BuildError),
}

impl From<BuildError> for HeavyKeysError {
    fn from(error: BuildError) -> HeavyKeysError {
        HeavyKeysError::Buckets(error)
    }
}

impl Display for HeavyKeysError {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            HeavyKeysError::ZeroCapacity => {
                write!(f, "the capacity is 0 keys; it must be at least 1")
            }
            HeavyKeysError::CapacityTooHigh { capacity, most } => {
                write!(f, "the capacity is {capacity} keys; it must be {most} or less")
            }
            HeavyKeysError::ZeroShards => {
                write!(f, "the number of shards is 0; it must be at least 1")
            }
            HeavyKeysError::Buckets(error) => error.fmt(f),
        }
    }
}

impl Error for HeavyKeysError {}

//! The error of a size that a window of calls cannot have.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

/// The error of a number of calls that [`LastCalls`](super::LastCalls) cannot remember.
///
/// Returned by [`LastCalls::new`](super::LastCalls::new).
///
/// ```
/// use windrow::LastCalls;
///
/// let error = LastCalls::new(2_000_000).unwrap_err();
/// assert_eq!(error.to_string(), "the size is 2000000 calls; it must be 1048576 or less");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LastCallsError {
    /// The size is zero.
    ZeroSize,
    /// The size is more than a window of calls can have.
    SizeTooLarge {
        /// The size requested.
        size: usize,
        /// The maximum.
        most: usize,
    },
}

impl Display for LastCallsError {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            LastCallsError::ZeroSize => write!(f, "the size is 0 calls; it must be at least 1"),
            LastCallsError::SizeTooLarge { size, most } => {
                write!(f, "the size is {size} calls; it must be {most} or less")
            }
        }
    }
}

impl Error for LastCallsError {}

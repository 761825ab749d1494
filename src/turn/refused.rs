//! The error of a turn that could not be reserved.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

/// The error of a turn that a [`Gate`](crate::Gate), a [`Pace`](crate::Pace) or
/// [`Paces`](crate::Paces) refused. Then nothing was taken.
///
/// Returned by [`Gate::reserve`](crate::Gate::reserve), [`Pace::reserve`](crate::Pace::reserve) and
/// [`Paces::reserve`](crate::Paces::reserve).
///
/// ```
/// use std::time::Duration;
/// use windrow::{Pace, clock::Manual};
///
/// let second = Duration::from_secs(1);
/// let pace = Pace::builder(second).clock(Manual::default()).build()?;
/// assert!(pace.try_admit(1));
/// let error = pace.reserve(1, Duration::ZERO).unwrap_err();
/// assert_eq!(error.retry_after, Some(second));
/// # Ok::<(), windrow::LimitError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefusedError {
    /// The time after which the same weight would be admitted at once, if no other call is admitted
    /// until then: as [`Admission::Refused`](crate::gate::Admission::Refused) says it. `None`:
    /// never, because the weight is above the limit or the burst, or the limiter is
    /// [retired](crate::Gate::retire), or time ends earlier.
    pub retry_after: Option<Duration>,
}

impl RefusedError {
    /// Makes the error of a turn that may be asked for again after a time. For `windrow-mapped`.
    #[doc(hidden)]
    #[must_use]
    pub fn after(retry_after: Option<Duration>) -> RefusedError {
        RefusedError { retry_after }
    }
}

impl Display for RefusedError {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.retry_after {
            Some(wait) => write!(f, "the call is admitted only after {wait:?}"),
            None => write!(f, "a call of this weight is never admitted"),
        }
    }
}

impl Error for RefusedError {}

//! The errors of calls: not let through, or failed.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

/// The error of a call that a breaker does not let through: from
/// [`Breaker::try_call`](crate::Breaker::try_call).
///
/// ```
/// use std::time::Duration;
/// use windrow::{Breaker, breaker::Settings, clock::Manual};
///
/// let breaker = Breaker::with_clock(Settings::last_calls(1), Manual::default())?;
/// breaker.try_call().expect("closed").failure();
/// let open = breaker.try_call().unwrap_err();
/// assert_eq!(open.retry_after, Some(Duration::from_secs(5)));
/// # Ok::<(), windrow::LimitError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenError {
    /// The time after which a call may be let through on trial: that until the breaker is half
    /// open, and the clock's resolution. `None` if it is half open, and all its trials are under
    /// way: their outcome decides.
    pub retry_after: Option<Duration>,
}

impl Display for OpenError {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.retry_after {
            Some(retry_after) => write!(f, "the circuit breaker is open for {retry_after:?} more"),
            None => write!(f, "the circuit breaker is half open, and all its trials are under way"),
        }
    }
}

impl Error for OpenError {}

/// The error of a call by [`Breaker::call`](crate::Breaker::call).
///
/// ```
/// use windrow::{Breaker, breaker::{CallError, Settings}};
///
/// let breaker = Breaker::of(Settings::last_calls(1));
/// assert_eq!(breaker.call(|| Err::<(), _>("down")), Err(CallError::Failed("down")));
/// let refused = breaker.call(|| Ok::<(), &str>(())).unwrap_err();
/// assert!(matches!(refused, CallError::Open(_)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallError<E> {
    /// The call was not let through.
    Open(OpenError),
    /// The call was made, and returned this error.
    Failed(E),
}

impl<E: Display> Display for CallError<E> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Open(open) => open.fmt(f),
            CallError::Failed(error) => error.fmt(f),
        }
    }
}

impl<E: Error> Error for CallError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            CallError::Open(_) => None,
            CallError::Failed(error) => error.source(),
        }
    }
}

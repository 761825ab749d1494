//! The error of a gate.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

use super::BuildError;

/// The error of a limit, geometry or clock that a gate cannot have.
///
/// Returned by [`GateBuilder::build`](crate::gate::GateBuilder::build),
/// [`Gate::set_limit`](crate::Gate::set_limit) and [`Gate::reconfigure`](crate::Gate::reconfigure).
///
/// ```
/// use windrow::{BuildError, Gate, gate::GateError};
///
/// assert_eq!(Gate::builder(0).build().unwrap_err(), GateError::ZeroLimit);
/// let error = Gate::builder(10).buckets(0).build().unwrap_err();
/// assert_eq!(error, GateError::Buckets(BuildError::NoBuckets));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GateError {
    /// The limit is zero.
    ZeroLimit,
    /// The limit is more than a gate can count.
    LimitTooHigh {
        /// The limit requested.
        limit: u64,
        /// The maximum.
        most: u64,
    },
    /// The maximum ration is zero: see [`RationedGate`](crate::gate::RationedGate).
    ZeroRation,
    /// The interval, the buckets or the clock are invalid for windows, too.
    Buckets(BuildError),
    /// The gate is [retired](crate::Gate::retire): it has no limit any more.
    Retired,
}

impl From<BuildError> for GateError {
    fn from(error: BuildError) -> GateError {
        GateError::Buckets(error)
    }
}

impl Display for GateError {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            GateError::ZeroLimit => {
                write!(f, "the limit is 0; it must be at least 1")
            }
            GateError::LimitTooHigh { limit, most } => {
                write!(f, "the limit is {limit}; it must be {most} or less")
            }
            GateError::ZeroRation => {
                write!(f, "the maximum ration is 0; it must be at least 1")
            }
            GateError::Buckets(error) => error.fmt(f),
            GateError::Retired => write!(f, "the gate is retired; nothing about it can be changed"),
        }
    }
}

impl Error for GateError {}

//! The errors of building and installing a recorder.

use std::error::Error;
use std::fmt::{self, Display, Formatter};

/// The error of building a recorder.
///
/// ```
/// use windrow_metrics::{BuildError, Recorder};
///
/// let error = Recorder::builder().buckets(&[1.0, 1.0]).build().unwrap_err();
/// assert_eq!(error, BuildError::BoundsNotAscending { bound: 1.0, next: 1.0 });
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// There are no bounds for a histogram's buckets, or only an infinite one.
    NoBounds,
    /// A bound is NaN, or infinite and not the last.
    BoundNotFinite {
        /// The bound.
        bound: f64,
    },
    /// A bound is not greater than the one before it.
    BoundsNotAscending {
        /// The bound before.
        bound: f64,
        /// The bound after it.
        next: f64,
    },
    /// The number of steps in a value of 1 is zero.
    NoSteps,
}

impl Display for BuildError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            BuildError::NoBounds => {
                write!(f, "a histogram has no bounds; it needs at least 1 that is finite")
            }
            BuildError::BoundNotFinite { bound } => {
                write!(f, "the bound {bound} is not finite; only the last one may be infinite")
            }
            BuildError::BoundsNotAscending { bound, next } => {
                write!(f, "the bound {next} stands behind {bound}; bounds must ascend")
            }
            BuildError::NoSteps => {
                write!(f, "a histogram has 0 steps in a value of 1; it needs at least 1 step")
            }
        }
    }
}

impl Error for BuildError {}

/// The error of installing a recorder.
///
/// ```
/// # fn main() -> Result<(), windrow_metrics::InstallError> {
/// use windrow_metrics::{InstallError, install};
///
/// let handle = install()?;
/// assert_eq!(install().unwrap_err(), InstallError::AlreadyInstalled);
/// # drop(handle);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum InstallError {
    /// The process has a recorder already, this crate's or another. It stays.
    AlreadyInstalled,
    /// The recorder cannot be built.
    Build(BuildError),
}

impl Display for InstallError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            InstallError::AlreadyInstalled => {
                write!(f, "this process has a recorder of metrics already; there can be only one")
            }
            InstallError::Build(_) => write!(f, "the recorder cannot be built"),
        }
    }
}

impl Error for InstallError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let InstallError::Build(error) = self else { return None };
        Some(error)
    }
}

impl From<BuildError> for InstallError {
    fn from(error: BuildError) -> InstallError {
        InstallError::Build(error)
    }
}

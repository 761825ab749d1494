#![doc = include_str!("../README.md")]

// The recorder, and its settings.
mod buckets;
mod builder;
mod error;
mod problem;
mod recorder;

// A macro call.
mod cache;
mod cell;
mod index;
mod own;
mod registry;
mod secret;

// The numbers of each kind.
mod counter;
mod gauge;
mod histogram;
mod idle;
mod kind;
mod sum;

// Exports.
mod exported;
mod listing;
mod names;
mod read;
mod snapshot;
mod text;

pub use buckets::Matcher;
pub use builder::Builder;
pub use error::{BuildError, InstallError};
pub use kind::Kind;
pub use problem::Problem;
pub use recorder::{Handle, Recorder};
pub use snapshot::{Distribution, Family, Series, Snapshot, Value};

/// The media type of [`Handle::render`]'s text.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Installs a [`Recorder`] with default settings as the recorder of the process. Earlier macro
/// calls are not counted.
///
/// ```
/// # fn main() -> Result<(), windrow_metrics::InstallError> {
/// let handle = windrow_metrics::install()?;
/// metrics::gauge!("open").set(3.5);
/// assert_eq!(handle.render(), "# TYPE open gauge\nopen 3.5\n\n");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Returns [`InstallError::AlreadyInstalled`] if the process has a recorder already.
pub fn install() -> Result<Handle, InstallError> {
    Recorder::builder().install()
}

#![doc = include_str!("../README.md")]

mod buckets;
mod builder;
mod cache;
mod cell;
mod counter;
mod error;
mod exported;
mod gauge;
mod histogram;
mod idle;
mod index;
mod kind;
mod listing;
mod names;
mod own;
mod problem;
mod read;
mod recorder;
mod registry;
mod secret;
mod snapshot;
mod sum;
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

//! Limits as settings: which key has which rate, read from a file or an endpoint, and swapped whole
//! while requests go on.
//!
//! [`Rules`] are plain values: valid, or not made. [`Limits::replace`](crate::Limits::replace) puts
//! them in force.

mod error;
mod file;
#[cfg(feature = "json")]
mod json;
mod pattern;
mod rate;
#[cfg(feature = "serde")]
mod read;
mod set;

pub use error::{RulesError, RulesPart};
pub use file::RulesFile;
pub use rate::Rate;
pub use set::{Rules, RulesBuilder};

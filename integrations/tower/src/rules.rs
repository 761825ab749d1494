//! Rate limits as settings: rates by key, from a file, an endpoint or a program.
//!
//! [`Rules`] are plain values, validated when they are built.
//! [`Limits::replace`](crate::Limits::replace) puts them into force.

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

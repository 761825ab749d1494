//! Rules by key as settings: limits and geometries of windows, from a file, an endpoint or a
//! program.
//!
//! [`Rules`] are plain values, validated when they are built.
//! [`Limits::replace`](crate::Limits::replace) and its like put them into force.

// A set of rules.
mod builder;
mod error;
mod geometry;
mod pattern;
mod places;
mod rate;
mod set;
mod setting;

// Rules that are read.
#[cfg(feature = "serde")]
mod fields;
mod file;
#[cfg(feature = "json")]
mod json;
#[cfg(feature = "serde")]
mod read;

pub use builder::RulesBuilder;
pub use error::{RulesError, RulesPart};
pub use file::RulesFile;
pub use geometry::Geometry;
pub use places::Places;
pub use rate::Rate;
pub(crate) use rate::RateError;
pub use set::{LimitRules, RoomRules, Rules, WindowRules};
pub(crate) use setting::Setting;

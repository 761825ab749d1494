//! Rules by key as settings: limits and geometries of windows, from a file, an endpoint or a
//! program.
//!
//! [`Rules`] are plain values, validated when they are built.
//! [`Limits::replace`](crate::Limits::replace) and its like put them into force.

mod builder;
mod error;
mod file;
#[cfg(feature = "json")]
mod json;
#[cfg(feature = "serde")]
mod read;
mod set;
mod setting;

pub use builder::RulesBuilder;
pub(crate) use error::Problem;
pub use error::{RulesError, RulesPart};
pub use file::RulesFile;
pub use set::{LimitRules, RoomRules, Rules, WindowRules};
pub(crate) use setting::Setting;
pub use setting::{Geometry, Places, Rate};

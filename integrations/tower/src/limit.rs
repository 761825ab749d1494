//! Rate limits by key: at most `limit` requests in an interval.

mod counts;
mod fields;
mod forgetting;
mod limits;
mod paced;
mod series;
mod settings;
#[cfg(feature = "redis")]
mod shared;
mod sharing;

pub use fields::LimitFields;
pub(crate) use fields::{Fields, whole_seconds};
pub use limits::Limits;
pub use paced::PaceLimits;
pub use series::Limit;
#[cfg(feature = "redis")]
pub use shared::SharedLimits;

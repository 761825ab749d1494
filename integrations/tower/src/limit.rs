//! Rate limits by key: at most `limit` requests in an interval.

mod answers;
mod counts;
mod fields;
mod forgetting;
mod future;
mod layer;
mod limits;
mod paced;
mod series;
mod settings;
#[cfg(feature = "redis")]
mod shared;
mod sharing;

pub use fields::LimitFields;
pub(crate) use fields::{Fields, whole_seconds};
pub use future::LimitFuture;
pub use layer::{LimitLayer, LimitService};
pub use limits::Limits;
pub use paced::PaceLimits;
pub use series::Limit;
#[cfg(feature = "redis")]
pub use shared::SharedLimits;

//! Rate limits by key: at most `limit` requests in an interval.

mod counts;
mod fields;
mod future;
mod layer;
mod limits;
mod series;
mod service;
mod settings;
mod sharing;

pub use fields::LimitFields;
pub(crate) use fields::{Fields, Quota};
pub use future::LimitFuture;
pub use layer::LimitLayer;
pub use limits::Limits;
pub use series::Limit;
pub use service::LimitService;

//! Limits in time: at most so many requests in an interval, by key.

mod future;
mod layer;
mod limits;
mod service;

pub use future::LimitFuture;
pub use layer::LimitLayer;
pub use limits::{Limit, Limits};
pub use service::LimitService;

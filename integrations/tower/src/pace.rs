//! Leaky buckets: requests at an even pace, or by several limits at once.

mod layer;
mod service;
mod turn;

pub use layer::PaceLayer;
pub use service::PaceService;
pub use turn::{AtTurn, RequestPace};

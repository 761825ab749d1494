//! Leaky buckets: requests at an even pace, or by several limits at once.

mod layer;
mod lines;
mod turn;

pub use layer::{PaceLayer, PaceService};
pub use turn::{AtTurn, RequestPace};

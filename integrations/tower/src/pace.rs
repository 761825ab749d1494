//! Leaky buckets: requests at an even pace, or by several limits at once.

mod layer;
mod lines;
mod request;

pub use layer::{PaceLayer, PaceService};
pub use request::RequestPace;

//! Circuit breakers: no requests to a service that fails.

mod body;
mod future;
mod judged;
mod layer;

pub use body::BreakerBody;
pub use future::BreakerFuture;
pub use layer::{BreakerLayer, BreakerService};

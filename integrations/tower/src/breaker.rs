//! Circuit breakers: no requests to a service that fails.

mod judged;
mod layer;

pub use layer::BreakerLayer;

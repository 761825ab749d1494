//! Rate-limiting layers: by a limiter for each key, or by a pace in a static.

mod by_key;
mod by_pace;
mod future;
mod layer;

pub use by_key::LimitLayer;
pub use by_pace::PaceLayer;
pub use future::LimitFuture;
pub use layer::RateLayer;

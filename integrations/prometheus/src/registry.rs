//! The bridge to `prometheus-client`: metrics in its `Registry`.

mod probe;
mod registered;
mod scrape;
mod shared;
mod show;
mod stage;

/// The version of `prometheus-client` whose registry this crate fills.
pub use prometheus_client;
pub use registered::register;
pub use shared::{Counter, Gauge, Histogram, InFlight, Maximum, Minimum, Shared};

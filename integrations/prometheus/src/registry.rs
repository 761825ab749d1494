//! The bridge to `prometheus-client`: metrics in its `Registry`, and scrapes of one.

mod classic;
mod encode;
mod probe;
mod registered;
mod scrape;
mod shared;
mod show;
mod stage;

pub use encode::{encode, respond};
/// The version of `prometheus-client` whose registry this crate fills.
pub use prometheus_client;
pub use registered::{register, register_all};
pub use shared::{Counter, Gauge, Histogram, InFlight, Maximum, Minimum, Shared};

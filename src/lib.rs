//! windrow

mod arena;
mod builder;
pub mod clock;
mod column;
mod counter;
mod error;
mod event;
mod extreme;
mod gauge;
mod layout;
mod pages;
mod reclaim;
mod ring;
mod rows;
mod snapshot;
mod stats;
mod stripe;
mod striped;
mod sync;
mod timestamp;
mod window;

pub use builder::Builder;
pub use clock::Clock;
pub use counter::Counter;
pub use error::{BuildError, OutOfRange, SpanError};
pub use event::{Event, Kind};
pub use extreme::{Maximum, Minimum};
pub use gauge::Gauge;
#[doc(hidden)]
pub use layout::Place;
pub use snapshot::{BucketSnapshot, Snapshot};
pub use stats::Stats;
pub use timestamp::Timestamp;
pub use window::SlidingWindow;

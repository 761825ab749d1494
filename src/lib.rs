// The README's links as they are here: of two definitions of a name, the first is taken.
#![cfg_attr(doc, doc = include_str!("../docs/pictures.md"))]
#![cfg_attr(
    doc,
    doc = "\
[docs/design.md]: guide::design
[docs/models.md]: guide::models
[docs/orderings.md]: guide::orderings
[docs/performance.md]: guide::performance
[docs/promela/README.md]: guide::promela
[docs/verification.md]: guide::verification
"
)]
#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//!
//! * [`Counter`] in place of an `AtomicU64` that every core adds to; [`Gauge`], [`Maximum`],
//!   [`Minimum`] likewise.
//! * [`events!`] and [`SlidingWindow`] for how many there were in the last second, minute or day;
//!   [`clock`] for which clock to give it.
//! * [`guide`] for how it works, how it is known to, and what it costs.
//! * Each item says what it costs, what it promises while others write, and what it does not.

// The checking reclaimer's pointers count on all threads of a model being one.
#![cfg_attr(windrow_checker, allow(clippy::arc_with_non_send_sync))]

mod arena;
pub mod clock;
mod counters;
mod error;
mod event;
#[cfg(doc)]
pub mod guide;
mod memory;
mod reclaim;
mod ring;
mod stripe;
mod sync;
mod timestamp;
mod window;

pub use clock::Clock;
pub use counters::{Counter, Gauge, Maximum, Minimum};
pub use error::{BuildError, OutOfRange, SpanError};
#[doc(hidden)]
pub use event::listed as __events;
pub use event::{Event, Kind, Stats};
#[cfg(loom)]
#[doc(hidden)]
pub use ring::parts;
#[doc(hidden)]
pub use stripe::aborts;
pub use stripe::{Strategy, strategy};
pub use timestamp::Timestamp;
pub use window::{BucketSnapshot, Builder, SlidingWindow, Snapshot};

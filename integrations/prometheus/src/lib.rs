#![doc = include_str!("../README.md")]
//!
//! # What a scrape shows
//!
//! | | as | value |
//! |---|---|---|
//! | [`Counter`](windrow::Counter) | counter `NAME_total` | what was ever added, drained or not |
//! | [`Gauge`](windrow::Gauge) | gauge | the level |
//! | [`Maximum`](windrow::Maximum), [`Minimum`](windrow::Minimum) | gauge | nothing, before a value is recorded |
//! | [`SlidingWindow`](windrow::SlidingWindow) | counter `NAME_total{event="..."}` | how often, ever |
//! | | gauge `NAME_per_second` | how often per second, in the closed buckets |
//! | | counter `NAME_sum_total` | of `Value` events: what all values add up to, ever |
//! | | gauges `NAME_mean`, `_min`, `_max` | of events with values, in the closed buckets; nothing, if these have no value |
//! | [`Family`](windrow::Family) | the same, with its labels | |
//! | what finds no room in it | `{overflow="true"}` | what all such sets counted together |
//! | | counter `NAME_overflow_total` | how often a set found no room |
//!
//! Closed buckets are those before the bucket of the clock's now. All their time has passed; so, of a constant rate, they
//! tell the right one (see [`Over::complete`](windrow::Over::complete)). A window of one bucket has none, and no
//! gauges.
//!
//! A family whose labels are all enums has room for all of them, and no `NAME_overflow_total`.
//!
//! # Consistency
//!
//! Each number is what windrow's own read promises: a counter lies between what was added when it was read and when
//! that returned, and never goes back. The numbers of one metric of a family, or of one window, are read one after the other; those
//! of different series at different moments of the scrape. A series that is there for the whole scrape is
//! in it once.
//!
//! A series that is [removed](windrow::Family::retain) is gone from the next scrape on, and with it what it counted since
//! the last one. So give `retain` an idle time longer than some scrapes. If its labels are used again, it
//! begins at zero, which Prometheus takes for a restart.
//!
//! # Cost
//!
//! Counting costs what it costs without this crate. A scrape takes a family's lock for the moment in which it lists the series, which
//! [`with`](windrow::Family::with) never waits for; 8 bytes a series, which it gives back (more for windows); and a
//! load a core and number. A text of 10 000 series takes no longer than `prometheus-client`'s own family
//! (`cargo run --release -p windrow-benches --bin scrape`).
//!
//! # Errors
//!
//! [`RegisterError`], from [`register`] alone. A scrape fails only if the writer does.

mod error;
mod probe;
mod registered;
mod rules;
mod shared;
mod show;
mod source;
mod window;

pub use error::RegisterError;
pub use registered::register;
pub use shared::{Counter, Gauge, Maximum, Minimum, Shared};
pub use source::{Field, Source, field};

/// A guide of the library's whose program needs this crate: its documentation shows it, and this runs it.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/from-prometheus.md")]
mod guide {}

#![doc = include_str!("../README.md")]
//!
//! # What is exported
//!
//! | | as an observable | value |
//! |---|---|---|
//! | [`Counter`](windrow::Counter) | counter | what was ever added, drained or not |
//! | [`Gauge`](windrow::Gauge) | up-down counter | the level |
//! | [`Maximum`](windrow::Maximum), [`Minimum`](windrow::Minimum) | gauge | nothing, before a value is recorded |
//! | [`SlidingWindow`](windrow::SlidingWindow) | counter, with the attribute `event` | how often, ever |
//! | | gauge `NAME.per_second` | how often per second, in the closed buckets |
//! | | counter `NAME.sum` | of `Value` events: what all values add up to, ever |
//! | | gauges `NAME.mean`, `.min`, `.max` | of events with values, in the closed buckets; nothing, if these have no value |
//! | [`Family`](windrow::Family) | the same, with its labels as attributes | |
//! | what finds no room in it | the attribute `overflow`, which is `true` | what all such sets counted together |
//! | | counter `NAME.overflow` | how often a set found no room |
//!
//! Closed buckets are those before the bucket of the clock's now (see
//! [`Over::complete`](windrow::Over::complete)). A window of one bucket has none, and no gauges. A family whose labels
//! are all enums has room for all of them, and no `NAME.overflow`.
//!
//! # Consistency
//!
//! Counters are observed as what was ever counted. An SDK that exports deltas makes them of that. Each instrument is read on its
//! own: the gauges of a window may be of different moments of one collection.
//!
//! A series that is [removed](windrow::Family::retain) is gone from the next collection on, and with it what it counted since the
//! last one. So give `retain` an idle time longer than some collections.
//!
//! A callback cannot be unregistered. It keeps a `Weak` of what was given to it by `&Arc`, and observes nothing after the last
//! `Arc` was dropped. If reading a metric panics (a clock of your own, say), that metric is missing from that collection of that
//! instrument, and the thread that collects goes on. (Of deltas, the SDK then begins anew: it exports the whole count at the
//! next collection.)
//!
//! # Cost
//!
//! Counting costs what it costs without this crate. A collection takes a family's lock for the moment in which it lists the
//! series, which [`with`](windrow::Family::with) never waits for; a load a core and number; and an allocation
//! for each text among the attributes.
//!
//! # Errors
//!
//! [`ObserveError`], from [`Observer`] alone: for what an SDK would leave out, or lose a part of, and tell nobody.

mod error;
mod observer;
mod show;
mod source;
mod window;

pub use error::ObserveError;
pub use observer::Observer;
pub use source::{Field, Source, field};

#![doc = include_str!("../README.md")]
//!
//! # What a scrape shows
//!
//! | | as | value |
//! |---|---|---|
//! | [`Counter`](windrow::Counter) | counter `NAME_total` | what was ever added, drained or not |
//! | [`Gauge`](windrow::Gauge), [`InFlight`](windrow::InFlight) | gauge | the level |
//! | [`Maximum`](windrow::Maximum), [`Minimum`](windrow::Minimum) | gauge | nothing, before a value is recorded |
//! | [`Histogram`](windrow::Histogram) | histogram `NAME_bucket{le="..."}`, `NAME_sum`, `NAME_count` | what was ever recorded |
//! | [`SlidingWindow`](windrow::SlidingWindow) | counter `NAME_total{event="..."}` | how often, ever |
//! | | gauge `NAME_per_second` | how often per second, in the closed buckets |
//! | | counter `NAME_sum_total` | of `Value` and `Histogram` events: what all values add up to, ever |
//! | | gauges `NAME_mean`, `_min`, `_max` | of events with values, in the closed buckets; nothing, if these have no value |
//! | | histogram `NAME_values_bucket{event="...",le="..."}`, `_sum`, `_count` | of `Histogram` events: what was ever recorded |
//! | | gauges `NAME_percentile{event="...",q="..."}` | of `Histogram` events: percentiles 0.5, 0.9 and 0.99 of the closed buckets; nothing, if these have no value |
//! | [`Family`](windrow::Family) | the same, with its labels | |
//! | what finds no room in it | `{overflow="true"}` | what all such sets counted together |
//! | | counter `NAME_overflow_total` | how often a set found no room |
//!
//! Closed buckets are those before the bucket of the clock's now. All their time has passed; so, of
//! a constant rate, they tell the right one (see
//! [`Over::complete`](windrow::snapshot::Over::complete)). A window of one bucket has none, and no
//! gauges.
//!
//! A family whose labels are all enums has room for all of them, and no `NAME_overflow_total`.
//!
//! # Histograms
//!
//! A histogram has a bucket for each power of two in its scale's range, in its own unit.
//! [`buckets`] shows others, or seconds of nanoseconds. At each bound that is shown the count is
//! exact, and so is an alert on it. Between bounds Prometheus interpolates: what its
//! `histogram_quantile` says is in the right bucket, and so, of octaves in the scale's range, off
//! by less than the value itself. For percentiles right to the scale's error, show more bounds, or
//! native histograms, or read them where they were recorded
//! ([`Distribution::quantile`](windrow::histogram::Distribution::quantile)).
//!
//! (The gauges `NAME_percentile` of a window are right to that, and of its interval; but they
//! cannot be added up over machines, as buckets can. Like all gauges of a window, they are in the
//! unit that was recorded, whatever [`Buckets::per`] says.)
//!
//! ## Native histograms
//!
//! The text format has none. Prometheus reads them as protobuf alone. The feature
//! `prometheus_protobuf` of `prometheus-client` 0.25 writes that, from the same registry: then each
//! histogram has its cells, one for one, as native buckets of its scale's schema, beside the
//! classic ones. What is below the scale's range is in the zero bucket, and what is above in the
//! infinite one. Since native buckets end at powers of two, values must be shown in the unit that
//! they were recorded in (or [per](Buckets::per) a power of two): name such a histogram
//! `rt_nanoseconds`. Histograms that are shown otherwise have classic buckets alone. That feature
//! compiles `prost`, and needs `protoc` or the feature `protobuf-protox`: so it is the program's
//! choice, not this crate's.
//!
//! # Consistency
//!
//! Each number is what windrow's own read promises: a counter lies between what was added when it
//! was read and when that returned, and never goes back. The numbers of one metric of a family, or
//! of one window, are read one after the other; those of different series at different moments of
//! the scrape. A series that is there for the whole scrape is in it once.
//!
//! A series that is [removed](windrow::Family::retain) is gone from the next scrape on, and with it
//! what it counted since the last one. So give `retain` an idle time longer than some scrapes. If
//! its labels are used again, it begins at zero, which Prometheus takes for a restart.
//!
//! # Cost
//!
//! Counting costs what it costs without this crate. A scrape takes a family's lock for the moment
//! in which it lists the series, which [`with`](windrow::Family::with) never waits for; 8 bytes a
//! series, which it gives back (more for windows); and a load a core and number. A text of 10 000
//! series takes no longer than `prometheus-client`'s own family (`cargo run --release -p
//! windrow-benches --bin scrape`).
//!
//! # Errors
//!
//! [`RegisterError`], from [`register`] alone. A scrape fails only if the writer does.

mod buckets;
mod error;
mod probe;
mod registered;
mod rules;
mod scrape;
mod shared;
mod show;

pub use buckets::{Bucketed, Buckets, Registrable, buckets};
pub use error::RegisterError;
pub use registered::{register, register_all};
pub use shared::{Counter, Gauge, Histogram, InFlight, Maximum, Minimum, Shared};

/// A guide of the library's whose program needs this crate: its documentation shows it, and this
/// runs it.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/from-prometheus.md")]
mod guide {}

#![doc = include_str!("../README.md")]
//!
//! # What a scrape shows
//!
//! | | as | value |
//! |---|---|---|
//! | [`Counter`](windrow::Counter) | counter `NAME_total` | all-time total, drained or not |
//! | [`Gauge`](windrow::Gauge), [`InFlight`](windrow::InFlight) | gauge | the level |
//! | [`Maximum`](windrow::Maximum), [`Minimum`](windrow::Minimum) | gauge | the extreme; absent before a value is recorded |
//! | [`from_fn`](windrow::export::from_fn), [`field_fn`](windrow::export::field_fn) | gauge | the function's result; absent if it is not finite |
//! | [`Histogram`](windrow::Histogram) | histogram `NAME_bucket{le="..."}`, `NAME_sum`, `NAME_count` | all-time distribution |
//! | [`SlidingWindow`](windrow::SlidingWindow) | counter `NAME_total{event="..."}` | all-time count |
//! | | gauge `NAME_level` | all-time additions minus subtractions, of `Signed` events |
//! | | gauge `NAME_per_second` | rate in the closed buckets |
//! | | counter `NAME_sum_total` | all-time sum, of `Value` and `Histogram` events |
//! | | gauges `NAME_mean`, `_min`, `_max` | of events with values, in the closed buckets; absent without values |
//! | | histogram `NAME_values_bucket{event="...",le="..."}`, `_sum`, `_count` | all-time distribution, of `Histogram` events |
//! | | gauges `NAME_percentile{event="...",q="..."}` | quantiles 0.5, 0.9 and 0.99 of `Histogram` events in the closed buckets; absent without values |
//! | [`Family`](windrow::Family) | as its metric, with its labels | |
//! | its overflow series | `{overflow="true"}` | the sum of all sets beyond its limit |
//! | | counter `NAME_overflow_total` | uses of the overflow series |
//!
//! Closed buckets are those before the current bucket. All their time has passed; so for a constant
//! rate, they tell the right one (see [`Over::complete`](windrow::snapshot::Over::complete)). A
//! window of one bucket has none, and no gauges.
//!
//! A family whose labels are all enums never needs an overflow series, and has no
//! `NAME_overflow_total`.
//!
//! # Histograms
//!
//! A histogram has a bucket for each power of two in its scale's range, in its own unit.
//! [`buckets`] shows other bounds, or nanoseconds as seconds. At each bound that is shown the count
//! is exact, and an alert on it too. Between bounds Prometheus interpolates: its
//! `histogram_quantile` is in the right bucket, so for octaves in the scale's range it is off by
//! less than the value itself. For percentiles right to the scale's error, show more bounds, or
//! native histograms, or read them in the process that recorded them
//! ([`Distribution::quantile`](windrow::histogram::Distribution::quantile)).
//!
//! (The gauges `NAME_percentile` of a window are right to that error, for the window's interval;
//! but they cannot be added up over machines, as buckets can. Like all gauges of a window, they are
//! in the recorded unit, whatever [`Buckets::per`] says.)
//!
//! ## Native histograms
//!
//! The text format has no native histograms: Prometheus reads them only as protobuf. The feature
//! `prometheus_protobuf` of `prometheus-client` 0.25 writes that format from the same registry:
//! then each histogram has its cells, one for one, as native buckets of its scale's schema, beside
//! the classic ones. Values below the scale's range are in the zero bucket, and values above it in
//! the infinite one. Since native buckets end at powers of two, values must be shown in the unit in
//! which they were recorded (or [per](Buckets::per) a power of two): name such a histogram
//! `rt_nanoseconds`. Histograms shown in another unit have classic buckets only. That feature
//! compiles `prost`, and needs `protoc` or the feature `protobuf-protox`: so it is the program's
//! choice, not this crate's.
//!
//! # Consistency
//!
//! Each number has the guarantee of windrow's own read: a counter lies between its totals at the
//! beginning and at the end of its read, and never goes back. The numbers of one metric of a
//! family, or of one window, are read one after the other; those of different series at different
//! moments of the scrape. A series that exists during the whole scrape is in it once.
//!
//! A series that is [removed](windrow::Family::retain) is missing from the next scrape on, together
//! with its counts since the last one. So give `retain` an idle time longer than some scrapes. If
//! its labels are used again, the series begins at zero, which Prometheus takes for a restart.
//!
//! # Cost
//!
//! Counting costs the same as without this crate. A scrape takes a family's lock for the moment in
//! which it lists the series, which [`with`](windrow::Family::with) never waits for; 8 bytes for
//! each series, which it frees (more for windows); and one load for each core and number. A text of
//! 10 000 series takes no longer than one of `prometheus-client`'s own family
//! (`cargo run --release -p windrow-benches --bin scrape`).
//!
//! # Errors
//!
//! Only [`register`] returns an error, [`RegisterError`]. A scrape fails only if its writer does.
//!
//! # Formats
//!
//! [`Format`] chooses between `OpenMetrics` 1.0.0 and Prometheus's text format 0.0.4 by a request's
//! `Accept`, and writes either. The series and their values are the same in both. Neither has times
//! of creation (`NAME_created`), since `prometheus-client` writes none as text. [`respond`] also
//! compresses the text by `Accept-Encoding`, with the feature `gzip`. And `serve`, with the feature
//! `serve`, answers scrapes at an address on a thread of its own.

mod accept;
mod buckets;
mod classic;
mod error;
mod format;
#[cfg(feature = "gzip")]
mod gzip;
mod probe;
mod registered;
mod respond;
mod rules;
mod scrape;
#[cfg(feature = "serve")]
mod serve;
mod shared;
mod show;

pub use buckets::{Bucketed, Buckets, Registrable, buckets};
pub use error::RegisterError;
pub use format::Format;
/// The version of `prometheus-client` whose registry this crate fills.
pub use prometheus_client;
pub use registered::{register, register_all};
pub use respond::{Response, respond};
#[cfg(feature = "serve")]
pub use serve::{ServeError, Server, serve};
pub use shared::{Counter, Gauge, Histogram, InFlight, Maximum, Minimum, Shared};

/// The content type of the text that `prometheus_client::encoding::text::encode` writes, which is
/// that of [`Format::OpenMetrics`].
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A guide of the library whose program needs this crate: its documentation shows it, and this runs
/// it.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/from-prometheus.md")]
mod guide {}

// The documentation site names the feature of an item.
#![cfg_attr(docsrs, feature(doc_cfg))]
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
//! | [`total_fn`](windrow::export::total_fn) | counter `NAME_total` | the function's result; absent if it is negative or not finite |
//! | [`Histogram`](windrow::Histogram) | histogram `NAME_bucket{le="..."}`, `NAME_sum`, `NAME_count` | all-time distribution |
//! | [`SlidingWindow`](windrow::SlidingWindow) | counter `NAME_total{event="..."}` | all-time count, of `Count` events |
//! | | gauge `NAME_level` | all-time additions minus subtractions, of `Signed` events |
//! | | gauge `NAME_per_second` | rate in the closed buckets, of `Count` and `Signed` events |
//! | | counters `NAME_count_total`, `NAME_sum_total` | all-time count and sum of the values, of `Value` events |
//! | | gauge `NAME_values_per_second` | rate of the values in the closed buckets |
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
//! # Choose the event
//!
//! `NAME_total` has a series for each `Count` event, and what events count overlaps: a request that
//! failed is a request. So a query chooses its event, and never sums over the label `event`:
//!
//! | question | query |
//! |---|---|
//! | requests a second by route | `sum by (route) (rate(NAME_total{event="Request"}[5m]))` |
//! | share of failures | `sum(rate(NAME_total{event="Exception"}[5m])) / sum(rate(NAME_total{event="Request"}[5m]))` |
//! | 99th percentile by route | `histogram_quantile(0.99, sum by (le, route) (rate(NAME_values_seconds_bucket{event="Rt"}[5m])))` |
//! | mean by route | `sum by (route) (rate(NAME_values_seconds_sum{event="Rt"}[5m])) / sum by (route) (rate(NAME_values_seconds_count{event="Rt"}[5m]))` |
//!
//! Values are in no series of `NAME_total`: a program that counts a request and records its time
//! has counted it once there.
//!
//! # Units
//!
//! An event that [declares its unit](windrow::events!), as `Rt: Histogram in "ns"` does, is shown
//! in Prometheus' own: times in seconds, divided accordingly, and all others as they are. The name
//! says so: `NAME_values_seconds`, `NAME_percentile_seconds`, `NAME_max_seconds`,
//! `NAME_values_bytes`. The unit given to [`register_in`](Exposition::register_in), and the divisor
//! of [`buckets`](fn@buckets), are of values whose event declares none.
//!
//! # Histograms
//!
//! A histogram has a bucket for each power of two in its scale's range, in its own unit.
//! [`buckets`](fn@buckets) shows other bounds, or nanoseconds as seconds. At each bound that is
//! shown the count is exact, and an alert on it too. Between bounds Prometheus interpolates: its
//! `histogram_quantile` is in the right bucket, so for octaves in the scale's range it is off by
//! less than the value itself. For percentiles right to the scale's error, show more bounds, or
//! native histograms, or read them in the process that recorded them
//! ([`Distribution::quantile`](windrow::histogram::Distribution::quantile)).
//!
//! (The gauges `NAME_percentile` of a window are right to that error, for the window's interval;
//! but they cannot be added up over machines, as buckets can.)
//!
//! ## Native histograms
//!
//! As [protobuf](Format), with the feature `protobuf`, each histogram has its cells, one for one,
//! as native buckets of its scale's schema. Prometheus asks for that format if it runs with
//! `--enable-feature=native-histograms`. A scrape has the classic buckets as well, but Prometheus
//! 2.42 stores the native ones *instead of* them: `NAME_bucket`, `NAME_sum` and `NAME_count` are
//! gone, and queries change so:
//!
//! | classic | native |
//! |---|---|
//! | `histogram_quantile(0.99, sum by (le) (rate(NAME_bucket[5m])))` | `histogram_quantile(0.99, sum(rate(NAME[5m])))` |
//! | `rate(NAME_count[5m])` | `histogram_count(rate(NAME[5m]))` |
//! | `rate(NAME_sum[5m])` | `histogram_sum(rate(NAME[5m]))` |
//! | `rate(NAME_bucket{le="1.073741824"}[5m])` | `histogram_fraction(-1, 1.0905077326652577, rate(NAME[5m])) * histogram_count(rate(NAME[5m]))` |
//!
//! A native bound is the nearest power of two of the unit shown: 2^30 ns is shown as 2^(1/8) s. Ask
//! for a fraction by these bounds, since the server interpolates between them, and from -1 on:
//! Prometheus 2.42 takes half of a series whose values are all zero for negative.
//!
//! A rule that joins both forms by `or` holds with either server. (By its release notes, Prometheus
//! 3.9 takes the setting `scrape_native_histograms` in place of the flag.)
//!
//! Values outside of the scale's range are in the buckets beside it: those below in the last bucket
//! before the range, and those above in the first one behind it. So a quantile of them is at an end
//! of the range, as a classic one is, and neither negative nor infinite. (Where all values are zero
//! and the range begins at 1, it is below zero by 10^-39.) `windrow-otlp` sends the same buckets.
//! Where a value tells more, choose a scale that it does not leave, as
//! [`Scale::DURATIONS`](windrow::histogram::Scale::DURATIONS).
//!
//! Native buckets end at powers of two. So values must be shown in the unit in which they were
//! recorded (or [per](Buckets::per) a power of two): name such a histogram `rt_nanoseconds`.
//! Histograms shown in another unit have classic buckets only. An event that [declares a
//! time](#units) is the exception: each of its cells is shown as the nearest native bucket. That is
//! off by at most half a cell, in seconds of nanoseconds by 1.6 % with the default scale.
//!
//! # Formats
//!
//! | | [`TEXT`](Format::TEXT) | [`TEXT_1_0_0`](Format::TEXT_1_0_0) | [`OPENMETRICS`](Format::OPENMETRICS) | `PROTOBUF` |
//! |---|---|---|---|---|
//! | media type | `text/plain` | `text/plain` | `application/openmetrics-text` | `application/vnd.google.protobuf` |
//! | names of UTF-8 | escaped | yes | yes | yes |
//! | `info` | gauge | gauge | yes | gauge |
//! | units | in names | in names | yes | yes |
//! | start times | no | no | `NAME_created` | yes |
//! | native histograms | no | no | no | yes |
//! | exemplars | no | no | yes | yes |
//!
//! [`Format::negotiate`] chooses by a request's `Accept`, with its weights, and by the parameter
//! `escaping` there what becomes of names that have other characters than Prometheus' own: see
//! [`Escaping`]. The series, their values and the bounds of buckets are the same in all formats.
//!
//! A file for `node_exporter`'s textfile collector is a text as well
//! ([`TEXT`](Format::TEXT)). All such files on a machine must have the same help text for a metric:
//! of two files that differ, `node_exporter` 1.5 drops the series of the second, and
//! `node_textfile_scrape_error` stays 0.
//!
//! The start time of a series of a family is [its birth](windrow::export::Series::created), that of
//! a window the time at which it was built, and that of any other metric [the program's
//! own](Exposition::since). So a backend that reads start times knows a series that was removed and
//! made again, though its count may be the greater one.
//!
//! # Exemplars
//!
//! A counter has its newest [exemplar](windrow::exemplar), each bucket of a histogram the newest of
//! its values, and a native histogram the newest of each octave. Their labels are `trace_id` and
//! `span_id`; an id of zero is left out. No gauge has one: Prometheus 2.42 fails the whole scrape
//! by an exemplar there. Neither has the classic text, where `VictoriaMetrics` 1.79 takes an
//! exemplar for a part of a name.
//!
//! Prometheus 2.42 keeps them if it runs with `--enable-feature=exemplar-storage`: those of a
//! counter and of all classic buckets. Of a native histogram it keeps one of a scrape, that of the
//! lowest bucket. To keep all, leave native histograms off.
//!
//! # Consistency
//!
//! Each number has the guarantee of windrow's own read: a counter lies between its totals at the
//! beginning and at the end of its read, and never goes back; a sum of values neither, until the
//! [values below 2^60](windrow::Recorded#sums) have added up to 2^64. The numbers of one metric of
//! a family, or of one window, are read one after the other; those of different series at different
//! moments of the scrape. A series that exists during the whole scrape is in it once.
//!
//! A series that is [removed](windrow::Family::retain) is missing from the next scrape on, together
//! with its counts since the last one. So give `retain` an idle time longer than some scrapes. If
//! its labels are used again, the series begins at zero, with a new start time. A family whose
//! labels are all enums keeps its series: one that is used again after its removal goes on with its
//! counts and its start time.
//!
//! # Cost
//!
//! Counting costs the same as without this crate. A scrape takes a family's lock for the moment in
//! which it lists the series, which [`with`](windrow::Family::with) never waits for; 8 bytes for
//! each series, which it frees (more for windows and for protobuf); and one load for each core and
//! number (`cargo run --release -p windrow-benches --bin scrape`).
//!
//! # Errors
//!
//! Only registering returns an error, [`RegisterError`]. A scrape cannot fail, unless a source of
//! the program's own panics; `serve` answers 500 then.

// The metrics of a program.
mod error;
mod exposition;
#[cfg(feature = "recorder")]
#[cfg_attr(docsrs, doc(cfg(feature = "recorder")))]
pub mod recorder;
mod rules;
mod units;

// A scrape, metric by metric.
mod buckets;
mod collect;
mod described;
mod exemplars;
mod number;

// The formats, and the choice of one.
mod accept;
mod escaping;
mod format;
mod label_names;
#[cfg(any(feature = "protobuf", feature = "registry"))]
mod native;
#[cfg(feature = "protobuf")]
mod protobuf;
mod text;

// Answers and pushes.
#[cfg(feature = "gzip")]
mod gzip;
#[cfg(feature = "push")]
mod push;
#[cfg(feature = "registry")]
#[cfg_attr(docsrs, doc(cfg(feature = "registry")))]
pub mod registry;
mod respond;
#[cfg(feature = "serve")]
mod serve;

pub use buckets::{Bucketed, Buckets, buckets};
pub use error::RegisterError;
pub use escaping::Escaping;
pub use exposition::Exposition;
pub use format::Format;
#[cfg(feature = "push")]
#[cfg_attr(docsrs, doc(cfg(feature = "push")))]
pub use push::{PushError, Pushgateway};
pub use respond::{Response, Scraped, prefers_gzip};
#[cfg(feature = "serve")]
#[cfg_attr(docsrs, doc(cfg(feature = "serve")))]
pub use serve::{ServeError, Server, serve};

/// The content type of [`Format::OPENMETRICS`].
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A guide of the library whose program needs this crate: its documentation shows it, and this runs
/// it.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/from-prometheus.md")]
mod guide {}

// The documentation site names the feature of an item.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]
//!
//! # What is sent
//!
//! | | as | value |
//! |---|---|---|
//! | [`Counter`](windrow::Counter) | monotonic sum | all-time total, drained or not |
//! | [`Gauge`](windrow::Gauge), [`InFlight`](windrow::InFlight) | sum that is not monotonic (an up-down counter) | the level |
//! | [`Maximum`](windrow::Maximum), [`Minimum`](windrow::Minimum) | gauge | the extreme; absent before a value is recorded |
//! | [`from_fn`](windrow::export::from_fn), [`field_fn`](windrow::export::field_fn) | gauge | the function's result; absent if it is not finite |
//! | [`total_fn`](windrow::export::total_fn) | monotonic sum | the function's result; absent if it is negative or not finite |
//! | [`Histogram`](windrow::Histogram) | [exponential histogram](#histograms) | all-time distribution |
//! | [`SlidingWindow`](windrow::SlidingWindow) | monotonic sum, with the attribute `event` | all-time count, of `Count` events |
//! | | sum `NAME.level` that is not monotonic | all-time additions minus subtractions, of `Signed` events |
//! | | gauge `NAME.per_second` | rate in the closed buckets, of `Count` and `Signed` events |
//! | | monotonic sums `NAME.count`, `NAME.sum` | all-time count and sum of the values, of `Value` events |
//! | | gauge `NAME.values_per_second` | rate of the values in the closed buckets |
//! | | gauges `NAME.mean`, `.min`, `.max` | of events with values, in the closed buckets; absent without values |
//! | | exponential histogram `NAME.values` | all-time distribution with its count and sum, of `Histogram` events |
//! | | gauge `NAME.percentile`, with the attribute `q` | quantiles 0.5, 0.9 and 0.99 of `Histogram` events in the closed buckets; absent without values |
//! | [`Family`](windrow::Family) | as its metric, with its labels as attributes | |
//! | its overflow series | the attribute `otel.metric.overflow`, which is `true` | the sum of all sets beyond its limit |
//! | | monotonic sum `NAME.overflow` | uses of the overflow series |
//! | the exporter itself, if it sends deltas | monotonic sum `windrow.otlp.unknown_points` | [unknown points](#unknown-points) |
//!
//! Closed buckets are those before the current bucket (see
//! [`Over::complete`](windrow::snapshot::Over::complete)). A window of one bucket has none, and no
//! gauges. A label that is an integer below 2^63 is an attribute of that type; any other is a text.
//!
//! A sum over the attribute `event` adds up what the program counts under different names, such as
//! requests and failures: choose the event. The unit of values is that which [their event
//! declares](windrow::Events::UNITS), and otherwise that of [`Exporter::metric_in`]; a metric of
//! events in several units has none.
//!
//! The resource has the attributes given by [`Exporter::resource`], and `service.name` and
//! `service.instance.id` in any case. The scope is `windrow-otlp`.
//!
//! # Times
//!
//! A sum or a histogram is sent with the time since which it counts. For a series of a family this
//! is the time at which the series was [made](windrow::export::Series::created), for a window the
//! time at which it was built, and for any other metric the time at which the exporter was set up:
//! set it up at the beginning of the program, or give it the time by [`Exporter::since`].
//!
//! So a set of labels whose series was [removed](windrow::Family::retain), and that is used again,
//! begins at zero with a later start. A backend adds the two up, and takes neither for the other.
//! The counts of a series between its last export and its removal are not sent: give `retain` an
//! idle time longer than some periods. A family whose labels are all enums keeps its series: one
//! that is used again after its removal goes on with its count and its start.
//!
//! Times are those of the system's clock, except that those of exports never go back: if the clock
//! is set back, they go on from the last export at the speed of the monotonic clock. So after a
//! leap forward that is corrected, they stay ahead until the exporter ends. The start of a series
//! is not corrected: a series that is made after the clock was set back may seem to begin before
//! another one of the same labels ended, and a point whose start is in the future ends a nanosecond
//! after it.
//!
//! # Histograms
//!
//! A [scale](windrow::histogram::Scale) of schema `s` has the cells of OpenTelemetry's exponential
//! histograms at scale `s`, ends included: a cell is sent as a bucket, and no count is estimated.
//! Values outside of the scale's range are in the buckets beside it: those below in the last bucket
//! before the range, those above in the first one behind it. So a backend's quantile of them is at
//! an end of the range, and not below zero or at 2^64. The zero bucket has zeros alone, of a scale
//! that begins at 1. `windrow-prometheus` writes the same buckets. Minimum and maximum are sent if
//! they are
//! [exact](windrow::histogram::Distribution::has_exact_extremes): those of totals are, and of
//! changes those of a series' first one. The sum is a double, which is exact up to 2^53; it is
//! that of the [values below 2^60](windrow::Recorded#sums).
//!
//! [`HistogramForm::Octaves`] sends explicit bounds instead, at powers of two, for backends that do
//! not know exponential histograms. The counts there are exact, too.
//!
//! # Exemplars
//!
//! A sum or a histogram is sent with the [exemplars](windrow::exemplar) of its metric: of a counter
//! the newest, of a histogram the newest of each octave. An id of zero is left out. A total has all
//! of them each time, a change has those that the collector has not acknowledged. (If the newest of
//! an octave is just being replaced, one that it had replaced may be sent once more.)
//!
//! # Deltas
//!
//! [`Temporality::Delta`] sends counters and histograms as changes, and levels and gauges as they
//! are. A change is the difference between what a series has counted and what was sent of it for
//! good, so a drain elsewhere in the program takes nothing away. A series without a change is not
//! sent.
//!
//! The exporter keeps the sent totals of each series that exists, and the requests of at most one
//! export. The end of each attempt decides about the numbers of its request:
//!
//! | answer | the request | its numbers |
//! |---|---|---|
//! | accepted (over HTTP, any status 2xx) | is done | are acknowledged |
//! | accepted in part | is done, and the number of rejected points is told | are acknowledged: which points were rejected is unknown |
//! | refused, and no earlier attempt may have arrived | is not sent again | are in the next export |
//! | refused, and an earlier attempt may have arrived | is not sent again | are [unknown](#unknown-points) |
//! | an error within the collector | is not sent again | are [unknown](#unknown-points) |
//! | too many requests, or not available | is sent again, byte for byte | wait |
//! | none: no connection, a lost one, a timeout | is sent again, byte for byte | wait |
//!
//! The statuses mean this:
//!
//! | | of HTTP | of gRPC |
//! |---|---|---|
//! | too many requests | 429 | 8, with `RetryInfo` |
//! | not available | 502, 503, 504 | 1, 4, 10, 11, 14, 15 |
//! | refused | any other 3xx or 4xx, 501, 505 | 3, 5, 6, 7, 8, 9, 12, 16 |
//! | an error within the collector | any other | any other |
//!
//! Over HTTP the status decides, even if the text behind it is long, is cut off, or does not come
//! within a second.
//!
//! While a request waits, nothing else is sent. An attempt *may have arrived* if it ended without
//! an answer, unless no connection was made; and if its answer was "not available" or an error
//! within the collector, which a proxy or a later stage gives, too. A repetition has the same
//! bytes and times. So a collector that knows points by their times counts each number once at
//! most. One that does not counts twice what it took from both attempts: no sender can tell the two
//! cases apart. Totals do not have this problem, so prefer [`Temporality::Cumulative`] where the
//! backend takes it.
//!
//! # Unknown points
//!
//! A request of deltas that may have arrived keeps its interval: if it is given up, the next one
//! begins where it ended, and has none of its numbers. It is given up by a refusal of its
//! repetition (a backend that has the points refuses them as duplicates), by an error within the
//! collector, and by the end of the exporter. [`Exporter::on_error`] is called with
//! [`ExportError::Unknown`] then, which has the number of data points. They are also counted in a
//! metric that the exporter adds to those of the program if it sends deltas, the monotonic sum
//! `windrow.otlp.unknown_points`: alert on it. (Points that the end of the exporter makes unknown
//! are told to the function alone.)
//!
//! # Failures
//!
//! After a failure that is [retried](ExportError::is_retried), whatever other errors the export
//! had, the next try comes after half a second to a second, and after twice that for each further
//! failure, up to a minute; at random in the upper half of that time, and not before the collector
//! wants it (`Retry-After` in seconds, or gRPC's `RetryInfo`; ten minutes at most). Totals are read
//! anew for each try: nothing is kept while a collector is away. [`Exporter::on_error`] is told of
//! each error.
//!
//! If reading a series panics (in a clock of your own, for example), the series is missing from
//! that export, and in the next.
//!
//! # Cost
//!
//! Counting costs the same as without this crate. An export takes a family's lock for the moment in
//! which it lists the series, which [`with`](windrow::Family::with) never waits for; one load for
//! each core and number; and the memory of the encoded requests, which have about half a mebibyte
//! each, so that collectors and the proxies before them take them. Numbers and labels are written
//! into that memory where they are read, and are not copied again before they are sent over HTTP.
//! It runs on a thread of its own, with a connection for each request.

// An exporter, and its thread.
mod error;
mod exporter;
mod random;
mod started;
mod worker;

// A collection.
mod acknowledged;
mod clock;
mod collect;
mod rules;
mod temporality;

// Data points.
mod attributes;
mod draft;
mod exemplars;
mod histograms;
mod number;
mod points;

// Messages.
mod batch;
mod message;
mod protobuf;
mod wire;

pub use error::{ExportError, StartError};
pub use exporter::Exporter;
pub use histograms::HistogramForm;
pub use started::Started;
pub use temporality::Temporality;

/// A guide of the library whose program needs this crate: its documentation shows it, and this runs
/// it.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/otlp.md")]
mod guide {}

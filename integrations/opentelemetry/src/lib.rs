// The documentation site names the feature of an item.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![doc = include_str!("../README.md")]
//!
//! # What is exported
//!
//! | | as an observable | value |
//! |---|---|---|
//! | [`Counter`](windrow::Counter) | counter | all-time total, drained or not |
//! | [`Gauge`](windrow::Gauge), [`InFlight`](windrow::InFlight) | up-down counter | the level |
//! | [`Maximum`](windrow::Maximum), [`Minimum`](windrow::Minimum) | gauge | the extreme; absent before a value is recorded |
//! | [`from_fn`](windrow::export::from_fn), [`field_fn`](windrow::export::field_fn) | gauge | the function's result; absent if it is not finite |
//! | [`total_fn`](windrow::export::total_fn) | counter | the function's result; absent if it is negative or not finite |
//! | [`Histogram`](windrow::Histogram) | counter | all-time count |
//! | | counter `NAME.sum` | all-time sum |
//! | | counter `NAME.bucket`, with the attribute `le` | all-time count up to each power of two in the scale's range, and up to `+Inf` |
//! | [`SlidingWindow`](windrow::SlidingWindow) | counter, with the attribute `event` | all-time count, of `Count` events |
//! | | up-down counter `NAME.level` | all-time additions minus subtractions, of `Signed` events |
//! | | gauge `NAME.per_second` | rate in the closed buckets, of `Count` and `Signed` events |
//! | | counters `NAME.count`, `NAME.sum` | all-time count and sum of the values, of `Value` events |
//! | | gauge `NAME.values_per_second` | rate of the values in the closed buckets |
//! | | gauges `NAME.mean`, `.min`, `.max` | of events with values, in the closed buckets; absent without values |
//! | | counters `NAME.values`, `NAME.values.sum`, and `NAME.values.bucket` with the attribute `le` | as for a histogram, of `Histogram` events |
//! | | gauge `NAME.percentile`, with the attribute `q` | quantiles 0.5, 0.9 and 0.99 of `Histogram` events in the closed buckets; absent without values |
//! | [`Family`](windrow::Family) | as its metric, with its labels as attributes | |
//! | its overflow series | the attribute `overflow`, which is `true` | the sum of all sets beyond its limit or the SDK's |
//! | | counter `NAME.overflow` | uses of the family's overflow series |
//!
//! Closed buckets are those before the current bucket (see
//! [`Over::complete`](windrow::snapshot::Over::complete)). A window of one bucket has none, and no
//! gauges. A family whose labels are all enums never needs an overflow series, and has no
//! `NAME.overflow`.
//!
//! A sum over the attribute `event` adds up what the program counts under different names, such as
//! requests and failures: choose the event. The unit of values is that which [their event
//! declares](windrow::Events::UNITS), and otherwise that of the catalog.
//!
//! # Histograms
//!
//! OpenTelemetry has no observable histogram, and its SDK (0.33) takes no precomputed data points:
//! its histograms are made of single values. So buckets are exported as counters, each with the
//! number of values up to `le`, as in Prometheus. They are exact at powers of two, add up over
//! machines, and a query computes percentiles from them:
//!
//! ```text
//! histogram_quantile(0.99, sum by (le) (rate(rt_bucket_total[5m])))
//! ```
//!
//! That interpolates between two powers of two: it is off by less than the value itself. The gauge
//! `NAME.percentile` of a window is right to the scale's error. A histogram of the default scale
//! takes 29 sets of attributes, and any histogram at most 65.
//!
//! The crate `windrow-otlp` sends to a collector without the SDK, and has none of these limits: a
//! histogram is an exponential histogram there, cell for cell.
//!
//! # Consistency
//!
//! Counters and up-down counters are synchronous instruments of the API. At each collection, each
//! series adds its increase since the last one; series are told apart by their
//! [number](windrow::export::Series::number) and not by their labels. So an SDK exports all-time
//! totals as sums that never go back, and as deltas that add up to them, to any number of readers;
//! a set of labels whose series was [removed](windrow::Family::retain) counts on from its exported
//! total when it is used again; and series that a View merges by `with_allowed_attribute_keys` are
//! added up. (Gauges do not add up: of gauges that a View merges, the SDK exports the last one.) A
//! collection calls the callback of the instrument `windrow.observer`, which exports nothing. A
//! View that drops it stops all counters.
//!
//! Each instrument is read separately: the gauges of a window may come from different moments of
//! one collection.
//!
//! A series that is removed is missing from the next collection on, together with its counts since
//! the last one. So give `retain` an idle time longer than some collections. Its gauges vanish and
//! its levels are subtracted; its counters stay where they are, as an SDK that exports sums from
//! the start keeps every set of attributes.
//!
//! A callback cannot be unregistered. Give it a [`Weak`](std::sync::Weak) of a metric that may be
//! dropped: after the last `Arc` was dropped it reads nothing, as if all series were removed. If
//! reading a metric panics (in a clock of your own, for example), its gauges are missing from that
//! collection of that instrument, its counters catch up at the next one, and the thread that
//! collects goes on.
//!
//! # Bounds
//!
//! The SDK takes 2000 sets of attributes of an instrument, or the limit of a
//! [View](Observer::observe_up_to). For counters and up-down counters, each series takes all of its
//! sets or none, while sets are free; the other series are added up in the overflow series,
//! measurement by measurement, so that its buckets are whole. A set is free again when its series
//! is removed; but an SDK that exports sums from the start keeps it, so its own
//! `otel.metric.overflow` takes the sets beyond the first 2000. No count is missing from the sums.
//! A gauge has no sum, so a gauge with more sets than the limit is refused.
//!
//! # Cost
//!
//! Counting costs the same as without this crate. A collection takes a family's lock for the moment
//! in which it lists the series, which [`with`](windrow::Family::with) never waits for; one load
//! for each core and number; an allocation for each text among the attributes; and it keeps 24
//! bytes for each number of an exported series, and its attributes.
//!
//! # Errors
//!
//! Only [`Observer`] returns errors, [`ObserveError`]: for metrics that an SDK would leave out or
//! lose a part of without an error.

mod error;
mod instrument;
mod look;
mod observer;
mod sums;
#[cfg(feature = "trace")]
mod trace;

pub use error::ObserveError;
pub use observer::Observer;
#[cfg(feature = "trace")]
#[cfg_attr(docsrs, doc(cfg(feature = "trace")))]
pub use trace::{current_trace, trace_of};

#![doc = include_str!("../README.md")]
//!
//! # What is exported
//!
//! | | as an observable | value |
//! |---|---|---|
//! | [`Counter`](windrow::Counter) | counter | what was ever added, drained or not |
//! | [`Gauge`](windrow::Gauge), [`InFlight`](windrow::InFlight) | up-down counter | the level |
//! | [`Maximum`](windrow::Maximum), [`Minimum`](windrow::Minimum) | gauge | nothing, before a value is recorded |
//! | [`Histogram`](windrow::Histogram) | counter | how many values, ever |
//! | | counter `NAME.sum` | what they add up to |
//! | | counter `NAME.bucket`, with the attribute `le` | how many values up to each power of two in the scale's range, and up to `+Inf` |
//! | [`SlidingWindow`](windrow::SlidingWindow) | counter, with the attribute `event` | how often, ever |
//! | | gauge `NAME.per_second` | how often per second, in the closed buckets |
//! | | counter `NAME.sum` | of `Value` and `Histogram` events: what all values add up to, ever |
//! | | gauges `NAME.mean`, `.min`, `.max` | of events with values, in the closed buckets; nothing, if these have no value |
//! | | counter `NAME.bucket`, with the attribute `le` | of `Histogram` events: as of a histogram |
//! | | gauge `NAME.percentile`, with the attribute `q` | of `Histogram` events: percentiles 0.5, 0.9 and 0.99 of the closed buckets; nothing, if these have no value |
//! | [`Family`](windrow::Family) | the same, with its labels as attributes | |
//! | what finds no room, in it or among the SDK's sets | the attribute `overflow`, which is `true` | what all such sets counted together |
//! | | counter `NAME.overflow` | how often a set found no room in it |
//!
//! Closed buckets are those before the bucket of the clock's now (see
//! [`Over::complete`](windrow::snapshot::Over::complete)). A window of one bucket has none, and no
//! gauges. A family whose labels are all enums has room for all of them, and no `NAME.overflow`.
//!
//! # Histograms
//!
//! OpenTelemetry has no observable histogram, and its SDK (0.33) takes no data points that others
//! have made: its histograms are made of values, one by one. So buckets are exported as counters,
//! each with how many values there are up to `le`, as Prometheus has them. They are exact at powers
//! of two, add up over machines, and a query has percentiles of them:
//!
//! ```text
//! histogram_quantile(0.99, sum by (le) (rate(rt_bucket_total[5m])))
//! ```
//!
//! That interpolates between two powers of two: it is off by less than the value itself. The gauge
//! `NAME.percentile` of a window is right to the scale's error. A histogram of the default scale
//! takes 29 sets of attributes, and 65 at most.
//!
//! Who writes OTLP without the SDK needs none of this: a scale's schema is OpenTelemetry's, cell
//! for cell. [`numbered_cells`](windrow::histogram::Distribution::numbered_cells) are the positive
//! buckets of an exponential histogram of that scale, numbered by one more;
//! [`below`](windrow::histogram::Distribution::below) is its zero count, with the end of that cell
//! as its zero threshold.
//!
//! # Consistency
//!
//! Counters and up-down counters are those of the API that are added to. At each collection, each
//! series adds what it has counted since the last one, told from others by its
//! [number](windrow::family::Handle::number) and not by its labels. So an SDK exports what was ever
//! counted as a sum that never goes back, and as deltas that add up to it, to any number of
//! readers; a set of labels whose series was [removed](windrow::Family::retain) counts on from what
//! was exported when it is used again; and what a View makes one by `with_allowed_attribute_keys`
//! is added up. (Gauges do not add up: of those that a View makes one, the SDK exports the last
//! one.) A collection calls the callback of the instrument `windrow.observer`, which exports
//! nothing. A View that drops it stops all counters.
//!
//! Each instrument is read on its own: the gauges of a window may be of different moments of one
//! collection.
//!
//! A series that is removed is gone from the next collection on, and with it what it counted since
//! the last one. So give `retain` an idle time longer than some collections. Its gauges vanish and
//! its levels are taken back; its counters stay where they are, as an SDK that exports sums from
//! the start keeps every set of attributes.
//!
//! A callback cannot be unregistered. Give it a [`Weak`](std::sync::Weak) of what may be dropped:
//! it reads nothing after the last `Arc` was dropped, as if all series were removed. If reading a
//! metric panics (a clock of your own, say), its gauges are missing from that collection of that
//! instrument, its counters catch up at the next one, and the thread that collects goes on.
//!
//! # Bounds
//!
//! The SDK takes 2000 sets of attributes of an instrument, or what a View
//! [says](Observer::observe_up_to). Of counters and up-down counters, series take sets as long as
//! there are any, each all of its own or none; the others are added up in the overflow series,
//! measurement by measurement, so that its buckets are whole. A set is free again when its series
//! is removed; but an SDK that exports sums from the start keeps it, so that there the SDK's own
//! `otel.metric.overflow` takes what comes beyond 2000 sets that ever were. No count is missing
//! from the sums. A gauge has no sum, and so more sets of one than the limit are refused.
//!
//! # Cost
//!
//! Counting costs what it costs without this crate. A collection takes a family's lock for the
//! moment in which it lists the series, which [`with`](windrow::Family::with) never waits for; a
//! load a core and number; an allocation for each text among the attributes; and of a series that
//! has been exported, 24 bytes a number and its attributes are kept.
//!
//! # Errors
//!
//! [`ObserveError`], from [`Observer`] alone: for what an SDK would leave out, or lose a part of,
//! and tell nobody.

mod error;
mod instrument;
mod look;
mod observer;
mod sums;

pub use error::ObserveError;
pub use observer::Observer;

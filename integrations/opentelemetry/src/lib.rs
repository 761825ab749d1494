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
//! | what finds no room in it | the attribute `overflow`, which is `true` | what all such sets counted together |
//! | | counter `NAME.overflow` | how often a set found no room |
//!
//! Closed buckets are those before the bucket of the clock's now (see
//! [`Over::complete`](windrow::Over::complete)). A window of one bucket has none, and no gauges. A family whose labels
//! are all enums has room for all of them, and no `NAME.overflow`.
//!
//! # Histograms
//!
//! OpenTelemetry has no observable histogram, and its SDK (0.33) takes no data points that others have made: its histograms are made of
//! values, one by one. So buckets are exported as counters, each with how many values there are up to `le`, as Prometheus has
//! them. They are exact at powers of two, add up over machines, and a query has percentiles of them:
//!
//! ```text
//! histogram_quantile(0.99, sum by (le) (rate(rt_bucket_total[5m])))
//! ```
//!
//! That interpolates between two powers of two: it is off by less than the value itself. The gauge `NAME.percentile` of a
//! window is right to the scale's error. For the limit of the SDK, a histogram is reckoned as 65
//! sets of attributes, the most that there can be (of the default scale there are 29).
//!
//! Who writes OTLP without the SDK needs none of this: a scale's schema is OpenTelemetry's, cell for cell.
//! [`numbered_cells`](windrow::Distribution::numbered_cells) are the positive buckets of an exponential histogram of that scale, numbered by one
//! more; [`below`](windrow::Distribution::below) is its zero count, with the end of that cell as its zero threshold.
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

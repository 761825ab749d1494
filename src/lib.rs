// The documentation site names the feature of an item.
#![cfg_attr(docsrs, feature(doc_cfg))]
// The README's links, for this site. Of two definitions of a name, rustdoc takes the first.
#![cfg_attr(doc, doc = include_str!("../docs/pictures.md"))]
#![cfg_attr(
    doc,
    doc = "\
[guide]: guide
[circuit-breaker.md]: guide::circuit_breaker
[cluster.md]: guide::cluster
[design.md]: guide::design
[endpoints.md]: guide::endpoints
[from-atomic.md]: guide::from_atomic
[from-sentinel.md]: guide::from_sentinel
[from-striped.md]: guide::from_striped
[heavy-keys.md]: guide::heavy_keys
[in-flight.md]: guide::in_flight
[limits.md]: guide::limits
[orderings.md]: guide::orderings
[parity.md]: guide::parity
[percentiles.md]: guide::percentiles
[performance.md]: guide::performance
[verification.md]: guide::verification
[exact-numbers.md]: guide::exact_numbers
[where-it-runs.md]: guide::where_it_runs
"
)]
#![doc = include_str!("../README.md")]
//!
//! # Where to begin
//!
//! * [`Counter`] is a sharded counter, per core where the system can: it replaces an `AtomicU64`
//!   that every core adds to. [`Gauge`], [`Maximum`] and [`Minimum`] do the same for theirs.
//! * [`events!`] and [`SlidingWindow`] count the last second, minute or day; [`clock`] helps to
//!   choose a window's clock.
//! * [`Histogram`] is a latency histogram: quantiles with a stated error, of values from all cores.
//! * [`Gate`] is a rate limiter: it admits at most a limit in each interval, exactly.
//!   [`RationedGate`](gate::RationedGate) is for millions a second.
//! * [`Pace`] is a leaky bucket: it admits one call in each period, with a burst if wanted.
//!   [`Paces`] decides several limits at once: 10 a second and 200 a minute.
//! * [`InFlight`] is an exact gauge of operations in progress, with a concurrency limit; in a
//!   window, each bucket has the greatest level.
//! * [`Family`] has a metric for each set of labels, with bounded cardinality. [`metrics!`]
//!   declares metrics of several numbers.
//! * [`HeavyKeys`] finds the heaviest of any number of keys, with guaranteed bounds.
//! * [`Breaker`] is a circuit breaker: it refuses calls for a while when too many failed, or were
//!   slow.
//! * [`LastCalls`] counts what became of the last `n` calls.
//!
//! Each of them but the last can be a `static`: by `new`, or by `of` for windows, gates, paces and
//! breakers.
//!
//! * [`export`] reads all of these for exporters: Prometheus, OpenTelemetry, a page, a log.
//! * [`guide`] has whole programs to copy, and explains how the library works, how it was verified,
//!   and what it costs.
//!
//! Each item says what it costs, what it promises while other threads write, and what it does not.
//!
//! # Features
//!
//! Counters, windows, histograms and [`InFlight`] need none: `cargo add windrow
//! --no-default-features`. A build without any takes a quarter less CPU time.
//!
//! | feature | brings | by default |
//! |---|---|---|
//! | `limits` | [`Gate`], [`Pace`], [`Paces`], [`Breaker`], [`LastCalls`] | yes |
//! | `family` | [`Family`], [`labels!`] | yes |
//! | `export` | [`export`], [`metrics!`]; and `family` | yes |
//! | `heavy` | [`HeavyKeys`] | yes |
//! | `serde` | snapshots, stats and timestamps that serialize | no |

// The checking reclaimer's pointers rely on a model running all its threads on one system thread.
#![cfg_attr(windrow_checker, allow(clippy::arc_with_non_send_sync))]
// Without a feature, some functions of lower layers have no caller. A build with all features shows
// those that never have one.
#![cfg_attr(
    not(all(feature = "export", feature = "heavy", feature = "limits")),
    allow(dead_code, unused_imports)
)]

// The system.
mod address_dependency;
pub mod clock;
mod memory;
mod once;
mod reclaim;
mod sync;
mod thread_end;

// Small types.
mod at_most;
#[cfg(feature = "serde")]
mod deserialization;
mod error;
mod recorded_value;
mod timer;
mod timestamp;

// Rows, columns, and what stands in them.
mod arena;
mod counters;
mod event;
pub mod exemplar;
pub mod histogram;
mod stripe;

// Windows, limits, and what else counts by time.
#[cfg(feature = "limits")]
pub mod breaker;
#[cfg(feature = "limits")]
pub mod gate;
#[cfg(feature = "heavy")]
pub mod heavy;
pub mod in_flight;
#[cfg(feature = "limits")]
pub mod last_calls;
#[cfg(feature = "limits")]
pub mod pace;
mod ring;
#[cfg(feature = "limits")]
mod turn;
#[cfg(feature = "limits")]
mod wide;
mod window;

// By labels, and for exporters.
#[cfg(feature = "export")]
pub mod export;
#[cfg(feature = "family")]
pub mod family;

// The public interface alone.
pub mod diagnostics;
#[cfg(doc)]
pub mod guide;
#[cfg(feature = "family")]
pub mod labels;
pub mod snapshot;

pub use at_most::AtMost;
#[cfg(feature = "limits")]
#[doc(inline)]
pub use breaker::Breaker;
#[doc(inline)]
pub use clock::Clock;
pub use counters::{Counter, Gauge, Maximum, Minimum};
pub use error::BuildError;
#[cfg(feature = "limits")]
pub use error::LimitError;
#[doc(hidden)]
pub use event::event_list as __events;
// Of sets that `events!` makes.
#[doc(hidden)]
pub use event::WideCells;
pub use event::{Event, Events, Kind, Stats, Typed, kinds as kind};
#[cfg(feature = "family")]
#[doc(inline)]
pub use family::Family;
#[cfg(feature = "family")]
#[doc(hidden)]
pub use family::declared as __labels;
#[cfg(feature = "limits")]
#[doc(inline)]
pub use gate::Gate;
#[cfg(feature = "heavy")]
#[doc(inline)]
pub use heavy::HeavyKeys;
#[doc(inline)]
pub use histogram::Histogram;
#[doc(inline)]
pub use in_flight::InFlight;
#[cfg(feature = "limits")]
#[doc(inline)]
pub use last_calls::LastCalls;
#[doc(hidden)]
pub use once::Once as __Once;
#[cfg(feature = "limits")]
#[doc(inline)]
pub use pace::{Pace, Paces};
pub use recorded_value::Recorded;
#[cfg(loom)]
#[doc(hidden)]
pub use ring::parts;
pub use timer::Timer;
pub use timestamp::Timestamp;
pub use window::{SlidingWindow, WindowBuilder};

//! Reading metrics of any type, for programs that export them.
//!
//! An exporter knows neither the label sets nor the event sets of the program that it serves. This
//! module erases both. A [`Source`] is a metric, a window, or a family; it is visited series by
//! series. Each [`Series`] has labels and a metric, which [`AnyMetric::read`] turns into samples.
//!
//! | step | type |
//! |---|---|
//! | the metrics, by name | [`Catalog`]: name, help text, unit and source of each metric |
//! | the fields of its metrics | [`NamedField`], from [`fields`](fields()) |
//! | its type, label names and bounds | [`Outline`], from [`Source::outline`] |
//! | its series | [`Series`], from [`Source::visit`] |
//! | its numbers | [`Reading`], from [`AnyMetric::read`]: [`Sample`]s, [`Part`] by [`Part`] |
//! | its start time | [`StartTimes::of`] |
//! | a window's interval or buckets | [`AnyWindow`], from [`AnyMetric::Window`] |
//!
//! The crates `windrow-prometheus`, `windrow-otlp`, `windrow-opentelemetry` and `windrow-console`
//! are visitors of this kind. This text for statsd is another:
//!
//! ```
//! use std::fmt::Write;
//!
//! use windrow::export::{Catalog, Value};
//! use windrow::{Counter, Family, labels};
//!
//! labels! { pub struct Route { route: str } }
//!
//! static REQUESTS: Family<Route, Counter> = Family::new();
//!
//! let mut catalog = Catalog::new();
//! catalog.add("requests", "Requests by route", &REQUESTS)?;
//! REQUESTS.with(Route { route: "cart" }).add(3);
//!
//! let mut text = String::new();
//! for metric in &catalog {
//!     metric.source.visit(&mut |series| {
//!         let mut name = metric.name.clone();
//!         series.labels(&mut |_, value| write!(name, ".{value}").expect("a String takes all"));
//!         let reading = series.metric().read();
//!         for part in reading.form.parts() {
//!             reading.samples(part, &mut |sample| {
//!                 if let Value::Count(count) = sample.value {
//!                     writeln!(text, "{name}:{count}|c").expect("a String takes all");
//!                 }
//!             });
//!         }
//!     });
//! }
//! assert_eq!(text, "requests.cart:3|c\n");
//! # Ok::<(), windrow::export::CatalogError>(())
//! ```
//!
//! # Consistency
//!
//! A visit lists the series of a family under its lock, then reads them one after the other without
//! any lock. A series that exists for the whole visit is visited once. Each number has the promises
//! of the metric's own read, at the moment at which it is read.
//!
//! # Cost
//!
//! A visit costs two indirect calls for each series, and the reads of the metrics. It costs writers
//! nothing.

// Sources, by name.
#[cfg(feature = "limits")]
mod breaker;
mod catalog;
mod field;
mod fields;
mod from_fn;
mod outline;
mod source;
#[cfg(feature = "heavy")]
mod top;

// The metric of a series.
mod form;
mod metric;
mod span;
mod window;

// Its numbers.
mod parts;
mod reading;
mod start_times;

pub use catalog::{Catalog, CatalogError, Listed};
pub use field::field;
pub use fields::{NamedField, fields};
pub use form::Form;
pub use from_fn::{FromFn, field_count_fn, field_fn, from_fn, total_fn};
pub use metric::{AnyMetric, Exported, Fields};
pub use outline::Outline;
pub use parts::{Part, PartKind};
pub use reading::{Reading, Sample, Value};
pub use source::{Series, Source};
pub use span::{AnySnapshot, AnySpan};
pub use start_times::StartTimes;
#[cfg(feature = "heavy")]
pub use top::top;
pub use window::AnyWindow;

//! Exemplars: single values of a metric, each with the ids of the trace that it came from.
//!
//! A latency histogram says that some requests were slow. An exemplar names one of them:
//! [`Histogram::record_with_exemplar`] and [`Counter::add_with_exemplar`] take a [`TraceContext`],
//! and [`Histogram::exemplars`] and [`Counter::exemplar`] return the last ones. A window has
//! [`record_with_exemplar`](crate::SlidingWindow::record_with_exemplar) for its `Histogram` events.
//! Exporters get exemplars with each [sample](crate::export::Sample::exemplars).
//!
//! ```
//! use windrow::Histogram;
//! use windrow::exemplar::TraceContext;
//!
//! static LATENCY: Histogram = Histogram::new(); // nanoseconds
//!
//! // What the request's `traceparent` header says.
//! let header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
//! LATENCY.record_with_exemplar(7_000_000, TraceContext::from_traceparent(header));
//!
//! let slowest = *LATENCY.exemplars().last().unwrap();
//! assert_eq!(slowest.value, 7_000_000);
//! assert_eq!(slowest.trace.trace_id, 0x4bf92f3577b34da6a3ce929d0e0e4736);
//! ```
//!
//! # Which are kept
//!
//! The last one of each octave (from above a power of two up to the next one) and of each core. A
//! read returns the newest of each octave, of all cores. So slow requests keep theirs however many
//! quick ones there are. An exemplar stays until another replaces it: drains leave it, and the drop
//! of the metric (the removal of a series) frees it.
//!
//! A thread that gives an exemplar never waits. It drops the exemplar if another thread is writing
//! one of the same octave on the same core at that moment.
//!
//! # Cost
//!
//! A metric to which no exemplar was given takes one pointer, and its `add` or `record` has no
//! instruction more. With `None` for a trace, there is one comparison more. An exemplar costs a
//! reading of the system's clock, a compare-exchange and a line of memory: about twice the reading
//! alone. The first one of a core allocates 64 bytes for each octave of the histogram's scale: 1.9
//! kB with the default scale. For a counter these are 64 bytes.

use std::time::SystemTime;

mod kept;
mod slot;
mod trace;

pub(crate) use kept::Exemplars;
pub use trace::TraceContext;

#[cfg(doc)]
use crate::{Counter, Histogram};

/// A value that was recorded or added, the trace that it came from, and the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Exemplar {
    /// The value that was recorded, or the number that was added.
    pub value: u64,
    /// The ids of the trace and of the span.
    pub trace: TraceContext,
    /// The time at which it was recorded, by the system's clock.
    pub time: SystemTime,
}

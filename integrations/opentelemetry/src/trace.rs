//! The ids of spans, for exemplars.

use opentelemetry::Context;
use opentelemetry::trace::{SpanContext, TraceContextExt};
use windrow::exemplar::TraceContext;

/// Returns the ids of the current span, for [exemplars](windrow::exemplar); `None` if there is no
/// span, or if it is not sampled: then its ids lead to no trace.
///
/// The current span is that of OpenTelemetry's [`Context::current`]. Where the layer of
/// `tracing-opentelemetry` makes the context of an entered span current, that is the span of
/// `tracing`. Costs a look at a thread-local.
///
/// ```
/// use windrow::{Counter, Histogram};
/// use windrow_opentelemetry::current_trace;
///
/// static LATENCY: Histogram = Histogram::new();
/// static ERRORS: Counter = Counter::new();
///
/// fn answered(nanos: u64, status: u16) {
///     LATENCY.record_with_exemplar(nanos, current_trace());
///     if status >= 500 {
///         ERRORS.add_with_exemplar(1, current_trace());
///     }
/// }
///
/// answered(7_000_000, 200); // in no span, so without an exemplar
/// assert_eq!(LATENCY.exemplars(), []);
/// ```
pub fn current_trace() -> Option<TraceContext> {
    Context::map_current(|context| trace_of(context.span().span_context()))
}

/// Returns the ids of a span, for [exemplars](windrow::exemplar); `None` if they are not valid, or
/// if the span is not sampled.
///
/// With `tracing-opentelemetry`, the context of any span of `tracing` is
/// `span.context().span().span_context()`.
///
/// ```
/// use opentelemetry::trace::SpanContext;
///
/// assert_eq!(windrow_opentelemetry::trace_of(&SpanContext::empty_context()), None);
/// ```
pub fn trace_of(span: &SpanContext) -> Option<TraceContext> {
    let trace_id = u128::from_be_bytes(span.trace_id().to_bytes());
    let span_id = u64::from_be_bytes(span.span_id().to_bytes());
    (span.is_valid() && span.is_sampled()).then_some(TraceContext { trace_id, span_id })
}

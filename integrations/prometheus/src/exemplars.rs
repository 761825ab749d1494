//! Exemplars in a scrape.

use windrow::exemplar::TraceContext;

/// Returns the labels of an exemplar: the ids that are not zero, in hexadecimal digits. (Together
/// they have 63 characters, and `OpenMetrics` allows 128.)
pub(crate) fn ids(trace: TraceContext) -> impl Iterator<Item = (&'static str, String)> {
    let TraceContext { trace_id, span_id } = trace;
    let trace_id = (trace_id != 0).then(|| ("trace_id", format!("{trace_id:032x}")));
    let span_id = (span_id != 0).then(|| ("span_id", format!("{span_id:016x}")));
    trace_id.into_iter().chain(span_id)
}

//! The ids of the current span, as exemplars.

use opentelemetry::Context;
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
use windrow::Histogram;
use windrow::exemplar::TraceContext;
use windrow_opentelemetry::{current_trace, trace_of};

const TRACE: u128 = 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736;
const SPAN: u64 = 0x00f0_67aa_0ba9_02b7;

fn span(trace: u128, span: u64, flags: TraceFlags) -> SpanContext {
    let (trace, span) = (TraceId::from(trace), SpanId::from(span));
    SpanContext::new(trace, span, flags, false, TraceState::default())
}

#[test]
fn a_record_in_a_sampled_span_has_its_ids() {
    let latency = Histogram::new();
    let record = |value: u64| latency.record_with_exemplar(value, current_trace());
    record(1_000);
    {
        let sampled = span(TRACE, SPAN, TraceFlags::SAMPLED);
        let _guard = Context::new().with_remote_span_context(sampled).attach();
        record(2_000);
        let other = span(TRACE + 1, SPAN, TraceFlags::default());
        let _guard = Context::new().with_remote_span_context(other).attach();
        record(4_000);
    }
    record(8_000);
    let found = latency.exemplars();
    let found: Vec<_> = found.iter().map(|exemplar| (exemplar.value, exemplar.trace)).collect();
    assert_eq!(found, [(2_000, TraceContext { trace_id: TRACE, span_id: SPAN })]);
    assert_eq!(latency.count(), 4);
}

#[test]
fn ids_that_are_not_valid_are_none() {
    let of = |trace, id| trace_of(&span(trace, id, TraceFlags::SAMPLED));
    assert_eq!([of(0, SPAN), of(TRACE, 0), of(0, 0)], [None; 3]);
    assert_eq!(of(TRACE, SPAN), Some(TraceContext { trace_id: TRACE, span_id: SPAN }));
}

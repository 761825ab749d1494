//! Exemplars, as OTLP has them.

use windrow::exemplar::{Exemplar, TraceContext};

use crate::clock::nanos;
use crate::message;
use crate::message::Recorded;

/// Returns the message of an exemplar. An id of zero is absent there.
pub(crate) fn message(exemplar: &Exemplar) -> message::Exemplar {
    let TraceContext { trace_id, span_id } = exemplar.trace;
    let value = exemplar.value;
    let id = |bytes: &[u8]| {
        if bytes.iter().all(|byte| *byte == 0) { Vec::new() } else { bytes.to_vec() }
    };
    message::Exemplar {
        time_unix_nano: nanos(exemplar.time),
        value: Some(i64::try_from(value).map_or(Recorded::Double(value as f64), Recorded::Int)),
        span_id: id(&span_id.to_be_bytes()),
        trace_id: id(&trace_id.to_be_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use windrow::Counter;

    use super::*;

    #[test]
    fn unknown_ids_are_absent_and_great_values_are_doubles() {
        let counter = Counter::new();
        counter.add_with_exemplar(u64::MAX, TraceContext { trace_id: 0, span_id: 0x0102 });
        let sent = message(&counter.exemplar().unwrap());
        assert_eq!((sent.trace_id, sent.span_id), (Vec::new(), vec![0, 0, 0, 0, 0, 0, 1, 2]));
        assert_eq!(sent.value, Some(Recorded::Double(u64::MAX as f64)));
        counter.add_with_exemplar(
            i64::MAX.cast_unsigned(),
            TraceContext { trace_id: 7 << 64, span_id: 0 },
        );
        let sent = message(&counter.exemplar().unwrap());
        assert_eq!((sent.trace_id[7], sent.trace_id.len(), sent.span_id), (7, 16, Vec::new()));
        assert_eq!(sent.value, Some(Recorded::Int(i64::MAX)));
    }
}

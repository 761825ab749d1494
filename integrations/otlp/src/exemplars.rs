//! Exemplars, as OTLP has them.

use windrow::exemplar::{Exemplar, TraceContext};

use crate::clock::nanos;
use crate::number::Number;
use crate::protobuf::{put_bytes, put_fixed, put_nested};

/// The tags of `Exemplar`.
const TIME: u8 = 2;
const DOUBLE: u8 = 3;
const SPAN_ID: u8 = 4;
const TRACE_ID: u8 = 5;
const INT: u8 = 6;

/// Appends exemplars as a field with this tag. An id of zero is absent there.
pub(crate) fn put(tag: u8, exemplars: &[Exemplar], to: &mut Vec<u8>) {
    for exemplar in exemplars {
        put_nested(tag, to, |to| put_one(exemplar, to));
    }
}

fn put_one(exemplar: &Exemplar, to: &mut Vec<u8>) {
    let TraceContext { trace_id, span_id } = exemplar.trace;
    put_fixed(TIME, nanos(exemplar.time), to);
    Number::of(exemplar.value).put(DOUBLE, INT, to);
    if span_id != 0 {
        put_bytes(SPAN_ID, &span_id.to_be_bytes(), to);
    }
    if trace_id != 0 {
        put_bytes(TRACE_ID, &trace_id.to_be_bytes(), to);
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::metrics::v1::Exemplar as Message;
    use opentelemetry_proto::tonic::metrics::v1::exemplar::Value;
    use prost::Message as _;
    use windrow::Counter;

    use super::*;

    fn sent(exemplar: &Exemplar) -> Message {
        let mut bytes = Vec::new();
        put_one(exemplar, &mut bytes);
        let message = Message::decode(&*bytes).unwrap();
        assert_eq!(bytes, message.encode_to_vec());
        message
    }

    #[test]
    fn unknown_ids_are_absent_and_great_values_are_doubles() {
        let counter = Counter::new();
        counter.add_with_exemplar(u64::MAX, TraceContext { trace_id: 0, span_id: 0x0102 });
        let message = sent(&counter.exemplar().unwrap());
        assert_eq!((message.trace_id, message.span_id), (Vec::new(), vec![0, 0, 0, 0, 0, 0, 1, 2]));
        assert_eq!(message.value, Some(Value::AsDouble(u64::MAX as f64)));
        counter.add_with_exemplar(
            i64::MAX.cast_unsigned(),
            TraceContext { trace_id: 7 << 64, span_id: 0 },
        );
        let message = sent(&counter.exemplar().unwrap());
        assert_eq!(
            (message.trace_id[7], message.trace_id.len(), message.span_id),
            (7, 16, Vec::new())
        );
        assert_eq!(message.value, Some(Value::AsInt(i64::MAX)));
    }
}

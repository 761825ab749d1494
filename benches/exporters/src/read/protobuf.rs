//! Prometheus' protobuf: the fields of `io.prometheus.client.MetricFamily` that are judged.

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Family {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(message, repeated, tag = "4")]
    pub(crate) metrics: Vec<Metric>,
    #[prost(string, tag = "5")]
    pub(crate) unit: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Metric {
    #[prost(message, repeated, tag = "1")]
    pub(crate) labels: Vec<Label>,
    #[prost(message, optional, tag = "3")]
    pub(crate) counter: Option<Counter>,
    #[prost(message, optional, tag = "7")]
    pub(crate) histogram: Option<Histogram>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Label {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) value: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Counter {
    #[prost(double, tag = "1")]
    pub(crate) value: f64,
    #[prost(message, optional, tag = "2")]
    pub(crate) exemplar: Option<Exemplar>,
    #[prost(message, optional, tag = "3")]
    pub(crate) created: Option<Time>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Exemplar {
    #[prost(message, repeated, tag = "1")]
    pub(crate) labels: Vec<Label>,
}

#[derive(Clone, Copy, PartialEq, PartialOrd, Message)]
pub(crate) struct Time {
    #[prost(int64, tag = "1")]
    pub(crate) seconds: i64,
    #[prost(int32, tag = "2")]
    pub(crate) nanos: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Histogram {
    #[prost(sint32, optional, tag = "5")]
    pub(crate) schema: Option<i32>,
    #[prost(message, repeated, tag = "12")]
    pub(crate) positive_spans: Vec<Span>,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Span {
    #[prost(uint32, tag = "2")]
    pub(crate) length: u32,
}

/// Reads messages, each of which has its length before it. `None` if they are none.
pub(crate) fn read(mut bytes: &[u8]) -> Option<Vec<Family>> {
    let mut families = Vec::new();
    while !bytes.is_empty() {
        families.push(Family::decode_length_delimited(&mut bytes).ok()?);
    }
    Some(families)
}

//! The messages of Prometheus' data model, `io.prometheus.client`.
//!
//! They are written by hand, because generated ones need a compiler of protobuf. Names, tags and
//! types are those of `metrics.proto`, which may add fields but not change any. Numbers are
//! optional there: so a zero is written, too.

use prost::{Enumeration, Message};

use crate::native::Native;

/// Without its samples (tag 4).
#[derive(Clone, PartialEq, Message)]
pub(crate) struct MetricFamily {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) help: String,
    #[prost(enumeration = "MetricType", optional, tag = "3")]
    pub(crate) r#type: Option<i32>,
    #[prost(string, tag = "5")]
    pub(crate) unit: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Enumeration)]
#[repr(i32)]
pub(crate) enum MetricType {
    Counter = 0,
    Gauge = 1,
    Histogram = 4,
}

#[derive(Clone, Copy, PartialEq, Message)]
pub(crate) struct Gauge {
    #[prost(double, optional, tag = "1")]
    pub(crate) value: Option<f64>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Counter {
    #[prost(double, optional, tag = "1")]
    pub(crate) value: Option<f64>,
    #[prost(message, optional, tag = "2")]
    pub(crate) exemplar: Option<Exemplar>,
    #[prost(message, optional, tag = "3")]
    pub(crate) created_timestamp: Option<Timestamp>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Histogram {
    #[prost(uint64, optional, tag = "1")]
    pub(crate) sample_count: Option<u64>,
    #[prost(double, optional, tag = "2")]
    pub(crate) sample_sum: Option<f64>,
    /// The classic buckets.
    #[prost(message, repeated, tag = "3")]
    pub(crate) bucket: Vec<Bucket>,
    #[prost(message, optional, tag = "15")]
    pub(crate) created_timestamp: Option<Timestamp>,
    /// The schema of the native buckets; the rest is theirs too.
    #[prost(sint32, optional, tag = "5")]
    pub(crate) schema: Option<i32>,
    #[prost(double, optional, tag = "6")]
    pub(crate) zero_threshold: Option<f64>,
    #[prost(uint64, optional, tag = "7")]
    pub(crate) zero_count: Option<u64>,
    #[prost(message, repeated, tag = "12")]
    pub(crate) positive_span: Vec<BucketSpan>,
    #[prost(sint64, repeated, packed = "false", tag = "13")]
    pub(crate) positive_delta: Vec<i64>,
    /// The exemplars of the native buckets, in the order of time.
    #[prost(message, repeated, tag = "16")]
    pub(crate) exemplars: Vec<Exemplar>,
}

impl Histogram {
    /// Sets the native buckets.
    pub(crate) fn set_native(&mut self, native: Native) {
        let span = |(offset, length)| BucketSpan { offset: Some(offset), length: Some(length) };
        self.schema = Some(native.schema);
        self.zero_threshold = Some(native.zero_threshold);
        self.zero_count = Some(native.zero_count);
        self.positive_span = native.spans.into_iter().map(span).collect();
        self.positive_delta = native.deltas;
    }
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Bucket {
    #[prost(uint64, optional, tag = "1")]
    pub(crate) cumulative_count: Option<u64>,
    #[prost(double, optional, tag = "2")]
    pub(crate) upper_bound: Option<f64>,
    #[prost(message, optional, tag = "3")]
    pub(crate) exemplar: Option<Exemplar>,
}

/// A label of an exemplar. (Those of samples are written without a message.)
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct LabelPair {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) value: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Exemplar {
    #[prost(message, repeated, tag = "1")]
    pub(crate) label: Vec<LabelPair>,
    #[prost(double, optional, tag = "2")]
    pub(crate) value: Option<f64>,
    #[prost(message, optional, tag = "3")]
    pub(crate) timestamp: Option<Timestamp>,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(crate) struct BucketSpan {
    #[prost(sint32, optional, tag = "1")]
    pub(crate) offset: Option<i32>,
    #[prost(uint32, optional, tag = "2")]
    pub(crate) length: Option<u32>,
}

/// `google.protobuf.Timestamp`.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(crate) struct Timestamp {
    #[prost(int64, tag = "1")]
    pub(crate) seconds: i64,
    #[prost(int32, tag = "2")]
    pub(crate) nanos: i32,
}

//! Readers of the formats: none is an exporter's own.

pub(crate) mod otlp;
pub(crate) mod protobuf;
pub(crate) mod text;

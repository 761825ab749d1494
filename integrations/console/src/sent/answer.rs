//! The questions that clients ask, and their answers.

use bytes::Bytes;
use windrow_prometheus::Format;

/// The question of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Asked {
    Text,
    Snapshot,
    /// One series, by its key.
    Series(String),
    /// A scrape in a format, and whether it is to be compressed.
    Metrics(Format, bool),
}

/// The answer to a question.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Made(Bytes),
    /// A scrape, and its coding.
    Scrape(Bytes, Option<&'static str>),
    NoSeries,
}

//! Writes and reads interval logs of `HdrHistogram`: `logs write KIND FILE`, `logs read FILE`.
//!
//! `logs/run.sh` runs it beside the libraries of Java, Python and JavaScript, and prints the table
//! of this crate's README: which library reads whose log.

use std::error::Error;
use std::time::{Duration, SystemTime};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::interval_log::{
    IntervalLogIterator, IntervalLogWriterBuilder, LogEntry,
};
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer, V2Serializer};
use windrow::histogram::Scale;

/// The values of each interval, in nanoseconds: plain ones, and with one that no signed number has.
type Intervals = [&'static [u64]; 3];
const PLAIN: Intervals = [&[1_000, 2_000_000, 5_000_000_000], &[], &[7]];
const GREAT: Intervals = [&[1_000, 2_000_000, 5_000_000_000, u64::MAX], &[], &[7]];

/// Returns a histogram of values, by windrow.
fn converted(values: &[u64]) -> hdrhistogram::Histogram<u64> {
    let all = Scale::new(4, 1, u64::MAX).expect("valid");
    let histogram = windrow::Histogram::with_scale(all);
    for value in values {
        histogram.record(*value);
    }
    windrow_hdrhistogram::histogram(&histogram.take(), 3).expect("three digits")
}

/// Returns a histogram of values, by `hdrhistogram` alone.
fn plain(values: &[u64]) -> hdrhistogram::Histogram<u64> {
    let mut histogram = hdrhistogram::Histogram::new_with_bounds(1, u64::MAX, 3).expect("valid");
    for value in values {
        histogram.record(*value).expect("within the bounds");
    }
    histogram
}

/// Writes the log of three intervals.
fn write(
    mut serializer: impl Serializer,
    intervals: Intervals,
    histogram: impl Fn(&[u64]) -> hdrhistogram::Histogram<u64>,
) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut log = Vec::new();
    let mut writer = IntervalLogWriterBuilder::new()
        .add_comment("[Histogram log format version 1.3]")
        .with_start_time(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000))
        .with_max_value_divisor(1_000_000.0)
        .begin_log_with(&mut log, &mut serializer)?;
    for (values, second) in intervals.into_iter().zip(1_700_000_000..) {
        let (start, length) = (Duration::from_secs(second), Duration::from_secs(1));
        let written = writer.write_histogram(&histogram(values), start, length, None);
        written.map_err(|error| format!("{error:?}"))?;
    }
    Ok(log)
}

/// Prints the count and the maximum of each interval of a log.
fn read(log: &[u8]) -> Result<(), Box<dyn Error>> {
    for entry in IntervalLogIterator::new(log) {
        let LogEntry::Interval(interval) = entry.map_err(|error| format!("{error:?}"))? else {
            continue;
        };
        let bytes = STANDARD.decode(interval.encoded_histogram())?;
        let histogram: hdrhistogram::Histogram<u64> =
            Deserializer::new().deserialize(&mut bytes.as_slice())?;
        println!("{} {}", histogram.len(), histogram.max());
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (log, file) = match arguments[..] {
        ["read", file] => return read(&std::fs::read(file)?),
        ["write", "deflate", file] => (write(V2DeflateSerializer::new(), PLAIN, converted)?, file),
        ["write", "great", file] => (write(V2DeflateSerializer::new(), GREAT, converted)?, file),
        ["write", "v2", file] => (write(V2Serializer::new(), PLAIN, converted)?, file),
        ["write", "plain", file] => (write(V2DeflateSerializer::new(), GREAT, plain)?, file),
        _ => return Err("logs write deflate|great|v2|plain FILE, or logs read FILE".into()),
    };
    Ok(std::fs::write(file, log)?)
}

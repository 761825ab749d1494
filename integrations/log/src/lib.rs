#![doc = include_str!("../README.md")]

// From windows to lines.
mod every;
mod heavy;
mod log;
mod options;
mod turns;

// The contents of a line.
mod entry;
mod error;
mod format;
mod names;
mod total;
mod wall;

// From lines to files.
mod active;
mod disk;
mod order;
mod pending;
mod seen;
mod segment;
mod writer;

// From files to entries and sums.
mod lines;
mod past;
mod read;
mod regular;
mod search;

pub use entry::{Bucket, Dropped, Entry, Heavy, HeavyKey, Run, Second};
pub use error::{LogError, ReadError, Step};
pub use every::Every;
pub use format::{Columns, Format};
pub use log::{Batch, Log, Unwritten};
pub use names::name;
pub use options::Options;
pub use past::{Past, PastEvent, Span};
pub use read::{Entries, Files, Skipped, read};
pub use total::Total;

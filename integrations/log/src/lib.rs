#![doc = include_str!("../README.md")]

mod active;
mod disk;
mod entry;
mod error;
mod every;
mod format;
mod heavy;
mod lines;
mod log;
mod names;
mod options;
mod order;
mod past;
mod pending;
mod read;
mod regular;
mod search;
mod seen;
mod segment;
mod total;
mod turns;
mod wall;
mod writer;

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

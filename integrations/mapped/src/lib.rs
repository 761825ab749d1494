#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
#![doc = include_str!("../README.md")]

mod cells;
mod counter;
mod entries;
mod error;
mod extreme;
mod failpoint;
mod file;
mod gauge;
mod histogram;
mod kind;
mod layout;
mod name_error;
mod owner;
mod owners;
mod publish;
mod reader;
mod reading;
mod sequence;
mod shared;
mod slot;
mod source;
mod system;
mod text;

pub use counter::Counter;
pub use error::{MappedError, Step};
pub use extreme::{Maximum, Minimum};
pub use file::{File, FileBuilder};
pub use gauge::{Gauge, InFlight, InFlightGuard};
pub use histogram::Histogram;
pub use kind::Kind;
pub use name_error::NameError;
pub use owners::{Level, Owner};
pub use reader::Reader;
pub use reading::{Metric, Reading, Value};
pub use source::FileSource;
pub use windrow::histogram::{Distribution, Scale};

#[cfg(test)]
mod child;

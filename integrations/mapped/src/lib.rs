#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
#![doc = include_str!("../README.md")]

mod counter;
mod entries;
mod error;
mod failpoint;
mod file;
mod kind;
mod layout;
mod name_error;
mod reader;
mod reading;
mod sequence;
mod shared;
mod source;
mod system;
mod text;

pub use counter::Counter;
pub use error::{MappedError, Step};
pub use file::{File, FileBuilder};
pub use kind::Kind;
pub use name_error::NameError;
pub use reader::Reader;
pub use reading::{Metric, Reading};
pub use source::FileSource;

#[cfg(test)]
mod child;

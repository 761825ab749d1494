//! Sharded numbers, which all cores may write at once: counter, gauge, maximum and minimum.

mod counter;
mod extreme;
mod gauge;
mod misuse;
mod one_word;
mod striped;

pub use counter::Counter;
pub use extreme::{Maximum, Minimum};
pub use gauge::Gauge;
pub(crate) use striped::{Striped, at_least_release};

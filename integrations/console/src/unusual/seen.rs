//! The numbers that a watch sees of a series at one moment.

use crate::shown::layout::PERCENTILES;

/// The numbers of a series at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// The time in milliseconds of the window's clock.
    pub(crate) at: u64,
    /// All-time counts: of operations, and of those that failed or were refused.
    pub(crate) all: u64,
    pub(crate) failed: u64,
    pub(crate) refused: u64,
    /// The all-time count of values.
    pub(crate) values: u64,
    /// The all-time counts of values above each bound, modulo 2^32.
    pub(crate) above: [u32; PERCENTILES],
    /// The values of the interval: their count, and their percentiles.
    pub(crate) interval: u32,
    pub(crate) percentiles: [f32; PERCENTILES],
}

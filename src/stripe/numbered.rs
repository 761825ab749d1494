//! Which number tells rows apart, where they are per core; and words that are no column's.

/// The number that tells rows apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code)] // where there are no sequences
pub(crate) enum Numbered {
    /// The concurrency id: dense among the threads that run.
    ById,
    /// The processor's.
    ByProcessor,
}

/// In place of a column: the arena was full.
pub(super) const UNAVAILABLE: usize = 8;

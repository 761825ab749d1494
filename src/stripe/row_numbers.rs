//! The kinds of row numbers in the per-core strategy; and a word that is no column's.

/// The number by which rows are identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code)] // where there are no sequences
pub(crate) enum Numbered {
    /// The concurrency id: dense among the threads that run.
    ById,
    /// The processor's.
    ByProcessor,
}

/// Takes the place of a column if the arena was full.
pub(super) const UNAVAILABLE: usize = 8;

//! Which number tells rows apart, where they are per core.

/// The number that tells rows apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code)] // where there are no sequences
pub(crate) enum Numbered {
    /// The concurrency id: dense among the threads that run.
    ById,
    /// The processor's.
    ByProcessor,
}

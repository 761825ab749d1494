//! The ways in which a sequence ends without having written.

/// A sequence has not written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code)] // where there are no sequences
pub(crate) enum Miss {
    /// The kernel has interrupted it.
    Aborted,
    /// The file has no row for this processor, or the thread is not registered.
    NoRow,
}

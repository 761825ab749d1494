//! No restartable sequences.

/// Returns the offset of a thread's area from its thread pointer: there is none.
pub(crate) fn area() -> Option<isize> {
    None
}

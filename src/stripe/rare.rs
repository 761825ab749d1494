//! A hint to the compiler.

/// Tells it that its caller's branch is rare. (`std::hint::cold_path` needs Rust 1.95.)
#[cold]
pub(crate) fn cold() {}

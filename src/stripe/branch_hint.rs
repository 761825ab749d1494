//! A hint to the compiler.

/// Tells the compiler that the branch with this call is rare. (`std::hint::cold_path` needs Rust
/// 1.95.)
#[cold]
pub(crate) fn cold() {}

//! The result of a part, and of a total.

/// The result of a part: a line about its adds, or about the total that is wrong.
pub type Outcome = Result<String, String>;

/// Compares a total with what was added.
pub(crate) fn exact<T: Copy + PartialEq + std::fmt::Debug>(
    what: &str,
    found: T,
    added: T,
) -> Result<(), String> {
    if found == added { Ok(()) } else { Err(format!("{what}: {found:?}, and {added:?} was added")) }
}

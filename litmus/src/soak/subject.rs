//! A subject of the soak: something to add to, with a book beside it.

use testkit::Rng;

/// Something to add to.
pub(super) trait Subject: Send + Sync {
    /// Adds a few times, and notes it. Returns the number of adds.
    fn add(&self, random: &mut Rng) -> u64;
    /// Reads, drains or changes it.
    fn disturb(&self, random: &mut Rng);
    /// Returns an error, at rest, if a number disagrees with the book.
    fn check(&self) -> Result<(), String>;
}

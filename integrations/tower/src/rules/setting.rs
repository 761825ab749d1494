//! The setting that a rule gives its keys.

use std::fmt::Debug;

use crate::rules::error::{RulesError, RulesPart};
#[cfg(feature = "serde")]
use crate::rules::fields::Readable;

/// The setting that a rule of [`Rules`](crate::Rules) gives its keys: a [`Rate`](crate::Rate),
/// [`Places`](crate::Places) or a [`Geometry`](crate::Geometry).
pub trait Setting: Copy + PartialEq + Debug + Readable + Send + Sync + 'static {
    /// Refuses a setting that no key can have.
    fn check(self, part: RulesPart) -> Result<(), RulesError> {
        let _ = part; // any is right
        Ok(())
    }
}

#[cfg(not(feature = "serde"))]
pub trait Readable {}

#[cfg(not(feature = "serde"))]
impl<T> Readable for T {}

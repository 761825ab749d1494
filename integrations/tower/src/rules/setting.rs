//! The setting that a rule gives its keys.

use crate::rules::{Geometry, Places, Rate};

/// The setting that a rule of [`Rules`](crate::Rules) gives its keys: a [`Rate`], [`Places`] or a
/// [`Geometry`]. It is sealed.
pub trait Setting: sealed::Setting {}

impl Setting for Rate {}
impl Setting for Places {}
impl Setting for Geometry {}

pub(super) mod sealed {
    use std::fmt::Debug;

    #[cfg(feature = "serde")]
    use crate::rules::read::Readable;
    use crate::rules::{RulesError, RulesPart};

    pub trait Setting: Copy + PartialEq + Debug + Readable + Send + Sync + 'static {
        /// Refuses a setting that no key can have.
        fn check(self, part: RulesPart) -> Result<(), RulesError>;
    }

    #[cfg(not(feature = "serde"))]
    pub trait Readable {}

    #[cfg(not(feature = "serde"))]
    impl<T> Readable for T {}
}

//! The traits of a setting that serde reads: its fields, each of which may be there or not.

use serde_core::de::MapAccess;

/// A setting that can be read.
pub trait Readable: Sized {
    /// Its fields.
    type Fields: Fields;

    /// True if rules of this setting have weights of requests, too.
    const HAS_WEIGHTS: bool;

    /// Returns the setting of these fields, or else those of `default`. Returns an error with the
    /// name of a field that is required and in neither.
    fn of_fields(fields: Self::Fields, default: Option<Self>) -> Result<Self, &'static str>;
}

/// The fields of a setting as read: each may come once, in any order, or be left out.
pub trait Fields: Default {
    /// The object that is expected.
    const WHAT: &'static str;

    /// The names of the fields.
    const NAMES: &'static [&'static str];

    /// The names of the fields of a rule: `match`, and the same.
    const NAMES_OF_RULE: &'static [&'static str];

    /// Reads the value of a field with one of the names.
    fn read<'de, A: MapAccess<'de>>(
        &mut self,
        name: &'static str,
        map: &mut A,
    ) -> Result<(), A::Error>;
}

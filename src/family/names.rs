//! The names of a family's labels.

use std::collections::HashSet;
use std::sync::Arc;

use crate::error::LabelNamesError;
use crate::family::Family;
use crate::family::labels::Labels;
use crate::family::metric::Metric;
use crate::family::texts::Texts;

/// The name that exporters show for the one label of the overflow series.
pub(super) const OVERFLOW: &str = "overflow";

/// Names of labels that are known only at run time, for a family of
/// [`RuntimeLabels`](crate::labels::RuntimeLabels). A clone shares the names.
#[derive(Clone)]
pub struct LabelNames(Arc<Texts>);

impl LabelNames {
    /// The maximum number of names.
    pub(super) const MAX_NAMES: usize = 32;

    /// The maximum number of bytes of all names together.
    const MAX_BYTES: usize = 1_024;

    /// Checks and copies the names.
    pub(super) fn new(
        names: impl IntoIterator<Item: AsRef<str>>,
    ) -> Result<LabelNames, LabelNamesError> {
        let names: Vec<_> = names.into_iter().collect();
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        check(&names)?;
        Ok(LabelNames(Arc::new(Texts::new(&names))))
    }

    /// Returns the names, in the order in which they were given.
    pub(crate) fn as_slice(&self) -> &[&str] {
        self.0.as_slice()
    }
}

#[inline]
fn check(names: &[&str]) -> Result<(), LabelNamesError> {
    let (count, most) = (names.len(), LabelNames::MAX_NAMES);
    if count > most {
        return Err(LabelNamesError::TooMany { names: count, most });
    }
    let bytes = names.iter().map(|name| name.len()).fold(0, usize::saturating_add);
    if bytes > LabelNames::MAX_BYTES {
        return Err(LabelNamesError::TooLong { bytes, most: LabelNames::MAX_BYTES });
    }
    let mut seen = HashSet::new();
    for (position, &name) in names.iter().enumerate() {
        if name.is_empty() {
            return Err(LabelNamesError::Empty { position });
        }
        let is_escaped =
            |character: &char| character.is_control() || matches!(character, '"' | '\\');
        if let Some(character) = name.chars().find(is_escaped) {
            return Err(LabelNamesError::Character { name: name.to_owned(), character });
        }
        if name == OVERFLOW {
            return Err(LabelNamesError::Reserved { name: name.to_owned() });
        }
        if !seen.insert(name) {
            return Err(LabelNamesError::Twice { name: name.to_owned() });
        }
    }
    Ok(())
}

impl<L: Labels, M: Metric, F> Family<L, M, F> {
    /// Returns the labels' names, in the order of [`Handle::pairs`](crate::family::Handle::pairs).
    ///
    /// They do not change as long as the family lives. For exporters, which have to know them
    /// before there is a series.
    ///
    /// ```
    /// # use windrow::{Counter, Family, labels};
    /// labels! { pub struct Request { route: str, status: u16 } }
    ///
    /// assert_eq!(Family::<Request, Counter>::new().names(), ["route", "status"]);
    /// ```
    pub fn names(&self) -> &[&str] {
        L::names(&self.names)
    }
}

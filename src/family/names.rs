//! The names of a family's labels.

use std::collections::HashSet;
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use crate::error::LabelNamesError;
use crate::family::Family;
use crate::family::labels::Labels;
use crate::family::metric::Metric;
use crate::family::texts::Texts;

/// The name that exporters show for the one label of the overflow series.
pub(super) const OVERFLOW: &str = "overflow";

/// Names of labels that are known only at run time, for a family of
/// [`RuntimeLabels`](crate::labels::RuntimeLabels).
///
/// A clone shares the names, and costs an addition to a reference count.
///
/// ```
/// use windrow::{Counter, Family, labels::LabelNames};
///
/// let from_a_file = String::from("tenant,region");
/// let names = LabelNames::new(from_a_file.split(','))?;
/// assert_eq!(Family::<_, Counter>::with_names(names).names(), ["tenant", "region"]);
/// # Ok::<(), windrow::labels::LabelNamesError>(())
/// ```
#[derive(Clone)]
pub struct LabelNames(Arc<Texts>);

impl LabelNames {
    /// The maximum number of names.
    pub const MAX_NAMES: usize = 32;

    /// The maximum number of bytes of all names together.
    const MAX_BYTES: usize = 1_024;

    /// Checks and copies the names: at most [`MAX_NAMES`](Self::MAX_NAMES), of 1024 bytes together;
    /// none of them empty, none `overflow`, none twice,
    /// and none with a control character, a `"` or a `\`. The list may be empty: then the family
    /// has one series.
    ///
    /// An exporter may refuse a name when the family is registered: Prometheus allows only letters,
    /// digits and underscores.
    ///
    /// # Errors
    ///
    /// [`LabelNamesError`], which names the rule.
    ///
    /// ```
    /// use windrow::labels::{LabelNames, LabelNamesError};
    ///
    /// assert!(LabelNames::new(["http.route", "größe"]).is_ok());
    /// assert_eq!(LabelNames::new(["a", ""]), Err(LabelNamesError::Empty { position: 1 }));
    /// ```
    pub fn new(names: impl IntoIterator<Item: AsRef<str>>) -> Result<LabelNames, LabelNamesError> {
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

impl PartialEq for LabelNames {
    #[inline]
    fn eq(&self, other: &LabelNames) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for LabelNames {}

/// Shows the names.
impl Debug for LabelNames {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
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

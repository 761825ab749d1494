//! Sources by name.

use std::error::Error;
use std::fmt::{self, Debug, Display, Formatter};
use std::slice;
use std::sync::Arc;

use super::source::Source;

/// A registry: a list of the sources that a program exports, each with a name, a help text and a
/// unit.
///
/// Give it to each exporter that the program has. See the [module](super) for an exporter of your
/// own.
///
/// ```
/// use windrow::export::Catalog;
/// use windrow::{Counter, Histogram};
///
/// static HITS: Counter = Counter::new();
/// static RT: Histogram = Histogram::new();
///
/// let mut catalog = Catalog::new();
/// catalog.add("hits", "Hits since the start", &HITS)?;
/// catalog.add("rt", "Response times", &RT)?.unit = "ns".into();
/// let names = catalog.iter().map(|metric| metric.name.as_str());
/// assert!(names.eq(["hits", "rt"]));
/// # Ok::<(), windrow::export::CatalogError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    listed: Vec<Listed>,
}

impl Catalog {
    /// Makes an empty catalog.
    pub const fn new() -> Catalog {
        Catalog { listed: Vec::new() }
    }

    /// Adds a source under a name.
    ///
    /// The catalog keeps `source` as it is: a `&'static` or an `Arc` for as long as the catalog
    /// lives, a `Weak` until the last `Arc` is dropped.
    ///
    /// # Errors
    ///
    /// [`CatalogError`], if no exporter could show the source. The catalog is unchanged then.
    /// Exporters have further rules of their own, for example for the characters of a name.
    pub fn add(
        &mut self,
        name: &str,
        help: &str,
        source: impl Source + 'static,
    ) -> Result<&mut Listed, CatalogError> {
        if name.is_empty() {
            return Err(CatalogError::NoName);
        }
        if self.iter().any(|listed| listed.name == name) {
            return Err(CatalogError::NameTaken { name: name.to_owned() });
        }
        if let Some(label) = source.outline().reserved_label() {
            let (name, label) = (name.to_owned(), label.to_owned());
            return Err(CatalogError::ReservedLabel { name, label });
        }
        let (name, help) = (name.to_owned(), help.to_owned());
        let (unit, source) = (String::new(), Arc::new(source));
        let end = self.listed.len();
        self.listed.push(Listed { name, help, unit, source });
        Ok(&mut self.listed[end])
    }

    /// Returns the sources, in the order in which they were added.
    pub fn iter(&self) -> slice::Iter<'_, Listed> {
        self.listed.iter()
    }
}

impl<'c> IntoIterator for &'c Catalog {
    type Item = &'c Listed;
    type IntoIter = slice::Iter<'c, Listed>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// A source in a [`Catalog`].
#[derive(Clone)]
#[non_exhaustive]
pub struct Listed {
    /// The name.
    pub name: String,
    /// The help text. May be empty.
    pub help: String,
    /// The unit of its values: `ns`, `By`, `s`, as the
    /// [Unified Code for Units of Measure](https://ucum.org/ucum) spells it. Empty unless the
    /// program sets it.
    #[doc(alias = "set_unit")]
    pub unit: String,
    /// The source.
    pub source: Arc<dyn Source>,
}

impl Debug for Listed {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listed").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The error of [`Catalog::add`]: a source that cannot be added.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CatalogError {
    /// The name is empty.
    NoName,
    /// Another source has the name.
    NameTaken {
        /// The name.
        name: String,
    },
    /// A label has a name that exporters need for another purpose.
    ReservedLabel {
        /// The name of the source.
        name: String,
        /// The label: `overflow` beside an overflow series, `event` or `q` of a window.
        label: String,
    },
}

impl Display for CatalogError {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            CatalogError::NoName => write!(f, "a source needs a name"),
            CatalogError::NameTaken { name } => {
                write!(f, "the name {name:?} is taken: each source needs a name of its own")
            }
            CatalogError::ReservedLabel { name, label } => write!(
                f,
                "the label {label:?} of {name:?} is reserved: exporters add a label of that name"
            ),
        }
    }
}

impl Error for CatalogError {}

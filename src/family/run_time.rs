//! Labels whose names are known only at run time.
//!
//! Names belong to the family, and not to each series: a key is a list of values, in the order of
//! the names. So a lookup hashes only values, and all series of a family have the same labels, as
//! Prometheus demands.

use std::hash::Hasher;

use crate::error::LabelNamesError;
use crate::family::Family;
use crate::family::field::Field;
use crate::family::hash::Secrets;
use crate::family::labels::{LabelValue, Labels};
use crate::family::metric::Metric;
use crate::family::names::LabelNames;
use crate::family::passes::Mixing;
use crate::family::read::Read;
use crate::family::text::{Text, Words};
use crate::family::values::Values;

/// A set of labels whose names are known only at run time: from a configuration, a script, a
/// plugin. It is the set of a [`Family`](crate::Family) made by
/// [`with_names`](crate::Family::with_names).
///
/// A key is a slice of texts, the values in the order of the names:
///
/// ```
/// use std::sync::LazyLock;
/// use windrow::{Counter, Family, labels::RuntimeLabels};
///
/// static REQUESTS: LazyLock<Family<RuntimeLabels, Counter>> = LazyLock::new(|| {
///     let from_a_file = "tenant,region";
///     let requests = Family::with_names(from_a_file.split(',')).expect("names that differ");
///     requests.with_max_series(10_000)
/// });
///
/// REQUESTS.with(&["acme", "eu"]).add(3);
/// let series = REQUESTS.iter().next().unwrap();
/// let shown: Vec<_> = series.pairs().map(|(name, value)| format!("{name}={value}")).collect();
/// assert_eq!(shown, ["tenant=acme", "region=eu"]);
/// assert_eq!(series.labels(), Some(&["acme", "eu"][..]));
/// ```
///
/// A key with more or fewer values than names is refused, as one with too long values is: it counts
/// in the overflow series and in [`refused`](crate::Family::refused). No count is lost, and no call
/// panics.
///
/// ```
/// use windrow::{Counter, Family};
///
/// let requests = Family::<_, Counter>::with_names(["tenant", "region"])?;
/// requests.with(&["acme"]).increment();
/// assert_eq!((requests.len(), requests.refused(), requests.lifetime()), (0, 1, 1));
/// assert_eq!(requests.handle(&["acme"]).labels(), None);
/// # Ok::<(), windrow::labels::LabelNamesError>(())
/// ```
///
/// If names are known at compile time, use [`labels!`](crate::labels!): its sets cannot lack a
/// value, and may have numbers and enums. Convert a value that is no text by
/// [`ShortText`](crate::labels::ShortText), without an allocation:
///
/// ```
/// use windrow::{Counter, Family, labels::ShortText};
///
/// let requests = Family::<_, Counter>::with_names(["status"])?;
/// requests.with(&[&ShortText::of(404)]).increment();
/// assert_eq!(requests.with(&["404"]).sum(), 1);
/// # Ok::<(), windrow::labels::LabelNamesError>(())
/// ```
///
/// # Cost
///
/// A lookup hashes and compares the values, one after the other, and allocates nothing: some 200
/// instructions for three texts; a declared set of three takes 150. The first use of a key
/// allocates its series and a copy of the values. A [`Handle`](crate::family::Handle) costs nothing
/// beside the add, as in any family.
#[derive(Debug)]
#[doc(alias = "LabelNames")]
pub enum RuntimeLabels {}

impl RuntimeLabels {
    /// The maximum number of names.
    pub const MAX_NAMES: usize = LabelNames::MAX_NAMES;
}

impl Labels for RuntimeLabels {
    type Names = LabelNames;

    const COMBINATIONS: Option<usize> = None;

    type Borrowed<'a> = &'a [&'a str];

    type Stored = Values;

    fn names(names: &LabelNames) -> &[&str] {
        names.as_slice()
    }

    fn fits(names: &LabelNames, labels: &[&str]) -> bool {
        names.as_slice().len() == labels.len()
    }

    #[inline]
    fn store(labels: &[&str]) -> Values {
        Values::new(labels)
    }

    #[inline]
    fn borrow(stored: &Values) -> &[&str] {
        stored.as_slice()
    }

    #[inline]
    fn matches(stored: &Values, labels: &[&str]) -> bool {
        let mut both = stored.texts().iter().zip(labels);
        stored.texts().len() == labels.len()
            && both.all(|(stored, label)| <str as Field>::is(stored, label))
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    fn hash(labels: &[&str], secrets: Secrets, read: &mut Read) -> u64 {
        if labels.len() > 4 {
            return hash_many(labels, secrets, read);
        }
        let mut fields = Mixing::new(secrets, read);
        // Each usual number of texts has code of its own, in which no step counts them.
        match *labels {
            [one] => fields.next::<str>(one),
            [one, two] => {
                fields.next::<str>(one);
                fields.next::<str>(two);
            }
            [one, two, three] => {
                fields.next::<str>(one);
                fields.next::<str>(two);
                fields.next::<str>(three);
            }
            [one, two, three, four] => {
                fields.next::<str>(one);
                fields.next::<str>(two);
                fields.next::<str>(three);
                fields.next::<str>(four);
            }
            _ => {} // none
        }
        fields.hash()
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    fn matches_read(stored: &Values, labels: &[&str], read: &Read) -> bool {
        let texts = stored.texts();
        if texts.len() != labels.len() {
            return false;
        }
        if !read.are_short(labels.len()) {
            return Self::matches(stored, labels);
        }
        // As in `hash`.
        let is = |stored: &Text, words: &Words| stored.differs(*words) == 0;
        match (texts, read.all()) {
            ([a], [one, ..]) => is(a, one),
            ([a, b], [one, two, ..]) => is(a, one) && is(b, two),
            ([a, b, c], [one, two, three, ..]) => is(a, one) && is(b, two) && is(c, three),
            ([a, b, c, d], [one, two, three, four, ..]) => {
                is(a, one) && is(b, two) && is(c, three) && is(d, four)
            }
            (texts, noted) => texts.iter().zip(noted).all(|(stored, words)| is(stored, words)),
        }
    }

    fn value(labels: Self::Borrowed<'_>, position: usize) -> LabelValue<'_> {
        LabelValue::Text(labels[position])
    }

    fn index(_: &[&str]) -> usize {
        0
    }
}

/// Returns the hash of more texts than are usual.
#[inline(never)]
fn hash_many(labels: &[&str], secrets: Secrets, read: &mut Read) -> u64 {
    let mut mixer = secrets.begin();
    read.note_all(labels, |text| mixer.text(text));
    mixer.finish()
}

impl<M: Metric + Default> Family<RuntimeLabels, M> {
    /// Returns a family without series, whose labels have these names. The metric of each series
    /// will begin as `M::default()`.
    ///
    /// There are at most [`MAX_NAMES`](RuntimeLabels::MAX_NAMES) names, of 1024 bytes together;
    /// none of them is empty, none `overflow`, none twice, and none has a control character, a `"`
    /// or a `\`. The list may be empty: then the family has one series.
    ///
    /// An exporter may refuse a name when the family is registered: Prometheus allows only letters,
    /// digits and underscores.
    ///
    /// # Errors
    ///
    /// [`LabelNamesError`], which names the rule.
    ///
    /// ```
    /// use windrow::{Counter, Family, labels::LabelNamesError};
    ///
    /// let requests = Family::<_, Counter>::with_names(["http.route", "größe"])?;
    /// assert_eq!(requests.names(), ["http.route", "größe"]);
    /// let error = Family::<_, Counter>::with_names(["a", ""]).unwrap_err();
    /// assert_eq!(error, LabelNamesError::Empty { position: 1 });
    /// # Ok::<(), windrow::labels::LabelNamesError>(())
    /// ```
    pub fn with_names(
        names: impl IntoIterator<Item: AsRef<str>>,
    ) -> Result<Family<RuntimeLabels, M>, LabelNamesError> {
        Family::with_names_and_constructor(names, M::default)
    }
}

impl<M: Metric, F> Family<RuntimeLabels, M, F> {
    /// Returns a family without series, whose labels have these names, and whose metrics `make`
    /// makes: see [`with_constructor`](Family::with_constructor).
    ///
    /// # Errors
    ///
    /// Those of [`with_names`](Family::with_names).
    ///
    /// ```
    /// use windrow::{Family, Histogram, histogram::Scale};
    ///
    /// let rows = Family::with_names_and_constructor(["table"], || {
    ///     Histogram::with_scale(Scale::fixed::<2, 1, 4_096>())
    /// })?;
    /// rows.with(&["users"]).record(17);
    /// assert_eq!(rows.lifetime()[0].count(), 1);
    /// # Ok::<(), windrow::labels::LabelNamesError>(())
    /// ```
    ///
    /// For a static or a field, name the type and call the function by it: then the closure is
    /// converted to `fn() -> M`.
    ///
    /// ```
    /// use std::{sync::OnceLock, time::Duration};
    /// use windrow::labels::RuntimeLabels;
    /// use windrow::{Family, SlidingWindow, events};
    ///
    /// events! { enum Http { Pass: Count } }
    ///
    /// type Windows = Family<RuntimeLabels, SlidingWindow<Http>>;
    /// static WINDOWS: OnceLock<Windows> = OnceLock::new();
    ///
    /// let names = "tenant,region".split(','); // from a file
    /// let windows = Windows::with_names_and_constructor(names, || {
    ///     SlidingWindow::of(Duration::from_secs(60), 60)
    /// })?;
    /// let windows = WINDOWS.get_or_init(|| windows);
    /// windows.with(&["acme", "eu"]).add(Http::Pass, 1);
    /// assert_eq!(windows.len(), 1);
    /// # Ok::<(), windrow::labels::LabelNamesError>(())
    /// ```
    pub fn with_names_and_constructor(
        names: impl IntoIterator<Item: AsRef<str>>,
        make: F,
    ) -> Result<Family<RuntimeLabels, M, F>, LabelNamesError> {
        Ok(Family::made_with(LabelNames::new(names)?, make))
    }
}

//! Sets of labels: the keys of a family's series.

use std::fmt::{self, Debug, Display, Formatter};
use std::hash::{Hash, Hasher};

use crate::family::hash::Secrets;
use crate::family::read::Read;
use crate::family::short_text::ShortText;

/// A set of labels: the key of a [`Family`](crate::Family). [`labels!`](crate::labels!) makes one.
///
/// ```
/// use windrow::{labels, labels::{LabelValue, Labels}};
///
/// labels! {
///     pub enum Method { Get = "GET", Post = "POST" }
///     pub struct Request { method: Method, route: str, status: u16 }
/// }
///
/// assert_eq!(Request::names(&()), ["method", "route", "status"]);
/// let request = Request { method: Method::Get, route: "/", status: 200 };
/// assert_eq!(Request::value(request, 0), LabelValue::Text("GET"));
/// assert_eq!(Request::value(request, 2), LabelValue::Unsigned(200));
/// ```
///
/// The other implementation is [`RuntimeLabels`](crate::labels::RuntimeLabels).
///
/// A family is one of `Request<'static>` above, for which a static may say `Request`. Calls take
/// the set with texts borrowed for the time of the call. (The set implements the trait with any
/// borrowed texts, since a future that holds a handle across an `await` is `Send` only then.)
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no set of labels",
    label = "not a set of labels",
    note = "declare a set, also for a single label: \
            `windrow::labels! {{ pub struct Route {{ route: str }} }}`"
)]
pub trait Labels: Sized {
    /// The labels' names, if the family is given them at run time; `()` if the type declares them.
    type Names: Clone + Send + Sync + 'static;

    /// The number of possible sets, if each label is an enum and there are at most 65 536 sets:
    /// then a family finds a series by its index. Otherwise `None`, and it finds a series by its
    /// hash.
    const COMBINATIONS: Option<usize>;

    /// The set, with its texts borrowed.
    type Borrowed<'a>: Copy + Eq + Hash + Debug;

    /// Returns the labels' names, in the order of the fields.
    fn names(names: &Self::Names) -> &[&str];

    /// Returns the value of the label at a position in [`names`](Self::names).
    ///
    /// # Panics
    /// Panics if there is no such label.
    fn value(labels: Self::Borrowed<'_>, position: usize) -> LabelValue<'_>;

    // What follows, only `labels!` and `RuntimeLabels` implement, and only a family calls.

    /// The set, with its texts owned, as a family stores it.
    #[doc(hidden)]
    type Stored: Send + Sync + 'static;

    /// Returns whether the set has exactly one value for each name. Always true if the type
    /// declares the names.
    #[doc(hidden)]
    fn fits(names: &Self::Names, labels: Self::Borrowed<'_>) -> bool {
        let _ = (names, labels);
        true
    }

    /// Copies the texts, so that [`borrow`](Self::borrow) returns the set itself.
    #[doc(hidden)]
    fn store(labels: Self::Borrowed<'_>) -> Self::Stored;

    /// Borrows the texts.
    #[doc(hidden)]
    fn borrow(stored: &Self::Stored) -> Self::Borrowed<'_>;

    /// Returns whether two sets are equal: exactly if their [values](Self::value) are.
    #[doc(hidden)]
    fn matches(stored: &Self::Stored, labels: Self::Borrowed<'_>) -> bool;

    /// Returns the set's hash, and notes the words of its texts.
    #[doc(hidden)]
    #[inline]
    fn hash(labels: Self::Borrowed<'_>, secrets: Secrets, read: &mut Read) -> u64 {
        let _ = read;
        let mut mixer = secrets.begin();
        labels.hash(&mut mixer);
        mixer.finish()
    }

    /// Returns [`matches`](Self::matches), given the words that [`hash`](Self::hash) has noted.
    #[doc(hidden)]
    #[inline]
    fn matches_read(stored: &Self::Stored, labels: Self::Borrowed<'_>, read: &Read) -> bool {
        let _ = read;
        Self::matches(stored, labels)
    }

    /// Returns the set's number, below [`COMBINATIONS`](Self::COMBINATIONS); without meaning if
    /// that is `None`.
    #[doc(hidden)]
    fn index(labels: Self::Borrowed<'_>) -> usize;
}

/// A type of labels: an integer, a float, `bool`, `char`, an IP or socket address, a
/// [`ShortText`], `&'static str`, an enum that [`labels!`](crate::labels!) makes, or an `Option` of
/// one of these.
///
/// For any other type that implements `Display`, there is [`ShortText`].
///
/// A borrowed text is a label too, but does not implement this trait: `str` in the declaration is a
/// `&str` in the set.
///
/// ```
/// use windrow::{labels, labels::{Label, LabelValue}};
///
/// labels! { enum Method { Get = "GET", Post } }
///
/// assert_eq!(Method::Get.value(), LabelValue::Text("GET"));
/// assert_eq!(Method::Post.value(), LabelValue::Text("Post"));
/// assert_eq!(404_u16.value(), LabelValue::Unsigned(404));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a label",
    label = "not a label",
    note = "a label is a text (`str`, `String`, `&'static str`, `Option<str>`, without a path), an \
            integer, a float, a `bool`, a `char`, an IP or socket address, an `Option` of one of \
            these, or an enum that `labels!` declares",
    note = "for any other type that implements `Display`, declare the label as \
            `windrow::labels::ShortText`, and look up with `ShortText::of(&value)`"
)]
pub trait Label: Copy + Debug + Send + Sync + 'static {
    /// Returns the value that exporters show.
    fn value(self) -> LabelValue<'static>;

    // What follows, only the library and `labels!` implement, and only a family calls.

    /// The number of values of an enum or a `bool`; `None` for types that are not numbered.
    #[doc(hidden)]
    const VALUES: Option<usize>;

    /// A key by which labels are compared: the type itself, if values with different texts, and
    /// only these, are unequal.
    #[doc(hidden)]
    type Key: Copy + Eq + Hash;

    /// Returns the value's key: two values are one label if their keys are equal, and then
    /// exporters show one [value](Self::value).
    ///
    /// ```
    /// use windrow::labels::Label;
    ///
    /// assert_eq!(f64::NAN.key(), (-f64::NAN).key());
    /// assert_eq!(0.0_f64.key(), (-0.0_f64).key());
    /// assert_eq!(Some("").key(), None::<&str>.key());
    /// ```
    #[doc(hidden)]
    fn key(self) -> Self::Key;

    /// Returns the value's number, below [`VALUES`](Self::VALUES); without meaning if that is
    /// `None`.
    #[doc(hidden)]
    fn index(self) -> usize;

    /// Returns whether exporters show an empty text, as for `None`.
    #[doc(hidden)]
    fn is_empty(self) -> bool {
        matches!(self.value(), LabelValue::Text(""))
    }
}

/// The value of a label as exporters show it.
///
/// ```
/// use windrow::labels::LabelValue;
///
/// assert_eq!(LabelValue::Text("/").to_string(), "/");
/// assert_eq!(LabelValue::Signed(-1).to_string(), "-1");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LabelValue<'a> {
    /// A text, or an enum's value by its name.
    Text(&'a str),
    /// An integer without a sign.
    Unsigned(u64),
    /// An integer with a sign.
    Signed(i64),
    /// The text of an address, a float, a `char` or a [`ShortText`]: at most 63 bytes.
    Short(ShortText),
}

impl Display for LabelValue<'_> {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            LabelValue::Text(text) => Display::fmt(text, f),
            LabelValue::Unsigned(number) => Display::fmt(number, f),
            LabelValue::Signed(number) => Display::fmt(number, f),
            LabelValue::Short(text) => Display::fmt(text, f),
        }
    }
}

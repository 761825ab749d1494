//! Sets of labels: what tells the series of a family apart.

use std::fmt::{self, Debug, Display, Formatter};
use std::hash::Hash;

/// A set of labels: the key of a [`Family`](crate::Family). [`labels!`](crate::labels!) makes one.
///
/// ```
/// use windrow::{LabelValue, Labels, labels};
///
/// labels! {
///     pub enum Method { Get = "GET", Post = "POST" }
///     pub struct Request { method: Method, route: str, status: u16 }
/// }
///
/// assert_eq!(Request::NAMES, ["method", "route", "status"]);
/// let request = Request { method: Method::Get, route: "/", status: 200 };
/// assert_eq!(Request::value(request, 0), LabelValue::Text("GET"));
/// assert_eq!(Request::value(request, 2), LabelValue::Unsigned(200));
/// ```
///
/// It is a trait of the type without borrowed texts, `Request<'static>` above. What a family is
/// asked for is the same set with texts that are borrowed for as long as the call takes.
pub trait Labels: Sized + 'static {
    /// The labels' names, in the order of the fields.
    const NAMES: &'static [&'static str];

    /// How many sets there can be, if each label is an enum and there are 65 536 of them at most:
    /// then a family finds a series by its index. Else `None`: it finds a series by its hash.
    const COMBINATIONS: Option<usize>;

    /// The set, with its texts borrowed.
    type Borrowed<'a>: Copy + Eq + Hash + Debug;

    /// The set, with its texts owned: what a family keeps.
    type Stored: Send + Sync + 'static;

    /// Copies the texts.
    fn store(labels: Self::Borrowed<'_>) -> Self::Stored;

    /// Borrows the texts.
    fn borrow(stored: &Self::Stored) -> Self::Borrowed<'_>;

    /// Whether two sets are equal.
    fn matches(stored: &Self::Stored, labels: Self::Borrowed<'_>) -> bool;

    /// The value of the label at a position in [`NAMES`](Self::NAMES).
    ///
    /// # Panics
    ///
    /// If there is none.
    fn value(labels: Self::Borrowed<'_>, position: usize) -> LabelValue<'_>;

    /// The set's number, below [`COMBINATIONS`](Self::COMBINATIONS); of no meaning where that is
    /// `None`.
    fn index(labels: Self::Borrowed<'_>) -> usize;
}

/// The value of a label: an integer, a `bool`, or an enum that [`labels!`](crate::labels!) makes.
///
/// A text is a label too, but has no such trait: `str` in the declaration is a `&str` in the set.
///
/// ```
/// use windrow::{Label, LabelValue, labels};
///
/// labels! { enum Method { Get = "GET", Post } }
///
/// assert_eq!(Method::VALUES, Some(2));
/// assert_eq!(Method::Get.value(), LabelValue::Text("GET"));
/// assert_eq!(Method::Post.value(), LabelValue::Text("Post"));
/// assert_eq!(404_u16.value(), LabelValue::Unsigned(404));
/// ```
pub trait Label: Copy + Eq + Hash + Debug + Send + Sync + 'static {
    /// How many values there are, if they are few enough to be numbered: of an enum, or a `bool`.
    const VALUES: Option<usize>;

    /// The value's number, below [`VALUES`](Self::VALUES); of no meaning where that is `None`.
    fn index(self) -> usize;

    /// What exporters show: of each value something else, since they would show two series under
    /// one set of labels.
    fn value(self) -> LabelValue<'static>;
}

/// What exporters show of a label.
///
/// ```
/// use windrow::LabelValue;
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
}

impl Display for LabelValue<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            LabelValue::Text(text) => Display::fmt(text, f),
            LabelValue::Unsigned(number) => Display::fmt(number, f),
            LabelValue::Signed(number) => Display::fmt(number, f),
        }
    }
}

impl Label for bool {
    const VALUES: Option<usize> = Some(2);

    #[inline]
    fn index(self) -> usize {
        self.into()
    }

    fn value(self) -> LabelValue<'static> {
        LabelValue::Text(if self { "true" } else { "false" })
    }
}

macro_rules! integers {
    ($variant:ident($wide:ty): $($integer:ty),+) => {
        $(
            impl Label for $integer {
                const VALUES: Option<usize> = None;

                #[inline]
                fn index(self) -> usize {
                    0
                }

                fn value(self) -> LabelValue<'static> {
                    LabelValue::$variant(self as $wide)
                }
            }
        )+
    };
}

integers!(Unsigned(u64): u8, u16, u32, u64, usize);
integers!(Signed(i64): i8, i16, i32, i64, isize);

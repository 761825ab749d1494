//! Fields of sets of labels: the type that a lookup borrows, and the type that a family stores.

use std::fmt::Debug;
use std::hash::Hash;

use crate::family::labels::{Label, LabelValue};

/// The declared type of a field: `str`, an [`OptionalText`], or a [`Label`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a label",
    label = "not a label",
    note = "a label is a text (`str`, `String`, `&'static str`, `Option<str>`, without a path), an \
            integer, a float, a `bool`, a `char`, an IP or socket address, an `Option` of one of \
            these, or an enum that `labels!` declares",
    note = "for any other type that implements `Display`, declare the label as \
            `windrow::labels::ShortText`, and look up with `ShortText::of(&value)`"
)]
pub trait Field {
    /// The number of values: see [`Label::VALUES`].
    const VALUES: Option<usize>;
    /// The type of the field in the set.
    type Borrowed<'a>: Copy + Debug;
    /// The key's type: see [`Label::Key`].
    type Key<'a>: Copy + Eq + Hash;
    /// The type that a family stores.
    type Stored: Send + Sync + 'static;

    /// Returns the value's key: see [`Label::key`].
    fn key(value: Self::Borrowed<'_>) -> Self::Key<'_>;
    /// Copies a text.
    fn store(value: Self::Borrowed<'_>) -> Self::Stored;
    /// Borrows a text.
    fn borrow(stored: &Self::Stored) -> Self::Borrowed<'_>;
    /// Returns whether a stored and a borrowed value are equal.
    fn is(stored: &Self::Stored, value: Self::Borrowed<'_>) -> bool;
    /// Returns the value for exporters: see [`Label::value`].
    fn value(value: Self::Borrowed<'_>) -> LabelValue<'_>;
    /// Returns the value's number: see [`Label::index`].
    fn index(value: Self::Borrowed<'_>) -> usize;
}

impl Field for str {
    const VALUES: Option<usize> = None;
    type Borrowed<'a> = &'a str;
    type Key<'a> = &'a str;
    type Stored = Box<str>;

    #[inline]
    fn key(value: Self::Borrowed<'_>) -> Self::Key<'_> {
        value
    }

    fn store(value: &str) -> Box<str> {
        value.into()
    }

    #[inline]
    fn borrow(stored: &Box<str>) -> &str {
        stored
    }

    #[inline]
    fn is(stored: &Box<str>, value: &str) -> bool {
        are_equal(stored.as_bytes(), value.as_bytes())
    }

    fn value(value: Self::Borrowed<'_>) -> LabelValue<'_> {
        LabelValue::Text(value)
    }

    fn index(_: &str) -> usize {
        0
    }
}

/// A text that may be absent; an absent text equals an empty one.
#[derive(Debug)]
pub struct OptionalText;

impl Field for OptionalText {
    const VALUES: Option<usize> = None;
    type Borrowed<'a> = Option<&'a str>;
    type Key<'a> = &'a str;
    type Stored = Box<str>;

    #[inline]
    fn key(value: Self::Borrowed<'_>) -> Self::Key<'_> {
        value.unwrap_or_default()
    }

    fn store(value: Option<&str>) -> Box<str> {
        value.unwrap_or_default().into()
    }

    #[inline]
    fn borrow(stored: &Box<str>) -> Option<&str> {
        Some(&**stored).filter(|text| !text.is_empty())
    }

    #[inline]
    fn is(stored: &Box<str>, value: Option<&str>) -> bool {
        <str as Field>::is(stored, value.unwrap_or_default())
    }

    fn value(value: Self::Borrowed<'_>) -> LabelValue<'_> {
        LabelValue::Text(value.unwrap_or_default())
    }

    fn index(_: Option<&str>) -> usize {
        0
    }
}

impl<T: Label> Field for T {
    const VALUES: Option<usize> = <T as Label>::VALUES;
    type Borrowed<'a> = T;
    type Key<'a> = T::Key;
    type Stored = T;

    #[inline]
    fn key(value: Self::Borrowed<'_>) -> Self::Key<'_> {
        Label::key(value)
    }

    #[inline]
    fn store(value: T) -> T {
        value
    }

    #[inline]
    fn borrow(stored: &T) -> T {
        *stored
    }

    #[inline]
    fn is(stored: &T, value: T) -> bool {
        Label::key(*stored) == Label::key(value)
    }

    fn value(value: Self::Borrowed<'_>) -> LabelValue<'_> {
        value.value()
    }

    #[inline]
    fn index(value: T) -> usize {
        Label::index(value)
    }
}

/// Returns whether two texts are equal. Most labels are short: for these it avoids a call of
/// `memcmp`, which would double the cost of the comparison.
#[inline]
pub(super) fn are_equal(one: &[u8], other: &[u8]) -> bool {
    /// Returns whether the first `N` and the last `N` bytes are equal. They overlap in a text of
    /// fewer than `2 * N` bytes.
    #[inline]
    fn ends<const N: usize>(one: &[u8], other: &[u8]) -> bool {
        one.first_chunk::<N>() == other.first_chunk() && one.last_chunk::<N>() == other.last_chunk()
    }
    if one.len() != other.len() {
        return false;
    }
    match *one {
        [] => true,
        [_] | [_, _] | [_, _, _] => {
            ends::<1>(one, other) && one[one.len() / 2] == other[one.len() / 2]
        }
        _ if one.len() < 8 => ends::<4>(one, other),
        _ if one.len() <= 16 => ends::<8>(one, other),
        _ if one.len() <= 32 => ends::<16>(one, other),
        _ => one == other,
    }
}

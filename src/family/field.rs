//! Fields of sets of labels: the type that a lookup borrows, and the type that a family stores.

use std::fmt::Debug;
use std::hash::Hash;

use crate::family::hash::Mixer;
use crate::family::labels::{Label, LabelValue};
use crate::family::text::{Text, Words};

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
    /// Mixes the value into a hash, and returns the words of a text.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    fn mix(value: Self::Borrowed<'_>, mixer: &mut Mixer) -> Words {
        Self::key(value).hash(mixer);
        Words::default()
    }
    /// Returns [`is`](Self::is), given the words that [`mix`](Self::mix) has returned.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    fn is_mixed(stored: &Self::Stored, value: Self::Borrowed<'_>, words: Words) -> bool {
        let _ = words;
        Self::is(stored, value)
    }
    /// Returns zero if a stored and a borrowed value are equal, given the words that
    /// [`mix`](Self::mix) has returned, which are no long text's.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    fn differs(stored: &Self::Stored, value: Self::Borrowed<'_>, words: Words) -> u64 {
        let _ = words;
        u64::from(!Self::is(stored, value))
    }
    /// Returns the value for exporters: see [`Label::value`].
    fn value(value: Self::Borrowed<'_>) -> LabelValue<'_>;
    /// Returns the value's number: see [`Label::index`].
    fn index(value: Self::Borrowed<'_>) -> usize;
}

impl Field for str {
    const VALUES: Option<usize> = None;
    type Borrowed<'a> = &'a str;
    type Key<'a> = &'a str;
    type Stored = Text;

    #[inline]
    fn key(value: Self::Borrowed<'_>) -> Self::Key<'_> {
        value
    }

    fn store(value: &str) -> Text {
        Text::new(value)
    }

    #[inline]
    fn borrow(stored: &Text) -> &str {
        stored.as_str()
    }

    #[inline]
    fn is(stored: &Text, value: &str) -> bool {
        stored.is(value.as_bytes(), Words::without_hash(value))
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    fn mix(value: &str, mixer: &mut Mixer) -> Words {
        mixer.text(value)
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    fn is_mixed(stored: &Text, value: &str, words: Words) -> bool {
        stored.is(value.as_bytes(), words)
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    fn differs(stored: &Text, _value: &str, words: Words) -> u64 {
        stored.differs(words)
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
    type Stored = Text;

    #[inline]
    fn key(value: Self::Borrowed<'_>) -> Self::Key<'_> {
        value.unwrap_or_default()
    }

    fn store(value: Option<&str>) -> Text {
        Text::new(value.unwrap_or_default())
    }

    #[inline]
    fn borrow(stored: &Text) -> Option<&str> {
        Some(stored.as_str()).filter(|text| !text.is_empty())
    }

    #[inline]
    fn is(stored: &Text, value: Option<&str>) -> bool {
        <str as Field>::is(stored, value.unwrap_or_default())
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    fn mix(value: Option<&str>, mixer: &mut Mixer) -> Words {
        mixer.text(value.unwrap_or_default())
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    fn is_mixed(stored: &Text, value: Option<&str>, words: Words) -> bool {
        <str as Field>::is_mixed(stored, value.unwrap_or_default(), words)
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // the path of a family's lookup
    fn differs(stored: &Text, _value: Option<&str>, words: Words) -> u64 {
        stored.differs(words)
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

//! What `labels!` makes of its declaration.

use std::fmt::Debug;
use std::hash::Hash;

use crate::family::labels::{Label, LabelValue};

/// A family finds series by their index up to so many combinations: a word of memory each.
const MOST_COMBINATIONS: usize = 65_536;

/// The type that a field is declared with: `str`, or a [`Label`].
pub trait Field {
    /// As in [`Label::VALUES`].
    const VALUES: Option<usize>;
    /// What stands in the set.
    type Borrowed<'a>: Copy + Eq + Hash + Debug;
    /// What a family keeps.
    type Stored: Send + Sync + 'static;

    /// Copies a text.
    fn store(value: Self::Borrowed<'_>) -> Self::Stored;
    /// Borrows a text.
    fn borrow(stored: &Self::Stored) -> Self::Borrowed<'_>;
    /// Whether they are equal.
    fn is(stored: &Self::Stored, value: Self::Borrowed<'_>) -> bool;
    /// As in [`Label::value`].
    fn value(value: Self::Borrowed<'_>) -> LabelValue<'_>;
    /// As in [`Label::index`].
    fn index(value: Self::Borrowed<'_>) -> usize;
}

impl Field for str {
    const VALUES: Option<usize> = None;
    type Borrowed<'a> = &'a str;
    type Stored = Box<str>;

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

impl<T: Label> Field for T {
    const VALUES: Option<usize> = <T as Label>::VALUES;
    type Borrowed<'a> = T;
    type Stored = T;

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
        *stored == value
    }

    fn value(value: Self::Borrowed<'_>) -> LabelValue<'_> {
        value.value()
    }

    #[inline]
    fn index(value: T) -> usize {
        Label::index(value)
    }
}

/// Whether two texts are equal. Most labels are short: for these it does without a call of
/// `memcmp`, which would cost as much as all the rest of the comparison.
#[inline]
fn are_equal(one: &[u8], other: &[u8]) -> bool {
    /// Whether the first and the last bytes are, which overlap in a text that is shorter than both.
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

/// As in [`Labels::COMBINATIONS`](crate::Labels::COMBINATIONS).
pub const fn combinations(values: &[Option<usize>]) -> Option<usize> {
    let (mut product, mut index) = (1_usize, 0);
    while index < values.len() {
        let Some(values) = values[index] else { return None };
        product = product.saturating_mul(values);
        index += 1;
    }
    if product <= MOST_COMBINATIONS { Some(product) } else { None }
}

/// Whether no two of the texts are equal.
pub const fn all_differ(texts: &[&str]) -> bool {
    let mut one = 0;
    while one < texts.len() {
        let mut other = 0;
        while other < one {
            if are_same(texts[one].as_bytes(), texts[other].as_bytes()) {
                return false;
            }
            other += 1;
        }
        one += 1;
    }
    true
}

/// Whether two texts are equal, for the compiler.
const fn are_same(one: &[u8], other: &[u8]) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut index = 0;
    while index < one.len() {
        if one[index] != other[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// A field's name as a label's: `r#type` is `type`.
pub const fn name(field: &'static str) -> &'static str {
    match field.as_bytes() {
        [b'r', b'#', ..] => field.split_at(2).1,
        _ => field,
    }
}

/// Declares sets of labels, and enums for their values.
///
/// Each field of a set is a label, of the field's name. Its type is `str`, an integer, `bool`, or
/// an enum that `labels!` declares. A set with a `str` has a lifetime, and the field is a `&str`: a
/// lookup borrows the text. Fields are as visible as the set. Both are `Copy + Eq + Hash + Debug`;
/// a set implements
/// [`Labels`](crate::Labels), an enum [`Label`](crate::Label). A value of an enum is shown by its name, or by the text
/// that follows it. Two values of an enum that are shown by one text do not compile: exporters
/// would show two series under one set of labels.
///
/// ```
/// use windrow::{Counter, Family, labels};
///
/// labels! {
///     /// How a request ended.
///     pub enum Outcome { Success = "success", Failure = "failure" }
///
///     /// What requests are told apart by.
///     pub struct Request { route: str, outcome: Outcome }
/// }
///
/// static REQUESTS: Family<Request, Counter> = Family::new();
///
/// let route = String::from("/cart"); // as it comes
/// REQUESTS.with(Request { route: &route, outcome: Outcome::Success }).increment();
/// ```
///
/// Labels of a type that is neither are compile errors:
///
/// ```compile_fail
/// windrow::labels! { pub struct Request { duration: f64 } }
/// ```
///
/// So are two values of one text:
///
/// ```compile_fail
/// windrow::labels! { pub enum Outcome { Success = "ok", Failure = "ok" } }
/// ```
#[macro_export]
macro_rules! labels {
    () => {};
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident {
            $( $(#[$on_value:meta])* $value:ident $(= $text:literal)? ),+ $(,)?
        }
        $($rest:tt)*
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        $visibility enum $name {
            $(
                $(#[$on_value])*
                #[doc = ::core::concat!("Shown as `", $crate::__label_text!($value $($text)?), "`.")]
                $value
            ),+
        }

        const _: () = ::core::assert!(
            $crate::__labels::all_differ(&[$( $crate::__label_text!($value $($text)?) ),+]),
            ::core::concat!("two values of `", ::core::stringify!($name), "` are shown by one text")
        );

        impl $crate::Label for $name {
            const VALUES: ::core::option::Option<usize> =
                ::core::option::Option::Some([$( $name::$value ),+].len());

            #[inline]
            fn index(self) -> usize {
                self as usize
            }

            fn value(self) -> $crate::LabelValue<'static> {
                $crate::LabelValue::Text(match self {
                    $( $name::$value => $crate::__label_text!($value $($text)?) ),+
                })
            }
        }

        $crate::labels! { $($rest)* }
    };
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident { $($fields:tt)+ }
        $($rest:tt)*
    ) => {
        $crate::__label_set! {
            { $(#[$attribute])* } { $visibility } $name {} {} { 'set 'static 'lent } { $($fields)+ , }
        }
        $crate::labels! { $($rest)* }
    };
}

/// How a value of an enum is shown.
#[doc(hidden)]
#[macro_export]
macro_rules! __label_text {
    ($value:ident) => {
        ::core::stringify!($value)
    };
    ($value:ident $text:literal) => {
        $text
    };
}

/// Takes a set's fields one by one, because a `str` gives the set a lifetime; then declares the
/// set.
///
/// The lifetimes are handed from call to call, because a lifetime is known only by the call that
/// wrote it.
#[doc(hidden)]
#[macro_export]
macro_rules! __label_set {
    (
        $attributes:tt $visibility:tt $name:ident { $($lifetimes:tt)* } { $($done:tt)* }
        { $set:lifetime $static:lifetime $lent:lifetime }
        { $(#[$on_field:meta])* $label:ident : str , $($fields:tt)* }
    ) => {
        $crate::__label_set! {
            $attributes $visibility $name { $set $static $lent }
            { $($done)* { $(#[$on_field])* } $label (& $set str) (str); } { $set $static $lent }
            { $($fields)* }
        }
    };
    (
        $attributes:tt $visibility:tt $name:ident $lifetimes:tt { $($done:tt)* } $spare:tt
        { $(#[$on_field:meta])* $label:ident : $type:ty , $($fields:tt)* }
    ) => {
        $crate::__label_set! {
            $attributes $visibility $name $lifetimes
            { $($done)* { $(#[$on_field])* } $label ($type) ($type); } $spare
            { $($fields)* }
        }
    };
    (
        { $($attribute:tt)* } { $visibility:vis } $name:ident
        { $($set:lifetime $static:lifetime $lent:lifetime)? }
        { $( { $($on_field:tt)* } $label:ident ($($type:tt)+) ($($field:tt)+); )+ }
        { $_set:lifetime $_static:lifetime $borrowed:lifetime }
        { $(,)? }
    ) => {
        $($attribute)*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        $visibility struct $name $(<$set>)? {
            $(
                $($on_field)*
                #[doc = ::core::concat!("The label `", ::core::stringify!($label), "`.")]
                $visibility $label: $($type)+
            ),+
        }

        const _: () = {
            use $crate::__labels::Field;

            impl $crate::Labels for $name $(<$static>)? {
                const NAMES: &'static [&'static str] =
                    &[$( $crate::__labels::name(::core::stringify!($label)) ),+];

                const COMBINATIONS: ::core::option::Option<usize> =
                    $crate::__labels::combinations(&[$( <$($field)+ as Field>::VALUES ),+]);

                type Borrowed<$borrowed> = $name $(<$lent>)?;

                type Stored = ($( <$($field)+ as Field>::Stored, )+);

                fn store(labels: Self::Borrowed<'_>) -> Self::Stored {
                    ($( <$($field)+ as Field>::store(labels.$label), )+)
                }

                #[inline]
                fn borrow(stored: &Self::Stored) -> Self::Borrowed<'_> {
                    let ($( $label, )+) = stored;
                    $name { $( $label: <$($field)+ as Field>::borrow($label) ),+ }
                }

                #[inline]
                fn matches(stored: &Self::Stored, labels: Self::Borrowed<'_>) -> bool {
                    let ($( $label, )+) = stored;
                    $( <$($field)+ as Field>::is($label, labels.$label) )&&+
                }

                fn value(labels: Self::Borrowed<'_>, position: usize) -> $crate::LabelValue<'_> {
                    [$( <$($field)+ as Field>::value(labels.$label) ),+][position]
                }

                #[inline]
                fn index(labels: Self::Borrowed<'_>) -> usize {
                    let mut index = 0;
                    $(
                        index *= <$($field)+ as Field>::VALUES.unwrap_or(1);
                        index += <$($field)+ as Field>::index(labels.$label);
                    )+
                    index
                }
            }
        };
    };
}

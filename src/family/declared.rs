//! The macro `labels!`.

pub use crate::family::const_functions::{all_differ, combinations, name};
pub use crate::family::field::{Field, OptionalText};
pub use crate::family::hash::Secrets;
pub use crate::family::passes::{Comparing, Mixing};
pub use crate::family::read::Read;

/// Declares sets of labels, and enums for their values.
///
/// Each field of a set is a label with the field's name. Fields are as visible as the set, with or
/// without a `pub` of their own.
///
/// | declared as | in the set | exporters show |
/// |---|---|---|
/// | `str`, `&str`, `String`, `Box<str>`, `Arc<str>`, `Cow<'static, str>` | `&str` | the text |
/// | `Option` of one of these | `Option<&str>` | the text; `None` as an empty text |
/// | `&'static str`, [`ShortText`](crate::labels::ShortText) | the same | the text |
/// | an integer, `bool`, `char` | the same | the value |
/// | `f32`, `f64` | the same | `0.5`, `1.0`, `1e300`, `inf`, `NaN` |
/// | `IpAddr`, `SocketAddr`, `Ipv4Addr`, ... | the same | the address |
/// | an enum that `labels!` declares | the same | the name, or the text that follows it |
/// | `Option` of one of these | the same | the value; `None` as an empty text |
///
/// A lookup borrows each text, and the family keeps a copy, so the set has a lifetime, and the
/// field is a `&str`. (A `&'static str` needs no copy and no lifetime.) Declare a label of any
/// other type that implements [`Display`](std::fmt::Display) as a
/// [`ShortText`](crate::labels::ShortText).
///
/// Values with the same text are the same label: `NaN` of any sign and payload, `0.0` and `-0.0`,
/// `None` and `Some("")`, addresses of IPv6 with different flow labels. Two values of an enum with
/// the same text do not compile, because exporters would show two series under one set of labels.
///
/// Sets and enums are `Copy + Eq + Hash + Debug`; a set implements
/// [`Labels`](crate::labels::Labels), an enum [`Label`](crate::labels::Label).
///
/// ```
/// use windrow::{Counter, Family, labels};
///
/// labels! {
///     /// How a request ended.
///     pub enum Outcome { Success = "success", Failure = "failure" }
///
///     /// The labels of a request.
///     pub struct Request { route: str, outcome: Outcome }
/// }
///
/// static REQUESTS: Family<Request, Counter> = Family::new();
///
/// let route = String::from("/cart"); // any text
/// REQUESTS.with(Request { route: &route, outcome: Outcome::Success }).increment();
/// ```
///
/// ```
/// use std::net::IpAddr;
/// use windrow::{Counter, Family, labels};
///
/// labels! { pub struct Call { client: IpAddr, user: Option<String>, ratio: f64 } }
///
/// let calls: Family<Call, Counter> = Family::new();
/// let (client, user) = ("192.0.2.1".parse().unwrap(), String::from("ann"));
/// calls.with(Call { client, user: Some(&user), ratio: 0.5 }).increment();
/// let series = calls.iter().next().unwrap();
/// let shown: Vec<_> = series.pairs().map(|(name, value)| format!("{name}={value}")).collect();
/// assert_eq!(shown, ["client=192.0.2.1", "user=ann", "ratio=0.5"]);
/// ```
///
/// Fields may be written with `pub`, as in any struct:
///
/// ```
/// windrow::labels! { pub struct Request { pub route: String, pub status: u16 } }
///
/// let request = Request { route: "/cart", status: 200 };
/// assert_eq!(request.route, "/cart");
/// ```
///
/// A narrower visibility of one field is a compile error, because a lookup needs all fields:
///
/// ```compile_fail
/// windrow::labels! { pub struct Request { pub(crate) route: str } }
/// ```
///
/// A label of any other type is a compile error that says how to declare it:
///
/// ```compile_fail
/// windrow::labels! { pub struct Request { duration: std::time::Duration } }
/// ```
///
/// Two values with one text are a compile error, too:
///
/// ```compile_fail
/// windrow::labels! { pub enum Outcome { Success = "ok", Failure = "ok" } }
/// ```
#[doc(alias = "label")]
#[doc(alias = "EncodeLabelSet")]
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

        impl $crate::labels::Label for $name {
            const VALUES: ::core::option::Option<usize> =
                ::core::option::Option::Some([$( $name::$value ),+].len());

            type Key = $name;

            #[inline]
            fn key(self) -> $name {
                self
            }

            #[inline]
            fn index(self) -> usize {
                self as usize
            }

            fn value(self) -> $crate::labels::LabelValue<'static> {
                $crate::labels::LabelValue::Text(match self {
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
            { $(#[$attribute])* } { $visibility } $name {} {} { 'set 'lent } { $($fields)+ , }
        }
        $crate::labels! { $($rest)* }
    };
}

/// The text of an enum's value.
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
/// set. It turns each type of text into `str` or `Option<str>`.
///
/// The lifetimes are passed from call to call, because only the call that wrote a lifetime can name
/// it (hygiene).
#[doc(hidden)]
#[macro_export]
macro_rules! __label_set {
    (
        $attributes:tt $visibility:tt $name:ident $lifetimes:tt $done:tt $spare:tt
        { $(#[$on_field:meta])* pub ( $($place:tt)+ ) $label:ident : $($fields:tt)* }
    ) => {
        ::core::compile_error!(::core::concat!(
            "the label `", ::core::stringify!($label), "` is as visible as its set: leave out `pub(",
            ::core::stringify!($($place)+), ")`"
        ));
    };
    (
        $attributes:tt $visibility:tt $name:ident $lifetimes:tt $done:tt $spare:tt
        { $(#[$on_field:meta])* pub $label:ident : $($fields:tt)* }
    ) => {
        $crate::__label_set! {
            $attributes $visibility $name $lifetimes $done $spare
            { $(#[$on_field])* $label : $($fields)* }
        }
    };
    (
        $attributes:tt $visibility:tt $name:ident { $($lifetimes:tt)* } { $($done:tt)* }
        { $set:lifetime $lent:lifetime }
        { $(#[$on_field:meta])* $label:ident : str , $($fields:tt)* }
    ) => {
        $crate::__label_set! {
            $attributes $visibility $name { $set $lent }
            { $($done)* { $(#[$on_field])* } $label (& $set str) (str); } { $set $lent }
            { $($fields)* }
        }
    };
    (
        $attributes:tt $visibility:tt $name:ident { $($lifetimes:tt)* } { $($done:tt)* }
        { $set:lifetime $lent:lifetime }
        { $(#[$on_field:meta])* $label:ident : Option<str> , $($fields:tt)* }
    ) => {
        $crate::__label_set! {
            $attributes $visibility $name { $set $lent }
            {
                $($done)* { $(#[$on_field])* }
                $label (::core::option::Option<& $set str>) ($crate::__labels::OptionalText);
            }
            { $set $lent } { $($fields)* }
        }
    };
    (
        $attributes:tt $visibility:tt $name:ident $lifetimes:tt $done:tt $spare:tt
        { $(#[$on_field:meta])* $label:ident : &str , $($fields:tt)* }
    ) => {
        $crate::__label_set! {
            $attributes $visibility $name $lifetimes $done $spare
            { $(#[$on_field])* $label : str , $($fields)* }
        }
    };
    (
        $attributes:tt $visibility:tt $name:ident $lifetimes:tt $done:tt $spare:tt
        { $(#[$on_field:meta])* $label:ident : String , $($fields:tt)* }
    ) => {
        $crate::__label_set! {
            $attributes $visibility $name $lifetimes $done $spare
            { $(#[$on_field])* $label : str , $($fields)* }
        }
    };
    (
        $attributes:tt $visibility:tt $name:ident $lifetimes:tt $done:tt $spare:tt
        { $(#[$on_field:meta])* $label:ident : Box<str> , $($fields:tt)* }
    ) => {
        $crate::__label_set! {
            $attributes $visibility $name $lifetimes $done $spare
            { $(#[$on_field])* $label : str , $($fields)* }
        }
    };
    (
        $attributes:tt $visibility:tt $name:ident $lifetimes:tt $done:tt $spare:tt
        { $(#[$on_field:meta])* $label:ident : Arc<str> , $($fields:tt)* }
    ) => {
        $crate::__label_set! {
            $attributes $visibility $name $lifetimes $done $spare
            { $(#[$on_field])* $label : str , $($fields)* }
        }
    };
    (
        $attributes:tt $visibility:tt $name:ident $lifetimes:tt $done:tt $spare:tt
        { $(#[$on_field:meta])* $label:ident : Cow<$_text:lifetime, str> , $($fields:tt)* }
    ) => {
        $crate::__label_set! {
            $attributes $visibility $name $lifetimes $done $spare
            { $(#[$on_field])* $label : str , $($fields)* }
        }
    };
    (
        $attributes:tt $visibility:tt $name:ident $lifetimes:tt $done:tt $spare:tt
        { $(#[$on_field:meta])* $label:ident : Option<&str> , $($fields:tt)* }
    ) => {
        $crate::__label_set! {
            $attributes $visibility $name $lifetimes $done $spare
            { $(#[$on_field])* $label : Option<str> , $($fields)* }
        }
    };
    (
        $attributes:tt $visibility:tt $name:ident $lifetimes:tt $done:tt $spare:tt
        { $(#[$on_field:meta])* $label:ident : Option<String> , $($fields:tt)* }
    ) => {
        $crate::__label_set! {
            $attributes $visibility $name $lifetimes $done $spare
            { $(#[$on_field])* $label : Option<str> , $($fields)* }
        }
    };
    (
        $attributes:tt $visibility:tt $name:ident $lifetimes:tt $done:tt $spare:tt
        { $(#[$on_field:meta])* $label:ident : Option<Box<str>> , $($fields:tt)* }
    ) => {
        $crate::__label_set! {
            $attributes $visibility $name $lifetimes $done $spare
            { $(#[$on_field])* $label : Option<str> , $($fields)* }
        }
    };
    (
        $attributes:tt $visibility:tt $name:ident $lifetimes:tt $done:tt $spare:tt
        { $(#[$on_field:meta])* $label:ident : Option<Arc<str>> , $($fields:tt)* }
    ) => {
        $crate::__label_set! {
            $attributes $visibility $name $lifetimes $done $spare
            { $(#[$on_field])* $label : Option<str> , $($fields)* }
        }
    };
    (
        $attributes:tt $visibility:tt $name:ident $lifetimes:tt $done:tt $spare:tt
        { $(#[$on_field:meta])* $label:ident : Option<Cow<$_text:lifetime, str>> , $($fields:tt)* }
    ) => {
        $crate::__label_set! {
            $attributes $visibility $name $lifetimes $done $spare
            { $(#[$on_field])* $label : Option<str> , $($fields)* }
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
        { $($set:lifetime $lent:lifetime)? }
        { $( { $($on_field:tt)* } $label:ident ($($type:tt)+) ($($field:tt)+); )+ }
        { $_set:lifetime $borrowed:lifetime }
        { $(,)? }
    ) => {
        $($attribute)*
        #[derive(Clone, Copy, Debug)]
        $visibility struct $name $(<$set>)? {
            $(
                $($on_field)*
                #[doc = ::core::concat!("The label `", ::core::stringify!($label), "`.")]
                $visibility $label: $($type)+
            ),+
        }

        const _: () = {
            impl $(<$set>)? ::core::cmp::PartialEq for $name $(<$set>)? {
                #[inline]
                fn eq(&self, other: &Self) -> bool {
                    $(
                        <$($field)+ as $crate::__labels::Field>::key(self.$label)
                            == <$($field)+ as $crate::__labels::Field>::key(other.$label)
                    )&&+
                }
            }

            impl $(<$set>)? ::core::cmp::Eq for $name $(<$set>)? {}

            impl $(<$set>)? ::core::hash::Hash for $name $(<$set>)? {
                #[inline]
                fn hash<H: ::core::hash::Hasher>(&self, state: &mut H) {
                    $( ::core::hash::Hash::hash(
                        &<$($field)+ as $crate::__labels::Field>::key(self.$label), state
                    ); )+
                }
            }

            impl $(<$set>)? $crate::labels::Labels for $name $(<$set>)? {
                type Names = ();

                const COMBINATIONS: ::core::option::Option<usize> =
                    $crate::__labels::combinations(&[$( <$($field)+ as $crate::__labels::Field>::VALUES ),+]);

                type Borrowed<$borrowed> = $name $(<$lent>)?;

                type Stored = ($( <$($field)+ as $crate::__labels::Field>::Stored, )+);

                fn names((): &()) -> &[&str] {
                    const { &[$( $crate::__labels::name(::core::stringify!($label)) ),+] }
                }

                fn store(labels: Self::Borrowed<'_>) -> Self::Stored {
                    ($( <$($field)+ as $crate::__labels::Field>::store(labels.$label), )+)
                }

                #[inline]
                fn borrow(stored: &Self::Stored) -> Self::Borrowed<'_> {
                    let ($( $label, )+) = stored;
                    $name { $( $label: <$($field)+ as $crate::__labels::Field>::borrow($label) ),+ }
                }

                #[inline]
                fn matches(stored: &Self::Stored, labels: Self::Borrowed<'_>) -> bool {
                    let ($( $label, )+) = stored;
                    $( <$($field)+ as $crate::__labels::Field>::is($label, labels.$label) )&&+
                }

                #[inline(always)]
                fn hash(
                    labels: Self::Borrowed<'_>,
                    secrets: $crate::__labels::Secrets,
                    read: &mut $crate::__labels::Read,
                ) -> u64 {
                    let mut fields = $crate::__labels::Mixing::new(secrets, read);
                    $( fields.next::<$($field)+>(labels.$label); )+
                    fields.hash()
                }

                #[inline(always)]
                fn matches_read(
                    stored: &Self::Stored,
                    labels: Self::Borrowed<'_>,
                    read: &$crate::__labels::Read,
                ) -> bool {
                    let (($( $label, )+), mut fields) = (stored, $crate::__labels::Comparing::new(read));
                    if read.are_short([$( ::core::stringify!($label) ),+].len()) {
                        return ($(
                            fields.next_differs::<$($field)+>($label, labels.$label)
                        )|+) == 0;
                    }
                    $(
                        fields.next_is::<$($field)+>($label, labels.$label)
                    )&&+
                }

                fn value(labels: Self::Borrowed<'_>, position: usize) -> $crate::labels::LabelValue<'_> {
                    [$( <$($field)+ as $crate::__labels::Field>::value(labels.$label) ),+][position]
                }

                #[inline]
                fn index(labels: Self::Borrowed<'_>) -> usize {
                    let mut index = 0;
                    $(
                        index *= <$($field)+ as $crate::__labels::Field>::VALUES.unwrap_or(1);
                        index += <$($field)+ as $crate::__labels::Field>::index(labels.$label);
                    )+
                    index
                }
            }
        };
    };
}

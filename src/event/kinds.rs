//! The kinds of event as types, which decide at compile time what can be done with an event.
//!
//! An [`Event`](crate::Event) carries one of these types. So nothing can be added to a [`Maximum`],
//! and a [`Count`] has no percentiles. The same kinds as values, for use at run time, are
//! [`crate::Kind`].
//!
//! | kind | written by | has |
//! |---|---|---|
//! | [`Count`] | `add` of a `u64` | sum, rate |
//! | [`Signed`] | `add` of an `i64` | sum, rate |
//! | [`Value`] | `record` | sum, rate, mean of its [stats](crate::Stats) |
//! | [`Maximum`], [`Minimum`] | `record` | `max` or `min` of its [stats](crate::Stats) |
//! | [`Histogram`] | `record` | as a `Value`; distribution, percentiles |
//! | [`Any`] | nothing | stats, which every kind has |
//!
//! The traits are sealed: only the library implements them.

use super::kind::Kind;

/// The type of an event that adds up numbers of type `u64`: [`Kind::Count`].
#[derive(Clone, Copy, Debug)]
pub enum Count {}

/// The type of an event that adds up numbers of type `i64`: [`Kind::Signed`].
#[derive(Clone, Copy, Debug)]
pub enum Signed {}

/// The type of an event that records values: [`Kind::Value`].
#[derive(Clone, Copy, Debug)]
pub enum Value {}

/// The type of an event that keeps only the maximum: [`Kind::Maximum`].
#[derive(Clone, Copy, Debug)]
pub enum Maximum {}

/// The type of an event that keeps only the minimum: [`Kind::Minimum`].
#[derive(Clone, Copy, Debug)]
pub enum Minimum {}

/// The type of an event that keeps the distribution of its values: [`Kind::Histogram`].
#[derive(Clone, Copy, Debug)]
pub enum Histogram {}

/// The type of an event whose kind is known only at run time, for exporters.
#[derive(Clone, Copy, Debug)]
pub enum Any {}

/// A kind of event, or [`Any`].
pub trait EventKind: sealed::Is + Copy + 'static {}

/// A kind of event to which numbers are added: [`Count`] and [`Signed`].
#[diagnostic::on_unimplemented(
    message = "nothing can be added to this event: it is of the kind `{Self}`",
    label = "an event of the kind `Count` or `Signed` is expected",
    note = "of a `Value`, `Maximum`, `Minimum` or `Histogram`, values are recorded: use `record`",
    note = "of `Any`, ask for the kind: `event.typed()`"
)]
pub trait CanAdd: HasSum {}

/// A kind of event that records values: [`Value`], [`Maximum`], [`Minimum`] and [`Histogram`].
#[diagnostic::on_unimplemented(
    message = "no value can be recorded of this event: it is of the kind `{Self}`",
    label = "an event of the kind `Value`, `Maximum`, `Minimum` or `Histogram` is expected",
    note = "numbers are added to a `Count` or a `Signed`: use `add`",
    note = "of `Any`, ask for the kind: `event.typed()`"
)]
pub trait CanRecord: EventKind {}

/// A kind of event that has a sum, and so a rate: every kind except [`Maximum`] and [`Minimum`].
#[diagnostic::on_unimplemented(
    message = "this event has no sum and no rate: it is of the kind `{Self}`",
    label = "an event of the kind `Count`, `Signed`, `Value` or `Histogram` is expected",
    note = "a `Maximum` or `Minimum` has an extreme alone: read `stats(event).max` or `.min`",
    note = "of `Any`, read `stats(event)`, or ask for the kind: `event.typed()`"
)]
pub trait HasSum: EventKind {
    /// The type of the sum, and of the numbers that are added: `i64` for a [`Signed`] event, `u64`
    /// for the others.
    type Number: sealed::Number;
}

/// A kind of event that keeps the distribution of its values: [`Histogram`].
#[diagnostic::on_unimplemented(
    message = "this event has no percentiles: it is of the kind `{Self}`",
    label = "an event of the kind `Histogram` is expected",
    note = "declare it as one, `Rt: Histogram`, for percentiles within a few percent",
    note = "of `Any`, ask for the kind: `event.typed()`"
)]
pub trait HasDistribution: HasSum {}

impl HasSum for Count {
    type Number = u64;
}
impl HasSum for Signed {
    type Number = i64;
}
impl HasSum for Value {
    type Number = u64;
}
impl HasSum for Histogram {
    type Number = u64;
}

impl CanAdd for Count {}
impl CanAdd for Signed {}

impl CanRecord for Value {}
impl CanRecord for Maximum {}
impl CanRecord for Minimum {}
impl CanRecord for Histogram {}

impl HasDistribution for Histogram {}

impl sealed::HasMaximum for Value {}
impl sealed::HasMaximum for Maximum {}
impl sealed::HasMaximum for Histogram {}

/// Implements the traits of each kind: its name, and its [`Kind`].
macro_rules! kinds {
    ($($kind:ident: $is:pat,)+) => {$(
        impl EventKind for $kind {}

        impl sealed::Is for $kind {
            const NAME: &'static str = stringify!($kind);
        }
    )+

        /// Returns whether an event of this kind may have the type of that name.
        pub(super) const fn is_of(name: &str, kind: Kind) -> bool {
            $(if is(name, stringify!($kind)) {
                return matches!(kind, $is);
            })+
            false
        }
    };
}

kinds! {
    Count: Kind::Count,
    Signed: Kind::Signed,
    Value: Kind::Value,
    Maximum: Kind::Maximum,
    Minimum: Kind::Minimum,
    Histogram: Kind::Histogram(_),
    Any: _,
}

/// Returns whether two names are equal.
const fn is(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut index = 0;
    while index < one.len() && index < other.len() && one[index] == other[index] {
        index += 1;
    }
    index == one.len() && index == other.len()
}

pub(crate) mod sealed {
    /// The seal of the kinds: only types of this module implement it.
    pub trait Is {
        /// The type's name.
        const NAME: &'static str;
    }

    /// A kind of event that keeps the maximum: `Value`, `Maximum` and `Histogram`.
    #[diagnostic::on_unimplemented(
        message = "this event keeps no greatest value: it is of the kind `{Self}`",
        label = "an event of the kind `Maximum`, `Value` or `Histogram` is expected"
    )]
    pub trait HasMaximum: crate::event::kinds::CanRecord {}

    /// A number that adds up, and its representation in a cell.
    pub trait Number: Copy {
        /// Returns the number to add to a cell.
        fn bits(self) -> u64;

        /// Returns the number that a cell's sum represents.
        fn of(bits: u64) -> Self;
    }

    impl Number for u64 {
        #[inline]
        fn bits(self) -> u64 {
            self
        }

        #[inline]
        fn of(bits: u64) -> u64 {
            bits
        }
    }

    /// Cells wrap. So a subtraction adds the two's complement, and a sum is right as an `i64`.
    impl Number for i64 {
        #[inline]
        fn bits(self) -> u64 {
            self.cast_unsigned()
        }

        #[inline]
        fn of(bits: u64) -> i64 {
            bits.cast_signed()
        }
    }
}

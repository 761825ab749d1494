//! Helpers of `events!` for the list of events.

use crate::event::WideCells;
use crate::event::kind::Kind;
use crate::event::layout::{cells_together, wide_together};

/// Returns the number of cells of all events together.
///
/// # Panics
///
/// Panics at compile time if there are more than a window can have.
pub const fn cells(events: &[(&str, Kind)]) -> usize {
    cells_together(events)
}

/// Returns the number of cells that are not wide: those of other kinds than `Histogram`, and the
/// extremes.
///
/// # Panics
///
/// Panics in the cases in which [`cells`] does.
pub const fn in_place(events: &[(&str, Kind)]) -> usize {
    cells_together(events) - wide_together(events)
}

/// Returns whether there is a `Histogram`.
///
/// # Panics
///
/// Panics in the cases in which [`cells`] does.
pub const fn has_wide(events: &[(&str, Kind)]) -> bool {
    wide_together(events) > 0
}

/// Checks that only events with values have units.
///
/// # Panics
///
/// Panics at compile time if another event has a unit.
pub const fn check_units(events: &[(&str, Kind)], units: &[&str]) {
    let mut event = 0;
    while event < units.len() {
        let has_values = !matches!(events[event].1, Kind::Count | Kind::Signed);
        assert!(
            has_values || units[event].is_empty(),
            "a unit is of values: a `Count` or a `Signed` has none"
        );
        event += 1;
    }
}

/// A choice of [`Events::Cells`](crate::Events::Cells) for `N` cells, of which `K` are not wide.
#[derive(Clone, Copy, Debug)]
pub struct Choice<const N: usize, const K: usize, const HAS_WIDE: bool>;

/// The result of a [`Choice`].
pub trait Chosen {
    /// The type of the cells.
    type Cells;
}

impl<const N: usize, const K: usize> Chosen for Choice<N, K, false> {
    type Cells = [u64; N];
}

impl<const N: usize, const K: usize> Chosen for Choice<N, K, true> {
    type Cells = WideCells<N, K>;
}

/// Refuses attributes that would remove an event's constant and leave the event.
#[doc(hidden)]
#[macro_export]
macro_rules! __event_attribute {
    (cfg $($rest:tt)*) => {
        ::core::compile_error!(
            "`events!` takes no `#[cfg]` on an event: write two sets of events, each behind its `#[cfg]`"
        );
    };
    (cfg_attr $($rest:tt)*) => {
        ::core::compile_error!(
            "`events!` takes no `#[cfg_attr]` on an event: write two sets of events, each behind its `#[cfg]`"
        );
    };
    ($($other:tt)*) => {};
}

/// Refuses the name of the set's own constant.
#[doc(hidden)]
#[macro_export]
macro_rules! __event_name {
    (ALL) => {
        ::core::compile_error!(
            "`ALL` is the constant that has every event of the set: give the event another name"
        );
    };
    ($other:ident) => {};
}

/// Expands to the type of an event's kind. [`__event_kind!`] reports errors; for a kind that does
/// not exist, the compiler shows its place.
#[doc(hidden)]
#[macro_export]
macro_rules! __event_type {
    (Count) => {
        $crate::kind::Count
    };
    (Signed) => {
        $crate::kind::Signed
    };
    (Value) => {
        $crate::kind::Value
    };
    (Maximum) => {
        $crate::kind::Maximum
    };
    (Minimum) => {
        $crate::kind::Minimum
    };
    (Histogram) => {
        $crate::kind::Histogram
    };
    ($other:ident) => {
        $crate::kind::$other
    };
    () => {
        $crate::kind::Any
    };
}

/// Expands to an event's kind, or to an error.
#[doc(hidden)]
#[macro_export]
macro_rules! __event_kind {
    ($event:ident Count) => {
        $crate::Kind::Count
    };
    ($event:ident Signed) => {
        $crate::Kind::Signed
    };
    ($event:ident Value) => {
        $crate::Kind::Value
    };
    ($event:ident Maximum) => {
        $crate::Kind::Maximum
    };
    ($event:ident Minimum) => {
        $crate::Kind::Minimum
    };
    ($event:ident Histogram) => {
        $crate::Kind::Histogram($crate::histogram::Scale::DEFAULT)
    };
    ($event:ident Histogram ($scale:expr)) => {
        $crate::Kind::Histogram($scale)
    };
    ($event:ident) => {
        ::core::compile_error!(::core::concat!(
            "each event needs a kind: `",
            ::core::stringify!($event),
            ": Count`, or another `windrow::Kind`"
        ))
    };
    ($event:ident $kind:ident ($of:expr)) => {
        ::core::compile_error!(::core::concat!(
            "`",
            ::core::stringify!($event),
            "` has something in brackets: of all kinds of event, only a `Histogram` has, its `windrow::histogram::Scale`"
        ))
    };
    ($event:ident $other:ident) => {
        ::core::compile_error!(::core::concat!(
            "`",
            ::core::stringify!($other),
            "` is no kind of event: write `",
            ::core::stringify!($event),
            ": Count`, or another `windrow::Kind`"
        ))
    };
}

//! Events: the numbers that a window counts.

use std::fmt::Debug;

use cells::EventCells;
use kinds::EventKind;
use layout::BucketLayout;

pub(crate) mod cells;
pub(crate) mod debug_output;
pub mod event_list;
pub(crate) mod kind;
pub mod kinds;
pub(crate) mod layout;
#[cfg(feature = "serde")]
pub(crate) mod serde;
pub(crate) mod snapshot_numbers;
pub(crate) mod stats;
mod typed_event;
mod wide;

pub use kind::Kind;
pub use stats::Stats;
pub use typed_event::{Event, Typed};
pub use wide::WideCells;

/// A set of events that a window counts. [`events!`](crate::events!) makes one.
///
/// The type itself has no values. It names the set; an [`Event`] names one event of the set.
///
/// ```
/// use windrow::{Events, Kind, events};
///
/// events! {
///     /// The events of a queue.
///     pub enum Queue { Pushed: Count, Waited: Value }
/// }
///
/// assert_eq!(Queue::EVENTS, [("Pushed", Kind::Count), ("Waited", Kind::Value)]);
/// ```
///
/// # By hand
///
/// Implement the trait by hand for a set that `events!` cannot make: one number for each worker,
/// for example.
///
/// ```
/// use windrow::{Event, Events, Kind, SlidingWindow, kind};
///
/// struct Workers;
///
/// impl Events for Workers {
///     const EVENTS: &'static [(&'static str, Kind)] =
///         &[("first", Kind::Count), ("second", Kind::Count)];
///     type Cells = [u64; 2];
/// }
///
/// const SECOND: Event<Workers, kind::Count> = Event::at(1); // checked by the compiler
///
/// let window = SlidingWindow::<Workers>::builder().build()?;
/// window.add(SECOND, 5);
/// assert_eq!(window.sum(SECOND), 5);
/// # Ok::<(), windrow::BuildError>(())
/// ```
///
/// A wrong implementation does not compile. When a window is built, the compiler checks that
/// [`Cells`](Self::Cells) has exactly the number of cells that [`EVENTS`](Self::EVENTS) needs, and
/// that they fit a row of 8192.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no set of events",
    note = "make one: `windrow::events! {{ pub enum Http {{ Pass: Count, Rt: Histogram }} }}`"
)]
pub trait Events: Send + Sync + Sized + 'static {
    /// Names and kinds of all events, in the order of their [positions](Event::index).
    const EVENTS: &'static [(&'static str, Kind)];

    /// The cells of one bucket: `[u64; N]`, where `N` is the sum of all events' [`Kind::cells`].
    /// ([`events!`](crate::events!) has another type for a set with a `Histogram`, whose snapshots
    /// store only the cells that are not zero.) No other type compiles.
    type Cells: Positions<Self>
        + AsRef<[u64]>
        + AsMut<[u64]>
        + Clone
        + Debug
        + Send
        + Sync
        + 'static;

    /// The units of the events' values, in the order of [`EVENTS`](Self::EVENTS): `ns`, `By`, as
    /// the [Unified Code for Units of Measure](https://ucum.org/ucum) spells them. An empty text,
    /// or a list that ends before, is an event without a unit. Exporters show it.
    const UNITS: &'static [&'static str] = &[];
}

/// The layout of the cells of `E`'s events.
///
/// Sealed: code outside the library cannot name it. Any crate may implement the safe trait
/// [`Events`], but an add does not check that a cell index is within the block. So an
/// implementation does not state cell indexes. They follow from [`Events::EVENTS`], and are checked
/// here, once, when a window is compiled.
#[diagnostic::on_unimplemented(
    message = "`Events::Cells` must be `[u64; N]`, N being the sum of all events' `Kind::cells`"
)]
pub trait Positions<E>: Sized {
    /// A bucket's cells, all zero.
    const ZERO: Self;
    /// The number of cells, and which of them add up.
    const LAYOUT: BucketLayout;
    /// The cells of each event, in the order of the events' indexes.
    const CELLS: &'static [EventCells];
    /// The cells that a snapshot of a bucket stores inline.
    type InPlace: AsRef<[u64]> + AsMut<[u64]> + Clone + Debug + Send + Sync + 'static;
    /// These cells, all zero. The wide cells before them are stored in a list, if they are not
    /// zero.
    const IN_PLACE: Self::InPlace;
}

/// Returns the layout of `M` cells of these events.
const fn layout_of<E: Events>(cells: usize) -> BucketLayout {
    let layout = BucketLayout::of(&E::EVENTS);
    assert!(
        layout.cells() == cells,
        "`Events::Cells` must be `[u64; N]`, N being the sum of all events' `Kind::cells`"
    );
    layout
}

impl<E: Events<Cells = [u64; M]>, const M: usize> Positions<E> for [u64; M] {
    const ZERO: [u64; M] = [0; M];

    const LAYOUT: BucketLayout = layout_of::<E>(M);

    // Every event has a cell, so there is no more than one event for each cell.
    const CELLS: &'static [EventCells] = {
        let cells: &[EventCells; M] =
            const { &EventCells::all(<[u64; M] as Positions<E>>::LAYOUT, E::EVENTS) };
        cells.split_at(E::EVENTS.len()).0
    };

    type InPlace = [u64; M];
    const IN_PLACE: [u64; M] = [0; M];
}

/// Returns an event's cells.
#[inline(always)]
#[allow(clippy::inline_always)] // a constant if the event is one, as usual
pub(crate) fn cells_of<E: Events, K: EventKind>(event: Event<E, K>) -> EventCells {
    <E::Cells as Positions<E>>::CELLS[event.index()]
}

/// Converts a count of an event to a float; that of a `Signed` event with its sign.
pub(crate) fn number_of<E: Events, K: EventKind>(event: Event<E, K>, count: u64) -> f64 {
    match event.kind() {
        Kind::Signed => count.cast_signed() as f64,
        Kind::Count | Kind::Value | Kind::Maximum | Kind::Minimum | Kind::Histogram(_) => {
            count as f64
        }
    }
}

/// Makes a set of events, and a constant for each of them.
///
/// The set is written as an enum. Each event is followed by its [`Kind`]: `Count` for a number that
/// only grows, `Signed` for a number that goes up and down, `Value` for values with count, sum,
/// minimum and maximum, `Maximum` or `Minimum` for values with only that extreme, `Histogram` for
/// values with percentiles too, by the default [`Scale`](crate::histogram::Scale) or by one in
/// brackets.
///
/// ```
/// windrow::events! {
///     /// The events of one endpoint.
///     pub enum Http { Pass: Count, Block: Count, Exception: Count, Success: Count, Rt: Value }
/// }
///
/// let window = windrow::SlidingWindow::<Http>::builder().build()?;
/// window.add(Http::Pass, 1);
/// window.record(Http::Rt, 1_250);
/// # Ok::<(), windrow::BuildError>(())
/// ```
///
/// ```
/// use windrow::{SlidingWindow, events, histogram::Scale};
///
/// events! {
///     enum Upload { Nanos: Histogram, Bytes: Histogram(Scale::fixed::<2, 1, { 1 << 30 }>()) }
/// }
///
/// let window = SlidingWindow::<Upload>::builder().build()?;
/// window.record(Upload::Bytes, 700);
/// assert_eq!(window.quantile(Upload::Bytes, 0.99), Some(700));
/// # Ok::<(), windrow::BuildError>(())
/// ```
///
/// Values have a unit if `in` and the unit follow, as the [Unified Code for Units of
/// Measure](https://ucum.org/ucum) spells it. [Exporters](crate::export) then name it and scale by
/// it: of nanoseconds, `windrow-prometheus` makes seconds.
///
/// ```
/// use windrow::{Events, events};
///
/// events! { enum Http { Pass: Count, Rt: Histogram in "ns", Sent: Value in "By" } }
///
/// assert_eq!(Http::UNITS, ["", "ns", "By"]);
/// ```
///
/// A `Count` or a `Signed` has no values, and no unit:
///
/// ```compile_fail
/// windrow::events! { pub enum Http { Sent: Count in "By" } }
/// ```
///
/// `Http` becomes an enum without variants, which implements [`Events`]. It keeps its attributes
/// and its visibility. `Http::Pass` is a constant of the type `Event<Http, kind::Count>`: see
/// [`Event`]. `Http::ALL` is an array of all events, in the erased form; so no event can have that
/// name.
///
/// A call may make several sets:
///
/// ```
/// windrow::events! {
///     pub enum Http { Pass: Count, Rt: Histogram }
///     pub enum Cache { Hit: Count, Miss: Count }
/// }
/// assert_eq!((Http::ALL.len(), Cache::ALL.len()), (2, 2));
/// ```
///
/// An attribute before an event, such as its documentation or `#[deprecated]`, goes to its
/// constant. A `#[cfg]` is refused there. To leave an event out, write two sets, each with its own
/// `#[cfg]`.
///
/// ```compile_fail
/// windrow::events! { pub enum Http { #[cfg(unix)] Pass: Count } }
/// ```
///
/// A kind that does not exist is a compile error:
///
/// ```compile_fail
/// windrow::events! { pub enum Http { Pass: Counter } }
/// ```
///
/// A set of events that does not fit a row of 8192 cells is a compile error, too: a `Count` or a
/// `Signed` takes one, a `Value` five, a `Maximum` or a `Minimum` two, a `Histogram` three for each
/// cell of its scale and eight more.
#[macro_export]
macro_rules! events {
    ( $(#[$attribute:meta])* $visibility:vis enum $name:ident { $(,)? } ) => {
        ::core::compile_error!(::core::concat!(
            "an enum of events needs an event: `enum ",
            ::core::stringify!($name),
            " { Pass: Count }`"
        ));
    };
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident {
            $(
                $(#[$($on_event:tt)*])*
                $event:ident $(: $kind:ident $(($of:expr))? $(in $unit:literal)?)?
            ),+ $(,)?
        }
    ) => {
        $(#[$attribute])*
        $visibility enum $name {}

        const _: () = {
            $( $( $crate::__event_attribute!($($on_event)*); )* )+
            $( $crate::__event_name!($event); )+

            #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
            enum __Position { $($event),+ }

            const __EVENTS: &[(&'static ::core::primitive::str, $crate::Kind)] = &[
                $( (::core::stringify!($event), $crate::__event_kind!($event $($kind $(($of))?)?)) ),+
            ];

            const __UNITS: &[&'static ::core::primitive::str] =
                &[ $( ::core::concat!($($($unit)?)?) ),+ ];
            const _: () = $crate::__events::check_units(__EVENTS, __UNITS);

            impl $crate::Events for $name {
                const EVENTS: &'static [(&'static ::core::primitive::str, $crate::Kind)] = __EVENTS;

                type Cells = <$crate::__events::Choice<
                    { $crate::__events::cells(__EVENTS) },
                    { $crate::__events::in_place(__EVENTS) },
                    { $crate::__events::has_wide(__EVENTS) },
                > as $crate::__events::Chosen>::Cells;

                const UNITS: &'static [&'static ::core::primitive::str] = __UNITS;
            }

            #[allow(non_upper_case_globals, dead_code)]
            impl $name {
                $(
                    $(#[$($on_event)*])*
                    #[doc = ::core::concat!("Counted as a `", ::core::stringify!($($kind)?), "`.")]
                    $visibility const $event: $crate::Event<
                        $name,
                        $crate::__event_type!($($kind)?),
                    > = $crate::Event::at(__Position::$event as ::core::primitive::usize);
                )+

                /// All events, in the order in which they were written.
                $visibility const ALL: [$crate::Event<$name>; __EVENTS.len()] =
                    [ $( $crate::Event::at(__Position::$event as ::core::primitive::usize) ),+ ];
            }
        };
    };
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident {
            $(
                $(#[$($on_event:tt)*])*
                $event:ident $(: $kind:ident $(($of:expr))? $(in $unit:literal)?)?
            ),+ $(,)?
        }
        $($more:tt)+
    ) => {
        $crate::events! {
            $(#[$attribute])*
            $visibility enum $name {
                $( $(#[$($on_event)*])* $event $(: $kind $(($of))? $(in $unit)?)? ),+
            }
        }
        $crate::events! { $($more)+ }
    };
}

//! What a window counts: the events of an enum.

use std::fmt::Debug;
use std::hash::Hash;

use cells::EventCells;
use layout::BucketLayout;

pub(crate) mod cells;
pub(crate) mod kept;
pub(crate) mod kind;
pub(crate) mod layout;
pub mod listed;
#[cfg(feature = "serde")]
pub(crate) mod serde;
pub(crate) mod shown;
mod stats;
mod wide;

pub use kind::Kind;
pub use stats::Stats;
pub use wide::WideCells;

/// The set of events that a window counts. [`events!`](crate::events!) makes one.
///
/// ```
/// use windrow::{Event, Kind, events};
///
/// events! {
///     /// What a queue counts.
///     pub enum Queue { Pushed: Count, Waited: Value }
/// }
///
/// assert_eq!(Queue::EVENTS, [("Pushed", Kind::Count), ("Waited", Kind::Value)]);
/// assert_eq!(Queue::Waited.index(), 1);
/// assert_eq!((Queue::Waited.name(), Queue::Waited.kind()), ("Waited", Kind::Value));
///
/// // Everything that a window has counted, event by event:
/// let window = windrow::SlidingWindow::<Queue>::builder().build()?;
/// for event in Queue::ALL {
///     println!("{}: {}", event.name(), window.sum(*event));
/// }
/// # Ok::<(), windrow::BuildError>(())
/// ```
///
/// # By hand
///
/// Implement the trait by hand for a type that `events!` cannot make: say, one number for each
/// worker.
///
/// ```
/// use windrow::{Event, Kind, SlidingWindow};
///
/// #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
/// struct Worker(u8);
///
/// impl Event for Worker {
///     const EVENTS: &'static [(&'static str, Kind)] =
///         &[("first", Kind::Count), ("second", Kind::Count)];
///     const ALL: &'static [Worker] = &[Worker(0), Worker(1)];
///     type Cells = [u64; 2];
///     const ZERO: [u64; 2] = [0; 2];
///
///     fn index(self) -> usize {
///         self.0.into()
///     }
/// }
///
/// let window = SlidingWindow::<Worker>::builder().build()?;
/// window.add(Worker(1), 5);
/// assert_eq!(window.sum(Worker(1)), 5);
/// # Ok::<(), windrow::BuildError>(())
/// ```
///
/// A wrong implementation can only affect the numbers of its own windows. Where a window is built,
/// the compiler checks that [`Cells`](Self::Cells) has exactly as many cells as
/// [`EVENTS`](Self::EVENTS) needs, that they fit a row of 8192, that [`ZERO`](Self::ZERO) is all
/// zero, and that
/// [`ALL`](Self::ALL) has as many events as `EVENTS`. An [`index`](Self::index) is checked when it is used.
/// That `ALL` is in the order of the indexes is not checked.
pub trait Event: Copy + Eq + Hash + Debug + Send + Sync + 'static {
    /// Every event's name and kind, in the order of their indexes.
    const EVENTS: &'static [(&'static str, Kind)];

    /// Every event, in the order of their indexes: as many as there are [`EVENTS`](Self::EVENTS).
    ///
    /// Of an enum that [`events!`](crate::events!) makes, without those that a `#[cfg]` leaves out.
    ///
    /// ```
    /// use windrow::{Event, events};
    ///
    /// events! { enum Disk { Read: Count, #[cfg(any())] Trimmed: Count, Latency: Value } }
    ///
    /// assert_eq!(Disk::ALL, [Disk::Read, Disk::Latency]);
    /// ```
    const ALL: &'static [Self];

    /// The cells of one bucket: `[u64; N]`, where `N` is the sum of all events' [`Kind::cells`]; or
    /// [`WideCells`](crate::WideCells), of events of which some are a `Histogram`. No other type will do.
    type Cells: Positions<Self>
        + AsRef<[u64]>
        + AsMut<[u64]>
        + Clone
        + Debug
        + Send
        + Sync
        + 'static;

    /// A bucket's cells, all zero.
    const ZERO: Self::Cells;

    /// The event's position in [`EVENTS`](Self::EVENTS).
    ///
    /// A method that is given an event whose index is not below the number of events panics, and
    /// counts nothing.
    fn index(self) -> usize;

    /// The event's name: of a variant that [`events!`](crate::events!) makes, as it is written
    /// there.
    ///
    /// # Panics
    ///
    /// If the event's [`index`](Self::index) is not below the number of events.
    ///
    /// ```
    /// use windrow::{Event, events};
    ///
    /// events! { enum Disk { Read: Count, Latency: Value } }
    ///
    /// assert_eq!(Disk::Latency.name(), "Latency");
    /// ```
    #[inline]
    fn name(self) -> &'static str {
        Self::EVENTS[self.index()].0
    }

    /// How the event is counted.
    ///
    /// # Panics
    ///
    /// As [`name`](Self::name).
    ///
    /// ```
    /// use windrow::{Event, Kind, events};
    ///
    /// events! { enum Disk { Read: Count, Latency: Value } }
    ///
    /// assert_eq!(Disk::Latency.kind(), Kind::Value);
    /// ```
    #[inline]
    fn kind(self) -> Kind {
        Self::EVENTS[self.index()].1
    }
}

/// What windows know of the cells of `E`'s events.
///
/// Sealed: code outside the library cannot name it. Any crate may implement the safe trait
/// [`Event`], but an add does not check that a cell index is within the block. So an implementation
/// does not state cell indexes. They follow from [`Event::EVENTS`], and are checked here, once,
/// when a window is compiled.
#[diagnostic::on_unimplemented(
    message = "`Event::Cells` must be `[u64; N]`, N being the sum of all events' `Kind::cells`"
)]
pub trait Positions<E> {
    /// How many cells there are, and which of them add up.
    const LAYOUT: BucketLayout;
    /// The cells of each event, in the order of their indexes: as many as there are events.
    const CELLS: &'static [EventCells];
    /// The cells that a snapshot of a bucket holds in place.
    type InPlace: AsRef<[u64]> + AsMut<[u64]> + Clone + Debug + Send + Sync + 'static;
    /// These cells, all zero. The wide cells before them are kept elsewhere, if they are not zero.
    const IN_PLACE: Self::InPlace;
}

/// The layout of `M` cells of these events.
const fn layout_of<E: Event>(cells: usize) -> BucketLayout {
    let layout = BucketLayout::of(&E::EVENTS);
    assert!(
        layout.cells() == cells,
        "`Event::Cells` must be `[u64; N]`, N being the sum of all events' `Kind::cells`"
    );
    assert!(
        E::ALL.len() == E::EVENTS.len(),
        "`Event::ALL` must have as many events as `Event::EVENTS`"
    );
    layout
}

/// Checks the constant of an implementation.
const fn are_zero(cells: &[u64]) {
    let mut cell = 0;
    while cell < cells.len() {
        assert!(cells[cell] == 0, "`Event::ZERO` must be all zero");
        cell += 1;
    }
}

impl<E: Event<Cells = [u64; M]>, const M: usize> Positions<E> for [u64; M] {
    const LAYOUT: BucketLayout = {
        are_zero(&E::ZERO);
        layout_of::<E>(M)
    };

    // Every event has a cell: there are no fewer cells than events.
    const CELLS: &'static [EventCells] = {
        let cells: &[EventCells; M] =
            const { &EventCells::all(<[u64; M] as Positions<E>>::LAYOUT, E::EVENTS) };
        cells.split_at(E::EVENTS.len()).0
    };

    type InPlace = [u64; M];
    const IN_PLACE: [u64; M] = [0; M];
}

/// Where an event's cells stand.
#[inline(always)]
#[allow(clippy::inline_always)] // a constant where the event is one, as it mostly is
pub(crate) fn cells_of<E: Event>(event: E) -> EventCells {
    <E::Cells as Positions<E>>::CELLS[event.index()]
}

/// A count of an event, to calculate with: of a `Signed` event, with its sign.
pub(crate) fn number_of<E: Event>(event: E, count: u64) -> f64 {
    match event.kind() {
        Kind::Signed => count.cast_signed() as f64,
        Kind::Count | Kind::Value | Kind::Maximum | Kind::Minimum | Kind::Histogram(_) => {
            count as f64
        }
    }
}

/// Makes an enum whose variants are the events of a window.
///
/// Each variant is followed by its [`Kind`]: `Count` for a number that adds up, `Signed` for one
/// that goes up and down, `Value` for values of which the window keeps count, sum, minimum and
/// maximum, `Maximum` or `Minimum` for values of which it keeps that alone, `Histogram` for values
/// of which it keeps percentiles too: with the default [`Scale`](crate::Scale), or with one that
/// follows in brackets. The enum is `Copy + Eq + Hash + Debug` and implements [`Event`]. It keeps
/// its attributes and its visibility.
///
/// ```
/// windrow::events! {
///     /// What one endpoint counts.
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
/// use windrow::{Scale, SlidingWindow, events};
///
/// events! {
///     enum Upload { Nanos: Histogram, Bytes: Histogram(Scale::fixed::<2, 1, { 1 << 30 }>()) }
/// }
///
/// let window = SlidingWindow::<Upload>::builder().build()?;
/// window.record(Upload::Bytes, 700);
/// assert_eq!(window.percentile(Upload::Bytes, 0.99), Some(700));
/// # Ok::<(), windrow::BuildError>(())
/// ```
///
/// A `#[cfg]` may leave an event out. (To leave out a whole enum, write the `#[cfg]` before
/// `events!`. `events!` cannot see a `cfg` inside a `cfg_attr`, or from another macro's
/// `$attribute:meta`: an error. So is an event that is left out and is called as a constant of
/// [`Event`], where that is imported.)
///
/// ```
/// use windrow::Event;
///
/// windrow::events! {
///     enum Disk { Read: Count, #[cfg(any())] Trimmed: Count, Latency: Value }
/// }
///
/// assert_eq!(Disk::EVENTS.len(), 2);
/// assert_eq!(Disk::Latency.index(), 1);
/// ```
///
/// A kind that does not exist is a compile error:
///
/// ```compile_fail
/// windrow::events! { pub enum Http { Pass: Counter } }
/// ```
///
/// So is a set of events that does not fit a row of 8192 cells: a `Count` or a `Signed` takes one,
/// a `Value` five, a `Maximum` or a `Minimum` two, a `Histogram` three for each cell of its scale
/// and eight more.
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
            $( $(#[$($on_event:tt)*])* $event:ident $(: $kind:ident $(($of:expr))?)? ),+ $(,)?
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        $visibility enum $name {
            $(
                $(#[$($on_event)*])*
                #[doc = ::core::concat!("Counted as a `", ::core::stringify!($($kind)?), "`.")]
                $event
            ),+
        }

        const _: () = {
            #[allow(deprecated)]
            const LISTED: &[$crate::__events::Listed<$name>] = &[$(
                $crate::__events::Listed {
                    name: ::core::stringify!($event),
                    kind: $crate::__event_kind!($event $($kind $(($of))?)?),
                    is_there: $crate::__events::all(
                        &[$( $crate::__event_is_there!($($on_event)*) ),*],
                    ),
                    event: {
                        // `$name::$event` is the variant, or, where its `cfg` takes it away, this
                        // constant.
                        #[allow(dead_code, non_upper_case_globals)]
                        trait Gone {
                            const $event: $crate::__events::Absent = $crate::__events::Absent;
                        }
                        impl Gone for $name {}
                        $crate::__events::Mention($name::$event).event()
                    },
                }
            ),+];
            const COUNT: usize = $crate::__events::count(LISTED);

            // Never `Self::Cells`: a variant may have that name.
            impl $crate::Event for $name {
                const EVENTS: &'static [(&'static str, $crate::Kind)] =
                    &$crate::__events::names_and_kinds::<$name, COUNT>(LISTED);

                const ALL: &'static [$name] = &$crate::__events::events::<$name, COUNT>(LISTED);

                type Cells = <$crate::__events::Choice<
                    { $crate::__events::cells(<$name as $crate::Event>::EVENTS) },
                    { $crate::__events::in_place(<$name as $crate::Event>::EVENTS) },
                    { $crate::__events::has_wide(<$name as $crate::Event>::EVENTS) },
                > as $crate::__events::Chosen>::Cells;

                const ZERO: <$name as $crate::Event>::Cells =
                    <$crate::__events::Choice<
                        { $crate::__events::cells(<$name as $crate::Event>::EVENTS) },
                        { $crate::__events::in_place(<$name as $crate::Event>::EVENTS) },
                        { $crate::__events::has_wide(<$name as $crate::Event>::EVENTS) },
                    > as $crate::__events::Chosen>::ZERO;

                #[inline]
                fn index(self) -> usize {
                    self as usize // the variants that `cfg` leaves are numbered from zero on
                }
            }
        };
    };
}

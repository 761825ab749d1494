//! What a window counts: an enum of events.

use std::fmt::Debug;
use std::hash::Hash;

use crate::kind::Kind;
use crate::layout::Place;

/// The set of events that a window counts. Made by [`events!`](crate::events!).
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
/// ```
pub trait Event: Copy + Eq + Hash + Debug + Send + Sync + 'static {
    /// Every event's name and kind, in the order of their indexes.
    const EVENTS: &'static [(&'static str, Kind)];

    /// Room for the cells of one bucket: `[u64; N]`, `N` being the sum of all events'
    /// [`Kind::cells`].
    type Cells: AsRef<[u64]> + AsMut<[u64]> + Clone + Debug + Send + Sync + 'static;

    /// A bucket's cells, all zero.
    const ZERO: Self::Cells;

    #[doc(hidden)]
    const PLACES: &'static [Place];

    /// The event's position in [`EVENTS`](Self::EVENTS).
    fn index(self) -> usize;
}

/// Makes an enum whose variants are the events of a window.
///
/// Each variant is followed by its [`Kind`]: `Count` for a number that adds up,
/// `Value` for values of which count, sum, minimum and maximum are kept. The enum is
/// `Copy + Eq + Hash + Debug` and implements [`Event`]. Attributes and visibility
/// are kept.
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
/// A kind that does not exist is a compile error:
///
/// ```compile_fail
/// windrow::events! { pub enum Http { Pass: Counter } }
/// ```
#[macro_export]
macro_rules! events {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident {
            $( $(#[$variant_attribute:meta])* $variant:ident : $kind:ident ),+ $(,)?
        }
    ) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        $visibility enum $name {
            $(
                $(#[$variant_attribute])*
                #[doc = ::core::concat!("Counted as a `", ::core::stringify!($kind), "`.")]
                $variant
            ),+
        }

        impl $crate::Event for $name {
            const EVENTS: &'static [(&'static str, $crate::Kind)] =
                &[$( (::core::stringify!($variant), $crate::Kind::$kind) ),+];

            type Cells = [u64; 0 $( + $crate::Kind::$kind.cells() )+];

            const ZERO: Self::Cells = [0; 0 $( + $crate::Kind::$kind.cells() )+];

            const PLACES: &'static [$crate::Place] =
                &$crate::Place::all::<{ <$name as $crate::Event>::EVENTS.len() }>(
                    <$name as $crate::Event>::EVENTS,
                );

            #[inline]
            fn index(self) -> usize {
                self as usize
            }
        }
    };
}

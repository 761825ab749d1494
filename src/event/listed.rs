//! What `events!` makes of the list of its variants.
//!
//! `events!` writes an attribute on its variant alone: `#[default]` or `#[serde(..)]` would be an
//! error anywhere else. So it works out from the attributes whether a variant is there, and
//! collects the answers when the enum is compiled. It examines each attribute by itself, without
//! recursion, however long the documentation is.

use crate::event::layout::{cells_together, wide_together};
use crate::event::{Event, Kind, WideCells};

/// A variant in the source, whether or not its `cfg` leaves it there.
#[derive(Clone, Copy, Debug)]
pub struct Listed<E> {
    /// The variant's name.
    pub name: &'static str,
    /// Its kind.
    pub kind: Kind,
    /// What its `cfg` says.
    pub is_there: bool,
    /// The event of that name, if there is one: this variant, or another that took its place.
    pub event: Option<E>,
}

/// What stands for a variant that is not there.
#[derive(Clone, Copy, Debug)]
pub struct Absent;

/// What a variant's name means: an event, or [`Absent`].
///
/// No macro can write down the name of a variant that its `cfg` takes away. But `Enum::Name` may
/// also be a trait's constant, and is that where there is no such variant. The two have different
/// types, and each type has a method `event` of its own.
#[derive(Clone, Copy, Debug)]
pub struct Mention<T>(pub T);

impl Mention<Absent> {
    /// None.
    pub const fn event<E: Event>(self) -> Option<E> {
        None
    }
}

impl<E: Event> Mention<E> {
    /// The event.
    pub const fn event(self) -> Option<E> {
        Some(self.0)
    }
}

/// Whether all conditions hold.
pub const fn all(conditions: &[bool]) -> bool {
    let mut index = 0;
    while index < conditions.len() {
        if !conditions[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// How many variants are there.
///
/// # Panics
///
/// In compilation, if there is none.
pub const fn count<E>(listed: &[Listed<E>]) -> usize {
    let (mut count, mut index) = (0, 0);
    while index < listed.len() {
        count += listed[index].is_there as usize;
        index += 1;
    }
    assert!(count > 0, "an enum of events needs an event: every one is left out by its `cfg`");
    count
}

/// The names and kinds of the variants that are there: all `N` of them.
pub const fn names_and_kinds<E: Event, const N: usize>(
    listed: &[Listed<E>],
) -> [(&'static str, Kind); N] {
    let mut events = [("", Kind::Count); N];
    let (mut next, mut index) = (0, 0);
    while index < listed.len() {
        let Listed { name, kind, is_there, .. } = listed[index];
        if is_there {
            events[next] = (name, kind);
            next += 1;
        }
        index += 1;
    }
    events
}

/// The events of the variants that are there: all `N` of them.
///
/// # Panics
///
/// In compilation, if none is there.
pub const fn events<E: Event, const N: usize>(listed: &[Listed<E>]) -> [E; N] {
    let mut events = [None; N];
    let (mut next, mut index) = (0, 0);
    while index < listed.len() {
        if listed[index].is_there {
            events[next] = listed[index].event;
            next += 1;
        }
        index += 1;
    }
    let mut all = [events[0].unwrap(); N];
    let mut index = 0;
    while index < N {
        all[index] = events[index].unwrap();
        index += 1;
    }
    all
}

/// How many cells the events have together.
///
/// # Panics
///
/// In compilation, if they are more than a window can have.
pub const fn cells(events: &[(&str, Kind)]) -> usize {
    cells_together(events)
}

/// How many of them are not wide: of other kinds than `Histogram`, and the extremes.
///
/// # Panics
///
/// As [`cells`].
pub const fn in_place(events: &[(&str, Kind)]) -> usize {
    cells_together(events) - wide_together(events)
}

/// Whether there is a `Histogram`.
///
/// # Panics
///
/// As [`cells`].
pub const fn has_wide(events: &[(&str, Kind)]) -> bool {
    wide_together(events) > 0
}

/// A choice of [`Event::Cells`]: of `N` cells, of which `K` are not wide.
#[derive(Clone, Copy, Debug)]
pub struct Choice<const N: usize, const K: usize, const HAS_WIDE: bool>;

/// What is chosen.
pub trait Chosen {
    /// The type of the cells.
    type Cells;
    /// All zero.
    const ZERO: Self::Cells;
}

impl<const N: usize, const K: usize> Chosen for Choice<N, K, false> {
    type Cells = [u64; N];
    const ZERO: [u64; N] = [0; N];
}

impl<const N: usize, const K: usize> Chosen for Choice<N, K, true> {
    type Cells = WideCells<N, K>;
    const ZERO: WideCells<N, K> = WideCells::ZERO;
}

/// True for a token or an attribute that cannot remove its variant.
///
/// # Panics
///
/// In compilation, if it is a `cfg` or a `cfg_attr`.
pub const fn not_cfg(text: &str) -> bool {
    let text = text.as_bytes();
    let hides = begins(text, b"cfg")
        || begins(text, b"cfg_attr")
        || begins(text, b"r#cfg")
        || begins(text, b"r#cfg_attr");
    assert!(
        !hides,
        "a `cfg` inside a `cfg_attr`, or out of another macro's `$attribute:meta`, hides from `events!` \
         whether the event is there: write `#[cfg(..)]` itself, and let a macro take attributes as \
         `$(#[$($attribute:tt)*])*`"
    );
    true
}

/// Whether `text` begins with exactly this name.
const fn begins(text: &[u8], name: &[u8]) -> bool {
    let mut index = 0;
    while index < name.len() {
        if index == text.len() || text[index] != name[index] {
            return false;
        }
        index += 1;
    }
    index == text.len() || !(text[index].is_ascii_alphanumeric() || text[index] == b'_')
}

/// Whether an attribute lets its variant be there.
#[doc(hidden)]
#[macro_export]
macro_rules! __event_is_there {
    (doc $($text:tt)*) => {
        true
    };
    (cfg($($condition:tt)*)) => {
        ::core::cfg!($($condition)*)
    };
    (r#cfg($($condition:tt)*)) => {
        ::core::cfg!($($condition)*)
    };
    (cfg_attr($($token:tt)*)) => {
        $crate::__events::all(&[$( $crate::__events::not_cfg(::core::stringify!($token)) ),*])
    };
    (r#cfg_attr($($token:tt)*)) => {
        $crate::__event_is_there!(cfg_attr($($token)*))
    };
    ($($other:tt)*) => {
        $crate::__events::not_cfg(::core::stringify!($($other)*))
    };
}

/// A variant's kind, or what is wrong with it.
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
        $crate::Kind::Histogram($crate::Scale::DEFAULT)
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
            "` has something in brackets: of all kinds of event, only a `Histogram` has, its `windrow::Scale`"
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

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_cfg_is_told_by_the_whole_of_its_name() {
        for hides in ["cfg", "cfg(any())", "cfg_attr (a, b)", "r#cfg(any())", "r#cfg_attr(a, b)"] {
            assert!(std::panic::catch_unwind(|| not_cfg(hides)).is_err(), "{hides}");
        }
        for shows in
            ["", "cf", "cfgs", "cfg2(a)", "cfg_", "cfg_attrs", "doc(cfg(a))", "r#type", "(cfg)"]
        {
            assert!(not_cfg(shows), "{shows}");
        }
    }
}

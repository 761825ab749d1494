//! The events of histories.

use windrow::clock::Manual;
use windrow::{
    Event, Kind, SlidingWindow, Timestamp, Typed, histogram::Scale, snapshot::OutOfRangeError,
};

use crate::ledger::Tally;

windrow::events! {
    /// Events of each kind, interleaved.
    pub enum Seen {
        Pass: Count, Rt: Value, Depth: Maximum, Fail: Count, Size: Value, Room: Minimum, Level: Signed,
        Waited: Histogram(Scale::fixed::<1, 2, 1_000>())
    }
}

/// All of them, by their index.
pub const EVENTS: [Event<Seen>; 8] = Seen::ALL;

/// The event whose values are kept.
pub(super) const WAITED: Event<Seen> = Event::at(Seen::Waited.index());

/// Returns what counting `n` amounts to.
pub(super) fn tally(event: Event<Seen>, n: u64) -> Tally {
    match event.kind() {
        Kind::Value | Kind::Histogram(_) => Tally::value(n),
        Kind::Maximum => Tally { max: Some(n), ..Tally::default() },
        Kind::Minimum => Tally { min: Some(n), ..Tally::default() },
        _ => Tally::amount(n),
    }
}

/// Returns a number of the event, which may have a sign, as a real number for rates.
pub(super) fn number(event: Event<Seen>, n: u64) -> f64 {
    if event.kind() == Kind::Signed { n.cast_signed() as f64 } else { n as f64 }
}

/// Adds or records a number at a time.
pub(super) fn count_at(
    window: &SlidingWindow<Seen, Manual>,
    at: Timestamp,
    event: Event<Seen>,
    n: u64,
) -> Result<(), OutOfRangeError> {
    match event.typed() {
        Typed::Count(event) => window.add_at(at, event, n),
        Typed::Signed(event) => window.add_at(at, event, n.cast_signed()),
        Typed::Value(event) => window.record_at(at, event, n),
        Typed::Maximum(event) => window.record_at(at, event, n),
        Typed::Minimum(event) => window.record_at(at, event, n),
        Typed::Histogram(event) => window.record_at(at, event, n),
        other => unreachable!("{other:?}"),
    }
}

/// Asks what only events that add up can be asked: of others, `None`.
macro_rules! if_summed {
    ($event:expr, |$of:ident| $ask:expr) => {
        match $event.typed() {
            ::windrow::Typed::Count($of) => Some($ask),
            ::windrow::Typed::Signed($of) => Some($ask),
            ::windrow::Typed::Value($of) => Some($ask),
            ::windrow::Typed::Histogram($of) => Some($ask),
            _ => None,
        }
    };
}
pub(super) use if_summed;

/// A sum, as the bits that a cell has.
pub(super) trait Bits {
    fn bits(self) -> u64;
}

impl Bits for u64 {
    fn bits(self) -> u64 {
        self
    }
}

impl Bits for i64 {
    fn bits(self) -> u64 {
        self.cast_unsigned()
    }
}

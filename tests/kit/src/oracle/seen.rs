//! What histories count.

use windrow::{Event, Kind, Scale};

use crate::ledger::Tally;

windrow::events! {
    /// Of each kind, interleaved.
    pub enum Seen {
        Pass: Count, Rt: Value, Depth: Maximum, Fail: Count, Size: Value, Room: Minimum, Level: Signed,
        Waited: Histogram(Scale::fixed::<1, 2, 1_000>())
    }
}

/// All of them, by their index.
pub const EVENTS: [Seen; 8] = [
    Seen::Pass,
    Seen::Rt,
    Seen::Depth,
    Seen::Fail,
    Seen::Size,
    Seen::Room,
    Seen::Level,
    Seen::Waited,
];

impl Seen {
    /// What adding or recording `n` amounts to.
    pub fn tally(self, n: u64) -> Tally {
        match self.kind() {
            Kind::Value | Kind::Histogram(_) => Tally::value(n),
            Kind::Maximum => Tally { max: Some(n), ..Tally::default() },
            Kind::Minimum => Tally { min: Some(n), ..Tally::default() },
            _ => Tally::amount(n),
        }
    }

    /// A number of the event's, which may have a sign, for what is divided by time.
    pub(super) fn number(self, n: u64) -> f64 {
        if self.kind() == Kind::Signed { n.cast_signed() as f64 } else { n as f64 }
    }
}

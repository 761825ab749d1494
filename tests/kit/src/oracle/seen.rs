//! What histories count.

use windrow::{Event, Kind};

use crate::ledger::Tally;

windrow::events! {
    /// Of each kind, interleaved.
    pub enum Seen {
        Pass: Count, Rt: Value, Depth: Maximum, Fail: Count, Size: Value, Room: Minimum
    }
}

/// All of them, by their index.
pub const EVENTS: [Seen; 6] =
    [Seen::Pass, Seen::Rt, Seen::Depth, Seen::Fail, Seen::Size, Seen::Room];

impl Seen {
    /// What adding or recording `n` amounts to.
    pub fn tally(self, n: u64) -> Tally {
        match self.kind() {
            Kind::Value => Tally::value(n),
            Kind::Maximum => Tally { max: Some(n), ..Tally::default() },
            Kind::Minimum => Tally { min: Some(n), ..Tally::default() },
            _ => Tally::amount(n),
        }
    }
}

//! `Debug` output of events: their names, with the numbers of their kinds.

use std::fmt::{self, Debug, DebugStruct, Formatter};

use super::{Events, Kind, Positions, Stats};
use crate::event::cells::EventCells;

/// The stats of one event.
struct Shown {
    kind: Kind,
    stats: Stats,
}

impl Debug for Shown {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Count | Kind::Value | Kind::Histogram(_) => self.stats.fmt(f),
            Kind::Signed => self.stats.sum.cast_signed().fmt(f),
            Kind::Maximum => self.stats.max.fmt(f),
            Kind::Minimum => self.stats.min.fmt(f),
        }
    }
}

/// Adds each event's stats to `Debug` output, as a field of the event's name.
pub(crate) fn debug_event_fields<E: Events>(
    shown: &mut DebugStruct<'_, '_>,
    stats: impl Fn(EventCells) -> Stats,
) {
    for ((name, kind), cells) in E::EVENTS.iter().zip(<E::Cells as Positions<E>>::CELLS) {
        shown.field(name, &Shown { kind: *kind, stats: stats(*cells) });
    }
}

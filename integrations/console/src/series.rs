//! What the console reads of a series.

use serde_json::{Value, json};
use windrow::{ByRow, Counter, Gauge, Histogram, InFlight, Maximum, Minimum};

use crate::ledger::{Audit, Ledger};
use crate::number::Number;
use crate::percentiles;

/// What the console reads of a series.
pub trait Series {
    /// The numbers of its row, as many for each series of a source. The result is the span that those of an interval
    /// are of, in nanoseconds; zero if there are none.
    fn numbers(&self, into: &mut Vec<Number>) -> u64;

    /// The last minute, of the first event.
    fn history(&self) -> Option<History> {
        None
    }

    /// Compares independent readings, and with those of the audit before.
    fn audit(&self, ledger: &mut Ledger) -> Audit;

    /// All of its numbers.
    fn all(&self) -> Value;

    /// All of them, and what there is by time and by core.
    fn detail(&self) -> Value {
        self.all()
    }
}

/// What was counted in equal slices of time, the oldest first, up to some time ago. None has begun only.
#[derive(Debug)]
pub struct History {
    /// How long ago the newest slice ended, in milliseconds.
    pub(crate) age: u64,
    /// The length of a slice, in milliseconds.
    pub(crate) step: u64,
    pub(crate) counts: Vec<u64>,
}

/// What each core's row holds: of an event, if it is a window's.
pub(crate) fn cores(event: Option<&str>, by_row: &ByRow) -> Value {
    json!({ "event": event, "rows": by_row.rows(), "shared": by_row.shared() })
}

impl Series for Counter {
    fn numbers(&self, into: &mut Vec<Number>) -> u64 {
        into.push(self.lifetime().into());
        0
    }

    fn audit(&self, ledger: &mut Ledger) -> Audit {
        ledger.only_grows(self.lifetime())
    }

    fn all(&self) -> Value {
        json!({ "lifetime": self.lifetime(), "sum": self.sum() })
    }

    fn detail(&self) -> Value {
        let mut all = self.all();
        all["cores"] = cores(None, &self.by_row());
        all
    }
}

impl Series for Gauge {
    fn numbers(&self, into: &mut Vec<Number>) -> u64 {
        into.push(Number::Signed(self.sum()));
        0
    }

    fn audit(&self, _: &mut Ledger) -> Audit {
        Audit::Nothing // it promises nothing while it goes up and down
    }

    fn all(&self) -> Value {
        json!({ "level": self.sum() })
    }
}

impl Series for InFlight {
    fn numbers(&self, into: &mut Vec<Number>) -> u64 {
        into.push(Number::Unsigned(self.level()));
        0
    }

    fn audit(&self, _: &mut Ledger) -> Audit {
        Audit::Nothing // there is one reading of it, and it goes up and down
    }

    fn all(&self) -> Value {
        json!({ "level": self.level() })
    }
}

impl Series for Maximum {
    fn numbers(&self, into: &mut Vec<Number>) -> u64 {
        into.push(self.get().into());
        0
    }

    fn audit(&self, ledger: &mut Ledger) -> Audit {
        self.get().map_or(Audit::Nothing, |value| ledger.only_grows(value))
    }

    fn all(&self) -> Value {
        json!({ "value": self.get() })
    }
}

impl Series for Minimum {
    fn numbers(&self, into: &mut Vec<Number>) -> u64 {
        into.push(self.get().into());
        0
    }

    fn audit(&self, ledger: &mut Ledger) -> Audit {
        self.get().map_or(Audit::Nothing, |value| ledger.only_grows(!value))
    }

    fn all(&self) -> Value {
        json!({ "value": self.get() })
    }
}

/// Its percentiles are of what was recorded since it was last [drained](Histogram::take).
impl Series for Histogram {
    fn numbers(&self, into: &mut Vec<Number>) -> u64 {
        percentiles::numbers(self.lifetime().count(), &self.distribution(), into);
        0
    }

    fn audit(&self, ledger: &mut Ledger) -> Audit {
        ledger.only_grows(self.lifetime().count())
    }

    fn all(&self) -> Value {
        let mut all = percentiles::summary(&self.distribution());
        all["lifetime"] = percentiles::summary(&self.lifetime());
        all["scale"] = percentiles::scale(self.scale());
        all
    }

    fn detail(&self) -> Value {
        let mut all = self.all();
        all["cells"] = percentiles::cells(&self.distribution());
        all
    }
}

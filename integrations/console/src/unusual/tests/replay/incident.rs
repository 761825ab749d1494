//! The incidents, each as it changes a series that is otherwise fine.

use super::day::{FINE, Trouble};
use crate::unusual::change::What;

/// An incident, and the changes that tell of it.
pub(super) struct Incident {
    pub(super) name: &'static str,
    pub(super) says: &'static str,
    /// Any of these is right.
    pub(super) tells: &'static [What],
    /// The seconds after its beginning from which a person would call it wrong.
    pub(super) wrong_from: u64,
    /// The trouble, some seconds after the beginning.
    pub(super) trouble: fn(f64) -> Trouble,
}

impl Incident {
    /// Returns whether counts at this rate are too low to show it within fifteen seconds.
    pub(super) fn is_hard_at(&self, rate: f64) -> bool {
        rate <= 10.0
            && matches!(self.name, "small latency step" | "error ramp" | "one client of many")
    }
}

/// The time in seconds in which a ramp rises.
const RAMP: f64 = 600.0;

fn part(at: f64) -> f64 {
    (at / RAMP).min(1.0)
}

pub(super) const INCIDENTS: [Incident; 8] = [
    Incident {
        name: "latency step",
        says: "all times x40",
        tells: &[What::Slow],
        wrong_from: 0,
        trouble: |_| Trouble { time: 40.0, ..FINE },
    },
    Incident {
        name: "small latency step",
        says: "all times x3",
        tells: &[What::Slow],
        wrong_from: 0,
        trouble: |_| Trouble { time: 3.0, ..FINE },
    },
    Incident {
        name: "slow ramp",
        says: "all times x1 to x10 in 10 min, wrong from x3",
        tells: &[What::Slow],
        wrong_from: 133,
        trouble: |at| Trouble { time: 1.0 + 9.0 * part(at), ..FINE },
    },
    Incident {
        name: "error burst",
        says: "90 % fail",
        tells: &[What::Failing],
        wrong_from: 0,
        trouble: |_| Trouble { failed: 0.9, ..FINE },
    },
    Incident {
        name: "error ramp",
        says: "0 to 50 % fail in 10 min, wrong from 5 %",
        tells: &[What::Failing],
        wrong_from: 60,
        trouble: |at| Trouble { failed: 0.5 * part(at), ..FINE },
    },
    Incident {
        name: "traffic drop",
        says: "to a tenth",
        tells: &[What::Quiet],
        wrong_from: 0,
        trouble: |_| Trouble { rate: 0.1, ..FINE },
    },
    Incident {
        name: "one client of many",
        says: "it sends a tenth of all, and each of its requests fails",
        tells: &[What::Failing],
        wrong_from: 0,
        trouble: |_| Trouble { failed: 0.1, ..FINE },
    },
    Incident {
        name: "retry storm",
        says: "traffic x4, half of it fails, a fifth is refused, times x5",
        tells: &[What::Failing, What::Refused, What::Busy, What::Slow],
        wrong_from: 0,
        trouble: |_| Trouble { rate: 4.0, time: 5.0, failed: 0.5, refused: 0.2 },
    },
];

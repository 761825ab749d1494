//! The two numbers that a user can set, and the evidence that follows from them.

use super::change::What;

/// The number of spans that overlap and yet count as independent, for each that follows another.
const OVERLAP: f64 = 4.0;

/// The two numbers that a user can set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settings {
    /// The least factor of a change, beyond the usual range.
    pub(crate) factor: f64,
    /// The number of false changes of a series a day that are acceptable.
    pub(crate) false_a_day: f64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { factor: 2.0, false_a_day: 0.2 }
    }
}

impl Settings {
    /// Returns the evidence that a change over a span needs: chance brings it in one of the spans
    /// of the days in which one false change is acceptable.
    pub(super) fn evidence(&self, seconds: f64) -> f64 {
        let spans = OVERLAP * 86_400.0 / seconds.max(1.0) * What::ALL.len() as f64;
        (spans / self.false_a_day.max(1e-9)).ln().max(1.0)
    }
}

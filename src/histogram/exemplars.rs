//! The exemplars of a histogram.

use super::Histogram;
use crate::exemplar::{Exemplar, TraceContext};
use crate::recorded_value::Recorded;

/// # Exemplars
impl Histogram {
    /// Records a value, as [`record`](Self::record) does, and keeps it as an
    /// [exemplar](crate::exemplar) of `trace`: a [`TraceContext`], or an option of one. With
    /// `None`, there is no exemplar.
    ///
    /// Never fails, panics or waits. An exemplar costs about two readings of the system's clock;
    /// the first one of a core allocates 64 bytes for each octave of the scale.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::Histogram;
    /// use windrow::exemplar::TraceContext;
    ///
    /// static LATENCY: Histogram = Histogram::new();
    ///
    /// let trace = TraceContext { trace_id: 0x4bf9_2f35, span_id: 0x00f0_67aa };
    /// LATENCY.record_with_exemplar(Duration::from_millis(7), trace);
    /// LATENCY.record_with_exemplar(Duration::from_millis(3), None);
    /// assert_eq!(LATENCY.count(), 2);
    /// assert_eq!(LATENCY.exemplars()[0].trace, trace);
    /// ```
    #[inline]
    #[doc(alias = "ObserveWithExemplar")]
    #[doc(alias = "HistogramWithExemplars")]
    pub fn record_with_exemplar(
        &self,
        value: impl Recorded,
        trace: impl Into<Option<TraceContext>>,
    ) {
        let value = value.number();
        match trace.into() {
            None => self.record(value),
            Some(trace) => self.record_and_keep(value, trace),
        }
    }

    /// Out of line, as in [`Counter`](crate::Counter).
    #[inline(never)]
    fn record_and_keep(&self, value: u64, trace: TraceContext) {
        self.record(value);
        let octave = self.scale.octave(self.scale.place(value));
        self.exemplars.keep(self.scale.octave_count(), octave, value, trace);
    }

    /// Returns the newest exemplar of each octave in which one was given, in the order of their
    /// values. Values below the scale's range are one octave more, as are those above it.
    ///
    /// Each value is counted by every read that begins afterwards, and drains leave exemplars. An
    /// octave is left out if, on each core that has one, a thread is writing another at that
    /// moment. Acquire. Costs a few loads for each octave and each core that has given one, and an
    /// allocation.
    ///
    /// ```
    /// use windrow::Histogram;
    /// use windrow::exemplar::TraceContext;
    ///
    /// let latency = Histogram::new();
    /// for (trace_id, value) in [(1, 1_500_000), (2, 700_000_000), (3, 1_600_000)] {
    ///     latency.record_with_exemplar(value, TraceContext { trace_id, span_id: 1 });
    /// }
    /// let found = latency.exemplars();
    /// let ids: Vec<u128> = found.iter().map(|exemplar| exemplar.trace.trace_id).collect();
    /// assert_eq!(ids, [3, 2]);
    /// ```
    #[inline]
    pub fn exemplars(&self) -> Vec<Exemplar> {
        self.exemplars.all(0..self.scale.octave_count())
    }
}

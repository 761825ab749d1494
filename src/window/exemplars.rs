//! The exemplars of a window's `Histogram` events.

use std::ops::Range;

use super::SlidingWindow;
use crate::clock::Clock;
use crate::event::kinds::{CanRecord, HasDistribution};
use crate::event::{Event, Events, Kind};
use crate::exemplar::{Exemplar, TraceContext};
use crate::recorded_value::Recorded;

/// # Exemplars
impl<E: Events, C: Clock> SlidingWindow<E, C> {
    /// Records a value of a `Histogram` event, as [`record`](Self::record) does, and keeps it as an
    /// [exemplar](crate::exemplar) of `trace`: a [`TraceContext`], or an option of one. With
    /// `None`, there is no exemplar.
    ///
    /// Never fails, panics or waits. An exemplar costs about two readings of the system's clock;
    /// the first one of a core allocates 64 bytes for each octave of each `Histogram` event.
    ///
    /// ```
    /// use windrow::exemplar::TraceContext;
    /// use windrow::{SlidingWindow, events};
    ///
    /// events! { enum Http { Pass: Count, Rt: Histogram } }
    ///
    /// let window = SlidingWindow::<Http>::builder().build()?;
    /// let trace = TraceContext { trace_id: 0x4bf9_2f35, span_id: 0x00f0_67aa };
    /// window.record_with_exemplar(Http::Rt, 7_000_000, trace);
    /// assert_eq!(window.stats(Http::Rt).count, 1);
    /// assert_eq!(window.exemplars(Http::Rt)[0].trace, trace);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    #[inline]
    pub fn record_with_exemplar<K: CanRecord + HasDistribution>(
        &self,
        event: Event<E, K>,
        value: impl Recorded,
        trace: impl Into<Option<TraceContext>>,
    ) {
        let value = value.number();
        match trace.into() {
            None => self.record(event, value),
            Some(trace) => self.record_and_keep(event, value, trace),
        }
    }

    /// Out of line, as in [`Counter`](crate::Counter).
    #[inline(never)]
    fn record_and_keep<K: CanRecord + HasDistribution>(
        &self,
        event: Event<E, K>,
        value: u64,
        trace: TraceContext,
    ) {
        self.record(event, value);
        if let Kind::Histogram(scale) = event.kind() {
            let slot = slots_before(E::EVENTS, event.index()) + scale.octave(scale.place(value));
            let all = slots_before(E::EVENTS, E::EVENTS.len());
            self.ring.exemplars().keep(all, slot, value, trace);
        }
    }

    /// Returns the newest exemplar of each octave of a `Histogram` event in which one was given, in
    /// the order of their values.
    ///
    /// They belong to the window and not to its buckets: an exemplar stays until another one of its
    /// octave comes. Each is in every [`lifetime_distribution`](Self::lifetime_distribution) that
    /// is read afterwards, unless it came [late](Self::late). Order and cost are those of
    /// [`Histogram::exemplars`](crate::Histogram::exemplars).
    ///
    /// ```
    /// # windrow::events! { enum Http { Rt: Histogram } }
    /// let window = windrow::SlidingWindow::<Http>::builder().build()?;
    /// window.record(Http::Rt, 7_000_000);
    /// assert_eq!(window.exemplars(Http::Rt), []);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn exemplars<K: HasDistribution>(&self, event: Event<E, K>) -> Vec<Exemplar> {
        self.ring.exemplars().all(slots(E::EVENTS, event.index()))
    }
}

/// Returns the slots of an event: one for each octave of its scale.
#[inline]
fn slots(events: &[(&str, Kind)], event: usize) -> Range<usize> {
    slots_before(events, event)..slots_before(events, event + 1)
}

/// Returns the number of slots of the events before one.
#[inline]
fn slots_before(events: &[(&str, Kind)], event: usize) -> usize {
    let count = |(_, kind): &(&str, Kind)| match kind {
        Kind::Histogram(scale) => scale.octave_count(),
        _ => 0,
    };
    events[..event].iter().map(count).sum()
}

//! The exemplar of a counter.

use super::Counter;
use crate::exemplar::{Exemplar, TraceContext};

/// A counter has one slot for each core: a number has no octaves that matter.
const SLOTS: usize = 1;

/// # Exemplars
impl Counter {
    /// Adds `n`, as [`add`](Self::add) does, and keeps it as an [exemplar](crate::exemplar) of
    /// `trace`: a [`TraceContext`], or an option of one. With `None`, there is no exemplar.
    ///
    /// Never fails, panics or waits. An exemplar costs about two readings of the system's clock;
    /// the first one of a core allocates (if there is no memory, the process ends, as with any
    /// allocation). So it is not for signal handlers, and not for a global allocator.
    ///
    /// ```
    /// use windrow::Counter;
    /// use windrow::exemplar::TraceContext;
    ///
    /// static ERRORS: Counter = Counter::new();
    ///
    /// let trace = TraceContext { trace_id: 0x4bf9_2f35, span_id: 0x00f0_67aa };
    /// ERRORS.add_with_exemplar(1, trace);
    /// ERRORS.add_with_exemplar(1, None);
    /// assert_eq!(ERRORS.sum(), 2);
    /// assert_eq!(ERRORS.exemplar().unwrap().trace, trace);
    /// ```
    #[inline]
    #[doc(alias = "AddWithExemplar")]
    #[doc(alias = "incWithExemplar")]
    #[doc(alias = "CounterWithExemplar")]
    pub fn add_with_exemplar(&self, n: u64, trace: impl Into<Option<TraceContext>>) {
        match trace.into() {
            None => self.add(n),
            Some(trace) => self.add_and_keep(n, trace),
        }
    }

    /// Out of line, so that an add without an exemplar costs one comparison more than a plain one.
    #[inline(never)]
    fn add_and_keep(&self, n: u64, trace: TraceContext) {
        self.add(n);
        self.exemplars.keep(SLOTS, 0, n, trace);
    }

    /// Returns the newest exemplar that was given with an add; `None` if none was.
    ///
    /// Its value is in every sum that is read afterwards, and drains leave it. `None` also if, on
    /// each core that has one, a thread is writing another at that moment. Acquire. Costs a few
    /// loads for each core that has given one.
    ///
    /// ```
    /// assert_eq!(windrow::Counter::new().exemplar(), None);
    /// ```
    #[inline]
    pub fn exemplar(&self) -> Option<Exemplar> {
        self.exemplars.newest(0)
    }
}

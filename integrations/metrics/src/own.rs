//! The handles that a macro returns: of the calling thread's own, or of the numbers themselves.
//!
//! `metrics::Counter` holds an `Arc`, which a macro call clones and drops. Were that `Arc` shared,
//! all threads would write its one count. So the numbers are shared, and each thread wraps those of
//! the keys that it keeps in an `Arc` of its own, once.

use std::sync::Arc;

use metrics::{CounterFn, GaugeFn, HistogramFn, Key};

use crate::counter::CounterCell;

/// One thread's handle of numbers that all threads share, and their key. Aligned, so that two
/// threads' reference counts never share a line, wherever the allocator puts them.
#[repr(align(64))]
pub(crate) struct Own<T> {
    pub(crate) cell: Arc<T>,
    pub(crate) key: Key,
}

// `T::`, since the facade's `Arc<T>` is a handle, too, which records many values one by one.

impl<T: CounterFn> CounterFn for Own<T> {
    #[inline]
    fn increment(&self, n: u64) {
        T::increment(&self.cell, n);
    }

    fn absolute(&self, value: u64) {
        T::absolute(&self.cell, value);
    }
}

impl<T: GaugeFn> GaugeFn for Own<T> {
    fn increment(&self, by: f64) {
        T::increment(&self.cell, by);
    }

    fn decrement(&self, by: f64) {
        T::decrement(&self.cell, by);
    }

    fn set(&self, value: f64) {
        T::set(&self.cell, value);
    }
}

impl<T: HistogramFn> HistogramFn for Own<T> {
    #[inline]
    fn record(&self, value: f64) {
        T::record(&self.cell, value);
    }

    fn record_many(&self, value: f64, times: usize) {
        T::record_many(&self.cell, value, times);
    }
}

/// Counts the updates of one kind that are in no series.
#[derive(Default)]
pub(crate) struct Dropped(pub(crate) windrow::Counter);

/// The handle of a gauge whose key was refused: the last value of many gauges would mean nothing.
impl GaugeFn for Dropped {
    fn increment(&self, _: f64) {
        self.0.increment();
    }

    fn decrement(&self, _: f64) {
        self.0.increment();
    }

    fn set(&self, _: f64) {
        self.0.increment();
    }
}

/// The handle of a counter whose key was refused: its adds go to the series of all such keys.
pub(crate) struct Overflow(pub(crate) Arc<CounterCell>, pub(crate) Arc<Dropped>);

impl CounterFn for Overflow {
    fn increment(&self, n: u64) {
        CounterCell::increment(&self.0, n);
    }

    /// Dropped: no cell has the count of this key alone, so the difference to `absolute` is
    /// unknown.
    fn absolute(&self, _: u64) {
        self.1.0.increment();
    }
}

//! The exemplars of a metric: a slot for each octave in a row for each core.
//!
//! Memory is allocated when it is first needed: a pointer for each row by the first exemplar, and
//! the slots of a row by the first one of its core.

use std::ops::Range;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::slot::{Slot, Words};
use super::{Exemplar, TraceContext};
use crate::once::Once;
use crate::stripe::{self, shard_choice::spread};
use crate::sync::{const_fn, sized};
use crate::timestamp::saturating_nanos;

/// The exemplars of a metric, all with the same number of slots.
#[derive(Debug)]
pub(crate) struct Exemplars {
    rows: Once<Box<[Once<Row>]>>,
}

/// A slot for each octave.
type Row = Box<[Slot]>;

impl Exemplars {
    const_fn! {
        pub(crate) const fn new() -> Exemplars {
            Exemplars { rows: Once::new() }
        }
    }

    /// Keeps an exemplar at the index `slot` of `slots`, in the place of the last one of this core.
    ///
    /// The value is counted before. So a reader that finds the exemplar and then reads the counts
    /// has it in them: the end of the write is Release, and the read of it Acquire.
    #[cold]
    pub(crate) fn keep(&self, slots: usize, slot: usize, value: u64, trace: TraceContext) {
        if stripe::decided().is_none() {
            return; // another thread is choosing the strategy: microseconds in a process's life
        }
        let row = self.row(slots);
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, saturating_nanos);
        let TraceContext { trace_id, span_id } = trace;
        row[slot].write([value, time, (trace_id >> 64) as u64, trace_id as u64, span_id]);
    }

    /// Returns the slots of this core.
    fn row(&self, slots: usize) -> &Row {
        let make = || self.rows.set(made(sized(stripe::rows(), 1), Once::new));
        let rows = self.rows.get().unwrap_or_else(make);
        let row = &rows[spread() % rows.len()];
        row.get().unwrap_or_else(|| row.set(made(slots, Slot::new)))
    }

    /// Returns the newest exemplar of each of these slots that has any, in the order of the slots.
    #[inline]
    pub(crate) fn all(&self, slots: Range<usize>) -> Vec<Exemplar> {
        if self.rows.get().is_none() {
            return Vec::new(); // a metric to which none was given: one load, not one for each slot
        }
        slots.filter_map(|slot| self.newest(slot)).collect()
    }

    /// Returns the newest exemplar at an index.
    #[inline]
    pub(crate) fn newest(&self, slot: usize) -> Option<Exemplar> {
        let rows = self.rows.get()?.iter().filter_map(Once::get);
        rows.filter_map(|row| row[slot].read().map(exemplar)).max_by_key(|exemplar| exemplar.time)
    }
}

/// Makes a box of `count` equal things.
fn made<T>(count: usize, one: impl Fn() -> T) -> Box<[T]> {
    (0..count).map(|_| one()).collect()
}

#[inline]
fn exemplar([value, time, high, low, span_id]: Words) -> Exemplar {
    let trace_id = u128::from(high) << 64 | u128::from(low);
    let time = UNIX_EPOCH + Duration::from_nanos(time);
    Exemplar { value, trace: TraceContext { trace_id, span_id }, time }
}

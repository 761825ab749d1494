//! The interface of a kind's numbers to the registry.

use std::sync::Arc;

use crate::buckets::Buckets;
use crate::counter::CounterCell;
use crate::gauge::GaugeCell;
use crate::histogram::{HistogramCell, Told};
use crate::kind::Kind;
use crate::snapshot::Value;

/// The numbers of one kind.
pub(crate) trait Cell: Sized {
    const KIND: Kind;

    /// True if each key of a series has its own cell, or all share one.
    const EACH_KEY_ITS_OWN: bool;

    /// Returns the numbers of a metric called `name`.
    fn new(buckets: &Buckets, name: &str) -> Self;

    /// Returns the value of a series from the cells of its keys.
    fn read(cells: &[Arc<Self>]) -> Value;

    /// Returns the number of values that could not be recorded, and of those below zero that are
    /// counted as zero.
    fn told(&self) -> Told {
        Told::default()
    }
}

impl Cell for CounterCell {
    const KIND: Kind = Kind::Counter;
    const EACH_KEY_ITS_OWN: bool = true; // `absolute` must know what its key has counted

    fn new(_: &Buckets, _: &str) -> CounterCell {
        CounterCell::default()
    }

    fn read(cells: &[Arc<CounterCell>]) -> Value {
        Value::Counter(cells.iter().fold(0, |sum, cell| sum.wrapping_add(cell.get())))
    }
}

impl Cell for GaugeCell {
    const KIND: Kind = Kind::Gauge;
    const EACH_KEY_ITS_OWN: bool = false; // the last value set counts

    fn new(_: &Buckets, _: &str) -> GaugeCell {
        GaugeCell::default()
    }

    fn read(cells: &[Arc<GaugeCell>]) -> Value {
        Value::Gauge(cells[0].get())
    }
}

impl Cell for HistogramCell {
    const KIND: Kind = Kind::Histogram;
    const EACH_KEY_ITS_OWN: bool = false; // records add up in any case

    fn new(buckets: &Buckets, name: &str) -> HistogramCell {
        HistogramCell::new(buckets.of(name))
    }

    fn read(cells: &[Arc<HistogramCell>]) -> Value {
        Value::Histogram(cells[0].get())
    }

    fn told(&self) -> Told {
        self.told()
    }
}

//! What the registry knows of a kind's numbers.

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

    /// Whether each key of a series has its own, or all have one.
    const EACH_KEY_ITS_OWN: bool;

    /// Returns the numbers of a metric called `name`.
    fn new(buckets: &Buckets, name: &str) -> Self;

    /// Returns what the keys of one series have come to.
    fn read(cells: &[Arc<Self>]) -> Value;

    /// Returns how many values could not be recorded, and how many are counted as zero since they
    /// are below it.
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
    const EACH_KEY_ITS_OWN: bool = false; // what was set last is what counts

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

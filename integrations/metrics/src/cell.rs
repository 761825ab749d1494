//! What the registry knows of a kind's numbers.

use std::sync::Arc;

use crate::counter::CounterCell;
use crate::gauge::GaugeCell;
use crate::histogram::HistogramCell;
use crate::kind::Kind;
use crate::registry::{Config, State, Table};
use crate::snapshot::Value;

/// The numbers of one kind.
pub(crate) trait Cell: Sized {
    const KIND: Kind;

    /// Whether each key of a series has its own, or all have one.
    const EACH_KEY_ITS_OWN: bool;

    fn new(config: &Config, name: &str) -> Self;

    /// What the keys of one series have come to.
    fn read(cells: &[Arc<Self>]) -> Value;

    /// How many values could not be recorded.
    fn unrecorded(&self) -> u64 {
        0
    }

    fn table(state: &State) -> &Table<Self>;

    fn table_mut(state: &mut State) -> &mut Table<Self>;
}

impl Cell for CounterCell {
    const KIND: Kind = Kind::Counter;
    const EACH_KEY_ITS_OWN: bool = true; // `absolute` must know what its key has counted

    fn new(_: &Config, _: &str) -> CounterCell {
        CounterCell::default()
    }

    fn read(cells: &[Arc<CounterCell>]) -> Value {
        Value::Counter(cells.iter().fold(0, |sum, cell| sum.wrapping_add(cell.get())))
    }

    fn table(state: &State) -> &Table<CounterCell> {
        &state.counters
    }

    fn table_mut(state: &mut State) -> &mut Table<CounterCell> {
        &mut state.counters
    }
}

impl Cell for GaugeCell {
    const KIND: Kind = Kind::Gauge;
    const EACH_KEY_ITS_OWN: bool = false; // what was set last is what counts

    fn new(_: &Config, _: &str) -> GaugeCell {
        GaugeCell::default()
    }

    fn read(cells: &[Arc<GaugeCell>]) -> Value {
        Value::Gauge(cells[0].get())
    }

    fn table(state: &State) -> &Table<GaugeCell> {
        &state.gauges
    }

    fn table_mut(state: &mut State) -> &mut Table<GaugeCell> {
        &mut state.gauges
    }
}

impl Cell for HistogramCell {
    const KIND: Kind = Kind::Histogram;
    const EACH_KEY_ITS_OWN: bool = false; // records add up in any case

    fn new(config: &Config, name: &str) -> HistogramCell {
        HistogramCell::new(config.buckets.of(name))
    }

    fn read(cells: &[Arc<HistogramCell>]) -> Value {
        Value::Histogram(cells[0].get())
    }

    fn unrecorded(&self) -> u64 {
        self.unrecorded()
    }

    fn table(state: &State) -> &Table<HistogramCell> {
        &state.histograms
    }

    fn table_mut(state: &mut State) -> &mut Table<HistogramCell> {
        &mut state.histograms
    }
}

//! The metrics of a file with their numbers, as a reader has found them.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use windrow::histogram::Distribution;

use crate::entries::Entries;
use crate::error::MappedError;
use crate::extreme::of_columns;
use crate::kind::Kind;
use crate::layout::entry::Entry;
use crate::owners::{Level, Owner, Parts};
use crate::text;

/// The numbers of a file, as [`Reader::read`](crate::Reader::read) has found them.
#[derive(Clone)]
pub struct Reading {
    entries: Arc<Entries>,
    /// The sum of each column's cells, or the greatest of them if they have extremes.
    values: Vec<u64>,
    owners: Arc<[Parts]>,
}

impl Reading {
    /// Makes a reading of entries, the values of all their columns, and the owners of slots.
    pub(crate) fn new(entries: Arc<Entries>, values: Vec<u64>, owners: Vec<Parts>) -> Reading {
        Reading { entries, values, owners: owners.into() }
    }

    /// Returns the metrics in the order in which they were registered.
    ///
    /// Paces, and metrics of a kind that this version does not know, are passed over.
    pub fn metrics(&self) -> impl Iterator<Item = Metric<'_>> {
        self.entries.list.iter().filter_map(|entry| self.metric(entry))
    }

    /// Returns the metrics with a name, one for each set of labels.
    pub fn named(&self, name: &str) -> impl Iterator<Item = Metric<'_>> {
        self.entries.named(name).filter_map(|entry| self.metric(entry))
    }

    /// Returns the metric with this name and these labels; `None` if the file has none.
    ///
    /// # Errors
    ///
    /// [`MappedError::BadName`], if no file can have the name or the labels.
    pub fn get(
        &self,
        name: &str,
        labels: &[(&str, &str)],
    ) -> Result<Option<Metric<'_>>, MappedError> {
        let entry = self.entries.find(&text::join(name, labels)?);
        Ok(entry.and_then(|entry| self.metric(entry)))
    }

    /// Returns the processes that have a slot and live, and the dead ones whose slots no other
    /// process has taken since. So a process that hangs is told from one that has ended.
    pub fn owners(&self) -> impl Iterator<Item = Owner> {
        self.owners.iter().map(|parts| parts.owner)
    }

    /// Returns the sum that a counter of a later reading of the same file had in this one: zero if
    /// it was not registered yet.
    pub(crate) fn sum_before(&self, later: &Metric<'_>) -> u64 {
        self.values.get(later.entry.column as usize).copied().unwrap_or(0)
    }

    fn metric<'r>(&'r self, entry: &'r Entry) -> Option<Metric<'r>> {
        let kind = entry.kind()?;
        let column = |number| self.values[(entry.column + number) as usize];
        let value = match kind {
            Kind::Counter => Value::Count(column(0)),
            Kind::Maximum => Value::Extreme(of_columns(column(0), column(1))),
            Kind::Minimum => Value::Extreme(of_columns(column(0), column(1)).map(|value| !value)),
            Kind::Histogram(_) => {
                let cells = self.columns(entry)[1..].iter();
                Value::Values { count: cells.fold(0, |all, n| n.wrapping_add(all)), sum: column(0) }
            }
            Kind::Gauge | Kind::InFlight => Value::Level(Level::of(&self.owners, entry.word())),
            Kind::Pace | Kind::Paces => return None,
        };
        Some(Metric { reading: self, entry, kind, value })
    }

    /// Returns the values of an entry's columns.
    fn columns(&self, entry: &Entry) -> &[u64] {
        &self.values[entry.column as usize..][..entry.columns as usize]
    }
}

/// Shows the metrics.
impl Debug for Reading {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.metrics()).finish()
    }
}

/// A metric in a [`Reading`].
#[derive(Clone, Copy)]
pub struct Metric<'r> {
    reading: &'r Reading,
    entry: &'r Entry,
    kind: Kind,
    value: Value,
}

/// The value of a [`Metric`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// The sum of a counter over all processes, wrapping at 2^64.
    Count(u64),
    /// The greatest value of a maximum, or the least one of a minimum; `None` if no value was
    /// recorded.
    Extreme(Option<u64>),
    /// The number of values of a histogram over all processes, and their sum, both wrapping at
    /// 2^64. Values of 2^60 or more are no part of the sum.
    Values {
        /// The number of values.
        count: u64,
        /// The sum of the values.
        sum: u64,
    },
    /// The level of a gauge, or of operations in progress.
    Level(Level),
}

impl<'r> Metric<'r> {
    /// Returns the name.
    pub fn name(&self) -> &'r str {
        text::name(&self.entry.text)
    }

    /// Returns the name and the value of each label, in the order of the names.
    pub fn labels(&self) -> impl Iterator<Item = (&'r str, &'r str)> + use<'r> {
        text::labels(&self.entry.text)
    }

    /// Returns the kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the value, over all processes.
    pub fn value(&self) -> Value {
        self.value
    }

    /// Returns the sum of a counter; `None` for any other kind.
    pub fn sum(&self) -> Option<u64> {
        match self.value {
            Value::Count(sum) => Some(sum),
            _ => None,
        }
    }

    /// Returns the level of a gauge, or of operations in progress; `None` for any other kind.
    pub fn level(&self) -> Option<Level> {
        match self.value {
            Value::Level(level) => Some(level),
            _ => None,
        }
    }

    /// Returns each process with its part of a gauge, or of operations in progress; for any other
    /// kind none.
    pub fn parts(&self) -> impl Iterator<Item = (Owner, i64)> + use<'r> {
        let word = self.level().map(|_| self.entry.detail as usize);
        let parts = self.reading.owners.iter();
        parts.filter_map(move |parts| Some((parts.owner, parts.words[word?])))
    }

    /// Returns the values of a histogram; `None` for any other kind. The extremes are bounds in the
    /// cells that were used.
    pub fn distribution(&self) -> Option<Distribution> {
        let Kind::Histogram(scale) = self.kind else { return None };
        let columns = self.reading.columns(self.entry);
        Some(Distribution::from_counts(scale, &columns[1..], columns[0]))
    }

    /// Returns a number that no other metric of the file has or will have.
    pub(crate) fn number(&self) -> u64 {
        match self.value {
            Value::Level(_) => 1 << 31 | self.entry.detail, // its word: no column is as great
            _ => self.entry.column.into(),
        }
    }
}

shown! {
    /// Shows name, labels and value.
    Metric<'_>(metric) {
        name: metric.name(), labels: metric.labels().collect::<Vec<_>>(), value: metric.value
    }
}

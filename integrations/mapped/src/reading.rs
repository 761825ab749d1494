//! The metrics of a file with their numbers, as a reader has found them.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use crate::entries::Entries;
use crate::kind::Kind;
use crate::layout::entry::Entry;
use crate::name_error::NameError;
use crate::text;

/// The numbers of a file, as [`Reader::read`](crate::Reader::read) has found them.
#[derive(Clone)]
pub struct Reading {
    entries: Arc<Entries>,
    /// The sum of each column.
    sums: Vec<u64>,
}

impl Reading {
    /// Makes a reading of entries and the sums of all their columns.
    pub(crate) fn new(entries: Arc<Entries>, sums: Vec<u64>) -> Reading {
        Reading { entries, sums }
    }

    /// Returns the metrics in the order in which they were registered.
    ///
    /// Metrics of a kind that this version does not know are passed over.
    pub fn metrics(&self) -> impl Iterator<Item = Metric<'_>> {
        self.entries.list().iter().filter_map(|entry| self.metric(entry))
    }

    /// Returns the metrics with a name, one for each set of labels.
    pub fn named(&self, name: &str) -> impl Iterator<Item = Metric<'_>> {
        self.entries.named(name).filter_map(|entry| self.metric(entry))
    }

    /// Returns the metric with this name and these labels; `None` if the file has none.
    ///
    /// # Errors
    ///
    /// [`NameError`], if no file can have the name or the labels.
    pub fn get(
        &self,
        name: &str,
        labels: &[(&str, &str)],
    ) -> Result<Option<Metric<'_>>, NameError> {
        let entry = self.entries.find(&text::join(name, labels)?);
        Ok(entry.and_then(|entry| self.metric(entry)))
    }

    fn metric<'r>(&'r self, entry: &'r Entry) -> Option<Metric<'r>> {
        let kind = Kind::of(entry.kind).filter(|kind| kind.columns() == entry.columns)?;
        Some(Metric { entry, kind, sum: self.sums[entry.column as usize] })
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
    entry: &'r Entry,
    kind: Kind,
    sum: u64,
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

    /// Returns the sum over all processes, wrapping.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// Returns a number that no other metric of the file has or will have.
    pub(crate) fn number(&self) -> u64 {
        self.entry.column.into()
    }
}

/// Shows name, labels and sum.
impl Debug for Metric<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let labels: Vec<_> = self.labels().collect();
        f.debug_struct("Metric")
            .field("name", &self.name())
            .field("labels", &labels)
            .field("sum", &self.sum)
            .finish_non_exhaustive()
    }
}

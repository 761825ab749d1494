//! The data points of a series: what a reading becomes, as totals or as changes.

use windrow::exemplar::Exemplar;
use windrow::export::{PartKind, Reading, Sample, Value};
use windrow::histogram::Distribution;

use crate::acknowledged::{State, Total};
use crate::attributes::{Attribute, Attributes};
use crate::clock::Clock;
use crate::draft::{Draft, Frame, Kind, put_number};
use crate::histograms::{HistogramForm, put_exponential, put_octaves};
use crate::number::Number;
use crate::rules::Described;
use crate::temporality::Temporality;

/// Makes the points of all series.
pub(crate) struct PointMaker {
    pub(crate) temporality: Temporality,
    pub(crate) histograms: HistogramForm,
    pub(crate) clock: Clock,
}

/// The data points of a series.
pub(crate) struct Points<'c> {
    maker: &'c PointMaker,
    draft: &'c mut Draft,
    /// The start of all-time totals and levels.
    born: u64,
    /// The start of deltas.
    start: u64,
    time: u64,
    /// `None` if totals are sent.
    changes: Option<Changes>,
}

/// The acknowledged state that deltas are counted from, and the one that they lead to. Of the
/// exemplars that were sent, the latter has those that are still there, and those that are put now.
#[derive(Default)]
struct Changes {
    before: State,
    reached: State,
    /// True if a delta is not zero.
    has_changed: bool,
}

impl PointMaker {
    /// Begins the points of a series, in an empty draft. `known` is its acknowledged state.
    pub(crate) fn begin<'c>(
        &'c self,
        born: u64,
        began: u64,
        known: Option<&State>,
        draft: &'c mut Draft,
    ) -> Points<'c> {
        draft.clear();
        let start = known.map_or(born, |known| known.time);
        let time = end(began, born.max(start), || self.clock.now());
        let before = || known.cloned().unwrap_or_default();
        let changes = (self.temporality == Temporality::Delta)
            .then(|| Changes { before: before(), ..Changes::default() });
        Points { maker: self, draft, born, start, time, changes }
    }
}

impl Changes {
    /// Takes a total and its exemplars. Returns the change since the acknowledged total, and the
    /// exemplars that were not sent with that; `None` if nothing has changed.
    fn take(&mut self, total: Total, all: &[Exemplar]) -> Option<(Total, Vec<Exemplar>)> {
        let Changes { before: State { totals, exemplars, .. }, reached, .. } = self;
        let before = totals.get(reached.totals.len());
        let change = before.and_then(|before| total.since(before));
        let change = change.unwrap_or_else(|| total.clone());
        let is_sent = |exemplar: &Exemplar| exemplars.contains(exemplar);
        let (sent, new): (Vec<_>, Vec<_>) = all.iter().copied().partition(is_sent);
        reached.exemplars.extend(sent);
        if change.is_zero() {
            // A record adds to the sum first. If it is under way, the sum may have its value and no
            // cell has: the value stays to be sent, with its count.
            let none = || Total::Values(Distribution::default());
            reached.totals.push(match total {
                Total::Values(_) => before.cloned().unwrap_or_else(none),
                number => number,
            });
            return None;
        }
        reached.totals.push(total);
        reached.exemplars.extend(&new);
        self.has_changed = true;
        Some((change, new))
    }
}

impl Points<'_> {
    /// Adds the points of a reading. `attributes` has those of the series, and keeps them.
    pub(crate) fn add_all(
        &mut self,
        described: &Described,
        reading: &Reading,
        attributes: &mut Attributes,
    ) {
        let own = attributes.len();
        for (index, (part, _)) in described.parts.iter().enumerate() {
            reading.samples(part, &mut |sample| {
                for (name, value) in sample.labels() {
                    attributes.push(name, Attribute::Text(value));
                }
                self.add(index, part.kind, attributes, &sample);
                attributes.truncate(own);
            });
        }
    }

    fn add(&mut self, index: usize, part: PartKind, attributes: &Attributes, sample: &Sample<'_>) {
        let frame = |start| Frame { attributes, exemplars: &[], start, time: self.time };
        match part {
            PartKind::Level => self.put(index, Kind::Level, sample.value, frame(self.born)),
            PartKind::Gauge | PartKind::RealGauge => {
                self.put(index, Kind::Gauge, sample.value, frame(0));
            }
            PartKind::Counter | PartKind::RealCounter | PartKind::Histogram => {
                self.total(index, attributes, sample.value, sample.exemplars);
            }
        }
    }

    /// Adds a point of a total, with its exemplars; or of its change and those that the collector
    /// does not have, if it has changed.
    pub(crate) fn total(
        &mut self,
        index: usize,
        attributes: &Attributes,
        total: Value<'_>,
        exemplars: &[Exemplar],
    ) {
        let kind = match (total, self.maker.histograms) {
            (Value::Distribution(_), HistogramForm::Exponential) => Kind::Exponential,
            (Value::Distribution(_), HistogramForm::Octaves) => Kind::Octaves,
            _ => Kind::Count,
        };
        let frame = Frame { attributes, exemplars, start: self.start, time: self.time };
        let Some(changes) = &mut self.changes else {
            return self.put(index, kind, total, frame);
        };
        let taken = Total::of(total).and_then(|total| changes.take(total, exemplars));
        if let Some((change, new)) = taken {
            self.put(index, kind, change.value(), Frame { exemplars: &new, ..frame });
        }
    }

    fn put(&mut self, index: usize, kind: Kind, value: Value<'_>, frame: Frame<'_>) {
        self.draft.add(index, kind, |to| match value {
            Value::Distribution(values) if kind == Kind::Octaves => put_octaves(values, frame, to),
            Value::Distribution(values) => put_exponential(values, frame, to),
            Value::Count(number) | Value::Unsigned(number) => {
                put_number(Number::of(number), frame, to);
            }
            Value::Signed(number) => put_number(Number::Int(number), frame, to),
            Value::Real(number) | Value::RealTotal(number) => {
                put_number(Number::Double(number), frame, to);
            }
        });
    }

    /// Ends the points, which are in the draft. Returns the state that they lead to, if totals are
    /// kept, and whether the series has changed since the acknowledged one.
    pub(crate) fn finish(self) -> Option<(State, bool)> {
        let Changes { reached, has_changed, .. } = self.changes?;
        let has_totals = !reached.totals.is_empty();
        has_totals.then_some((State { time: self.time, ..reached }, has_changed))
    }
}

/// Returns the end of a point: the time at which the visit began.
///
/// A series may be younger than that, or made while the system's clock was ahead. A point ends
/// after its beginning, since OTLP takes one of no length for an unknown beginning.
fn end(began: u64, start: u64, now: impl FnOnce() -> u64) -> u64 {
    if began > start { began } else { now().max(start.saturating_add(1)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_ends_after_its_beginning() {
        assert_eq!(end(7, 6, || unreachable!()), 7);
        assert_eq!(end(7, 8, || 9), 9); // of a series that was just made
        assert_eq!(end(7, 7, || 7), 8);
        assert_eq!(end(7, 100, || 7), 101); // of one that was made in the future
    }
}

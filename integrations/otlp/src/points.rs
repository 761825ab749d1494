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

/// The state that deltas are counted from, and the one that they lead to.
struct Changes {
    /// The acknowledged totals that the series' own are counted from, in their order.
    before: Vec<Total>,
    totals: Vec<Total>,
    /// The exemplars that were sent with the acknowledged totals.
    sent: Vec<Exemplar>,
    /// Those of them that are still there, and those that are put now.
    exemplars: Vec<Exemplar>,
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
        let changes = (self.temporality == Temporality::Delta).then(|| Changes::since(known));
        Points { maker: self, draft, born, start, time, changes }
    }
}

impl Changes {
    fn since(known: Option<&State>) -> Changes {
        let (before, sent) = match known {
            Some(known) => (known.totals.clone(), known.exemplars.clone()),
            None => (Vec::new(), Vec::new()),
        };
        let (totals, exemplars) = (Vec::new(), Vec::new());
        Changes { before, totals, sent, exemplars, has_changed: false }
    }

    /// Notes a total, and returns what `difference` makes of the acknowledged one.
    fn note<R>(&mut self, total: Total, difference: impl FnOnce(&Total) -> Option<R>) -> Option<R> {
        let changed = self.before.get(self.totals.len()).and_then(difference);
        self.totals.push(total);
        changed
    }

    /// Puts the acknowledged distribution in the place of the noted one, which has no other counts.
    ///
    /// A record adds to the sum first. If it is under way, the sum may have its value and no cell
    /// has: the value stays to be sent, with its count.
    fn keep_before(&mut self) {
        self.totals.pop();
        let before = self.before.get(self.totals.len()).cloned();
        self.totals.push(before.unwrap_or_else(|| Total::Values(Distribution::default())));
    }

    /// Returns the exemplars that were not sent with the acknowledged totals. Notes the others,
    /// which are there still.
    fn new_exemplars(&mut self, all: &[Exemplar]) -> Vec<Exemplar> {
        let is_sent = |exemplar: &&Exemplar| self.sent.contains(exemplar);
        let (sent, new): (Vec<&Exemplar>, Vec<&Exemplar>) = all.iter().partition(is_sent);
        self.exemplars.extend(sent);
        new.into_iter().copied().collect()
    }

    /// Notes exemplars that are put, with a change.
    fn put(&mut self, new: Vec<Exemplar>) {
        self.has_changed = true;
        self.exemplars.extend(new);
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

    fn add(&mut self, index: usize, kind: PartKind, attributes: &Attributes, sample: &Sample<'_>) {
        match sample.value {
            Value::Count(count) => self.count(index, attributes, count, sample.exemplars),
            Value::RealTotal(total) => self.real_total(index, attributes, total),
            Value::Distribution(values) => {
                self.distribution(index, attributes, values, sample.exemplars);
            }
            Value::Unsigned(number) => self.level(index, attributes, Number::of(number), kind),
            Value::Signed(number) => self.level(index, attributes, Number::Int(number), kind),
            Value::Real(number) => self.level(index, attributes, Number::Double(number), kind),
        }
    }

    /// Adds a point of a counter.
    pub(crate) fn count(
        &mut self,
        index: usize,
        attributes: &Attributes,
        count: u64,
        exemplars: &[Exemplar],
    ) {
        let changed = self.changes.as_mut().and_then(|changes| {
            changes.note(Total::Count(count), |before| match before {
                // A total never goes back: a lower one has wrapped.
                Total::Count(before) => Some(count.wrapping_sub(*before)),
                _ => None,
            })
        });
        self.counted(index, attributes, Number::of(changed.unwrap_or(count)), exemplars);
    }

    /// Adds a point of a total that the program computes.
    fn real_total(&mut self, index: usize, attributes: &Attributes, total: f64) {
        let changed = self.changes.as_mut().and_then(|changes| {
            changes.note(Total::Real(total), |before| match before {
                // A lower one has begun anew, at zero.
                Total::Real(before) if *before <= total => Some(total - before),
                _ => None,
            })
        });
        self.counted(index, attributes, Number::Double(changed.unwrap_or(total)), &[]);
    }

    /// Adds a point of a counter, unless it is a change by zero.
    fn counted(
        &mut self,
        index: usize,
        attributes: &Attributes,
        number: Number,
        exemplars: &[Exemplar],
    ) {
        let is_zero = number.is_zero();
        self.put(index, Kind::Count, attributes, exemplars, is_zero, |frame, to| {
            put_number(number, frame, to);
        });
    }

    /// Adds a point of a distribution, unless it is an empty change.
    fn distribution(
        &mut self,
        index: usize,
        attributes: &Attributes,
        values: &Distribution,
        exemplars: &[Exemplar],
    ) {
        let changed = self.changes.as_mut().and_then(|changes| {
            changes.note(Total::Values(values.clone()), |before| match before {
                Total::Values(before) => values.since(before).ok(),
                _ => None,
            })
        });
        let changed = changed.as_ref().unwrap_or(values);
        let is_empty = changed.count() == 0;
        if is_empty && let Some(changes) = &mut self.changes {
            changes.keep_before();
        }
        let (kind, put): (_, fn(&Distribution, Frame<'_>, &mut Vec<u8>)) =
            match self.maker.histograms {
                HistogramForm::Exponential => (Kind::Exponential, put_exponential),
                HistogramForm::Octaves => (Kind::Octaves, put_octaves),
            };
        self.put(index, kind, attributes, exemplars, is_empty, |frame, to| put(changed, frame, to));
    }

    /// Adds the point that `put` appends, with the exemplars that the collector does not have;
    /// unless it is a change that `is_zero`.
    fn put(
        &mut self,
        index: usize,
        kind: Kind,
        attributes: &Attributes,
        exemplars: &[Exemplar],
        is_zero: bool,
        put: impl FnOnce(Frame<'_>, &mut Vec<u8>),
    ) {
        let (start, time) = (self.start, self.time);
        let Some(changes) = &mut self.changes else {
            let frame = Frame { attributes, exemplars, start, time };
            self.draft.add(index, kind, |to| put(frame, to));
            return;
        };
        let new = changes.new_exemplars(exemplars);
        if is_zero {
            return;
        }
        let frame = Frame { attributes, exemplars: &new, start, time };
        self.draft.add(index, kind, |to| put(frame, to));
        changes.put(new);
    }

    /// Adds a point of a level or of a gauge.
    fn level(&mut self, index: usize, attributes: &Attributes, number: Number, kind: PartKind) {
        let (kind, start) = match kind {
            PartKind::Level => (Kind::Level, self.born),
            _ => (Kind::Gauge, 0),
        };
        let frame = Frame { attributes, exemplars: &[], start, time: self.time };
        self.draft.add(index, kind, |to| put_number(number, frame, to));
    }

    /// Ends the points, which are in the draft. Returns the state that they lead to, if totals are
    /// kept, and whether the series has changed since the acknowledged one.
    pub(crate) fn finish(self) -> Option<(State, bool)> {
        let Changes { totals, exemplars, has_changed, .. } = self.changes?;
        if totals.is_empty() {
            return None;
        }
        Some((State { time: self.time, totals, exemplars }, has_changed))
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

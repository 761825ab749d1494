//! The data points of a series: what a reading becomes, as totals or as changes.

use windrow::exemplar::Exemplar;
use windrow::export::{PartKind, Sample, Value};
use windrow::histogram::Distribution;

use crate::acknowledged::Number as SeriesNumber;
use crate::acknowledged::{Acknowledged, Pending, State, Total};
use crate::attributes::{Attribute, Attributes};
use crate::batch::{Batches, Open};
use crate::clock::Clock;
use crate::draft::{Draft, Frame, Kind, put_number};
use crate::histograms::{HistogramForm, put_exponential, put_octaves};
use crate::number::Number;
use crate::read::Read;
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
    source: usize,
    series: SeriesNumber,
    /// The start of all-time totals and levels.
    born: u64,
    /// The start of deltas.
    start: u64,
    time: u64,
    acknowledged: &'c mut Acknowledged,
    draft: &'c mut Draft,
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
    /// Begins the points of a series.
    pub(crate) fn begin<'c>(
        &'c self,
        source: usize,
        read: &Read,
        began: u64,
        acknowledged: &'c mut Acknowledged,
        draft: &'c mut Draft,
    ) -> Points<'c> {
        draft.clear();
        let born = read.born;
        let known = match self.temporality {
            Temporality::Cumulative => None,
            Temporality::Delta => acknowledged.look_up(source, read.series).cloned(),
        };
        let known =
            known.unwrap_or(State { time: born, totals: Vec::new(), exemplars: Vec::new() });
        let State { time: start, totals: before, exemplars: sent } = known;
        let time = end(began, born.max(start), || self.clock.now());
        Points {
            maker: self,
            source,
            series: read.series,
            born,
            start,
            time,
            acknowledged,
            draft,
            before,
            totals: Vec::new(),
            sent,
            exemplars: Vec::new(),
            has_changed: false,
        }
    }
}

impl Points<'_> {
    /// Adds the points of a reading. `attributes` has those of the series, and keeps them.
    pub(crate) fn add_all(
        &mut self,
        described: &Described,
        read: &Read,
        attributes: &mut Attributes,
    ) {
        let Some(reading) = &read.reading else { return };
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
            Value::Count(count) => {
                let exemplars = self.new_exemplars(sample);
                self.count(index, attributes, count, exemplars);
            }
            Value::RealTotal(total) => self.real_total(index, attributes, total),
            Value::Distribution(values) => {
                let total = || Total::Values(values.clone());
                let changed = self.change(total, |before| match before {
                    Some(Total::Values(before)) => values.since(before).ok(),
                    _ => None,
                });
                let changed = changed.as_ref().unwrap_or(values);
                let exemplars = self.new_exemplars(sample);
                if self.is_delta() && changed.is_empty() {
                    self.keep_before();
                    return;
                }
                self.has_changed = true;
                let (start, time) = (self.start, self.time);
                let frame = Frame { attributes, exemplars: &exemplars, start, time };
                let (kind, put): (_, fn(&Distribution, Frame<'_>, &mut Vec<u8>)) =
                    match self.maker.histograms {
                        HistogramForm::Exponential => (Kind::Exponential, put_exponential),
                        HistogramForm::Octaves => (Kind::Octaves, put_octaves),
                    };
                self.draft.add(index, kind, |to| put(changed, frame, to));
                self.note(exemplars);
            }
            Value::Unsigned(number) => self.level(index, attributes, Number::of(number), kind),
            Value::Signed(number) => self.level(index, attributes, Number::Int(number), kind),
            Value::Real(number) => self.level(index, attributes, Number::Double(number), kind),
        }
    }

    fn is_delta(&self) -> bool {
        self.maker.temporality == Temporality::Delta
    }

    /// Notes a total, and returns what `difference` makes of the acknowledged one; `None` if totals
    /// are sent.
    fn change<R>(
        &mut self,
        total: impl FnOnce() -> Total,
        difference: impl FnOnce(Option<&Total>) -> Option<R>,
    ) -> Option<R> {
        if !self.is_delta() {
            return None;
        }
        let changed = difference(self.before.get(self.totals.len()));
        self.totals.push(total());
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

    /// Returns the exemplars to send with a sample: those that were not sent with the acknowledged
    /// totals, or all of them if totals are sent. Notes the others, which are there still.
    fn new_exemplars(&mut self, sample: &Sample<'_>) -> Vec<Exemplar> {
        let is_sent = |exemplar: &&Exemplar| self.sent.contains(exemplar);
        let (sent, new): (Vec<&Exemplar>, Vec<&Exemplar>) =
            sample.exemplars.iter().partition(is_sent);
        self.exemplars.extend(sent);
        new.into_iter().copied().collect()
    }

    /// Notes exemplars that are put.
    fn note(&mut self, new: Vec<Exemplar>) {
        if self.is_delta() {
            self.exemplars.extend(new);
        }
    }

    /// Adds a point of a counter.
    pub(crate) fn count(
        &mut self,
        index: usize,
        attributes: &Attributes,
        count: u64,
        exemplars: Vec<Exemplar>,
    ) {
        let changed = self.change(
            || Total::Count(count),
            |before| match before {
                // A total never goes back: a lower one has wrapped.
                Some(Total::Count(before)) => Some(count.wrapping_sub(*before)),
                _ => None,
            },
        );
        self.counted(index, attributes, Number::of(changed.unwrap_or(count)), exemplars);
    }

    /// Adds a point of a total that the program computes.
    fn real_total(&mut self, index: usize, attributes: &Attributes, total: f64) {
        let changed = self.change(
            || Total::Real(total),
            |before| match before {
                // A lower one has begun anew, at zero.
                Some(Total::Real(before)) if *before <= total => Some(total - before),
                _ => None,
            },
        );
        let changed = Number::Double(changed.unwrap_or(total));
        self.counted(index, attributes, changed, Vec::new());
    }

    /// Adds a point of a counter, unless it is a change by zero.
    fn counted(
        &mut self,
        index: usize,
        attributes: &Attributes,
        number: Number,
        exemplars: Vec<Exemplar>,
    ) {
        if self.is_delta() && number.is_zero() {
            return;
        }
        self.has_changed = true;
        let (start, time) = (self.start, self.time);
        let frame = Frame { attributes, exemplars: &exemplars, start, time };
        self.draft.add(index, Kind::Count, |to| put_number(number, frame, to));
        self.note(exemplars);
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

    /// Puts the points into requests.
    pub(crate) fn finish(self, batches: &mut Batches<'_>, open: &mut Open, of: &Described) {
        let mut pending = None;
        if !self.totals.is_empty() {
            let state = State { time: self.time, totals: self.totals, exemplars: self.exemplars };
            let reached = Pending { source: self.source, series: self.series, state };
            if self.has_changed {
                pending = Some(reached);
            } else {
                // Nothing is sent that a collector could miss.
                self.acknowledged.acknowledge(reached);
            }
        }
        batches.add(open, of, self.draft, pending);
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

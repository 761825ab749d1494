//! The data points of a series: what a reading becomes, as totals or as changes.

use std::mem::take;

use windrow::exemplar::Exemplar;
use windrow::export::{PartKind, Sample, Value};
use windrow::histogram::Distribution;

use crate::acknowledged::Number as SeriesNumber;
use crate::acknowledged::{Acknowledged, Pending, State, Total};
use crate::batch::{Batches, Open, Point};
use crate::clock::Clock;
use crate::exemplars;
use crate::histograms::{Frame, HistogramForm, exponential, octaves};
use crate::message::{self, KeyValue, Number, NumberPoint};
use crate::read::Read;
use crate::rules::{Described, Name};
use crate::temporality::Temporality;

/// Makes the points of all series.
pub(crate) struct PointMaker {
    pub(crate) temporality: Temporality,
    pub(crate) histograms: HistogramForm,
    pub(crate) clock: Clock,
}

/// The data points of a series.
pub(crate) struct Points<'c, 'a> {
    maker: &'c PointMaker,
    source: usize,
    series: SeriesNumber,
    /// The start of all-time totals and levels.
    born: u64,
    /// The start of deltas.
    start: u64,
    time: u64,
    acknowledged: &'a mut Acknowledged,
    /// The acknowledged totals that the series' own are counted from, in their order.
    before: Vec<Total>,
    totals: Vec<Total>,
    /// The exemplars that were sent with the acknowledged totals.
    sent: Vec<Exemplar>,
    /// Those of them that are still there, and those that are put now.
    exemplars: Vec<Exemplar>,
    put: Vec<(usize, &'c Name, Point)>,
    /// True if a delta is not zero.
    has_changed: bool,
}

impl PointMaker {
    /// Begins the points of a series.
    pub(crate) fn begin<'c, 'a>(
        &'c self,
        source: usize,
        read: &Read,
        began: u64,
        acknowledged: &'a mut Acknowledged,
    ) -> Points<'c, 'a> {
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
            before,
            totals: Vec::new(),
            sent,
            exemplars: Vec::new(),
            put: Vec::new(),
            has_changed: false,
        }
    }
}

impl<'c> Points<'c, '_> {
    /// Adds the points of a reading.
    pub(crate) fn add_all(&mut self, described: &'c Described, read: &mut Read) {
        let Read { reading: Some(reading), attributes: own, .. } = read else { return };
        for (index, (part, name)) in described.parts.iter().enumerate() {
            reading.samples(part, &mut |sample| {
                // A metric without events has one sample.
                let only = sample.event.is_none();
                let mut attributes = if only { take(own) } else { own.clone() };
                attributes.extend(sample.labels().map(|(name, value)| KeyValue::text(name, value)));
                self.add(index, name, part.kind, attributes, &sample);
            });
        }
    }

    fn add(
        &mut self,
        index: usize,
        name: &'c Name,
        kind: PartKind,
        attributes: Vec<KeyValue>,
        sample: &Sample<'_>,
    ) {
        match sample.value {
            Value::Count(count) => {
                let exemplars = self.new_exemplars(sample);
                self.count(index, name, attributes, count, exemplars);
            }
            Value::RealTotal(total) => self.real_total(index, name, attributes, total),
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
                let exemplars = self.messages(exemplars);
                let frame = Frame { attributes, exemplars, start: self.start, time: self.time };
                let point = match self.maker.histograms {
                    HistogramForm::Exponential => Point::Exponential(exponential(changed, frame)),
                    HistogramForm::Octaves => Point::Octaves(octaves(changed, frame)),
                };
                self.put.push((index, name, point));
            }
            Value::Unsigned(number) => self.level(index, name, attributes, int(number), kind),
            Value::Signed(number) => self.level(index, name, attributes, Number::Int(number), kind),
            Value::Real(number) => {
                self.level(index, name, attributes, Number::Double(number), kind);
            }
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

    /// Returns the messages of exemplars that are put, and notes these.
    fn messages(&mut self, new: Vec<Exemplar>) -> Vec<message::Exemplar> {
        let messages = new.iter().map(exemplars::message).collect();
        if self.is_delta() {
            self.exemplars.extend(new);
        }
        messages
    }

    /// Adds a point of a counter.
    pub(crate) fn count(
        &mut self,
        index: usize,
        name: &'c Name,
        attributes: Vec<KeyValue>,
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
        self.counted(index, name, attributes, int(changed.unwrap_or(count)), exemplars);
    }

    /// Adds a point of a total that the program computes.
    fn real_total(&mut self, index: usize, name: &'c Name, attributes: Vec<KeyValue>, total: f64) {
        let changed = self.change(
            || Total::Real(total),
            |before| match before {
                // A lower one has begun anew, at zero.
                Some(Total::Real(before)) if *before <= total => Some(total - before),
                _ => None,
            },
        );
        let changed = Number::Double(changed.unwrap_or(total));
        self.counted(index, name, attributes, changed, Vec::new());
    }

    /// Adds a point of a counter, unless it is a change by zero.
    fn counted(
        &mut self,
        index: usize,
        name: &'c Name,
        attributes: Vec<KeyValue>,
        number: Number,
        exemplars: Vec<Exemplar>,
    ) {
        if self.is_delta() && (number == Number::Int(0) || number == Number::Double(0.0)) {
            return;
        }
        self.has_changed = true;
        let point = self.number(attributes, number, self.start);
        let exemplars = self.messages(exemplars);
        self.put.push((index, name, Point::Count(NumberPoint { exemplars, ..point })));
    }

    /// Adds a point of a level or of a gauge.
    fn level(
        &mut self,
        index: usize,
        name: &'c Name,
        attributes: Vec<KeyValue>,
        number: Number,
        kind: PartKind,
    ) {
        let point = self.number(attributes, number, self.born);
        let point = match kind {
            PartKind::Level => Point::Level(point),
            _ => Point::Gauge(NumberPoint { start_time_unix_nano: 0, ..point }),
        };
        self.put.push((index, name, point));
    }

    fn number(&self, attributes: Vec<KeyValue>, number: Number, start: u64) -> NumberPoint {
        NumberPoint {
            attributes,
            start_time_unix_nano: start,
            time_unix_nano: self.time,
            value: Some(number),
            exemplars: Vec::new(),
        }
    }

    /// Puts the points into requests.
    pub(crate) fn finish(self, batches: &mut Batches, open: &mut Open) {
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
        batches.add(open, self.put, pending);
    }
}

/// Returns the end of a point: the time at which the visit began.
///
/// A series may be younger than that, or made while the system's clock was ahead. A point ends
/// after its beginning, since OTLP takes one of no length for an unknown beginning.
fn end(began: u64, start: u64, now: impl FnOnce() -> u64) -> u64 {
    if began > start { began } else { now().max(start.saturating_add(1)) }
}

/// Returns a number as OTLP has it: an integer up to 2^63 - 1, and above that the nearest double.
fn int(number: u64) -> Number {
    i64::try_from(number).map_or(Number::Double(number as f64), Number::Int)
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

    #[test]
    fn numbers_beyond_those_of_otlp_are_doubles() {
        assert_eq!(int(i64::MAX.cast_unsigned()), Number::Int(i64::MAX));
        assert_eq!(int(u64::MAX), Number::Double(u64::MAX as f64));
    }
}

//! The numbers of a fleet: those of its processes, added up.
//!
//! Counts, sums and levels add up; extremes are the extremes of all; and the cells of distributions
//! are added one by one. So a percentile is that of all values, as if one process had recorded
//! them. Nothing is averaged.

use std::collections::{BTreeMap, HashMap};

use super::part::{Part, kind_of};
use super::reading::{Event, Metric, Numbers, Reading, Series};
use super::sum::Sum;
use crate::roles::Roles;
use crate::text::cut;

/// The metrics of a fleet, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(super) struct Merged {
    pub(super) metrics: Vec<Sums>,
    places: HashMap<String, usize>,
}

/// A metric of all processes.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    pub(super) name: String,
    pub(super) help: String,
    pub(super) form: String,
    /// The events that any process has; one without a name for a metric without events.
    pub(super) events: Vec<Event>,
    kinds: Vec<Option<&'static str>>,
    pub(super) rows: BTreeMap<String, Row>,
}

/// A series of all processes. Events that no process has had numbers for have none.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    /// The all-time numbers, including those of processes that are gone.
    pub(super) all: Vec<Option<Sum>>,
    /// The last numbers of the processes that are there.
    pub(super) last: Vec<Option<Sum>>,
    /// The processes that are there.
    pub(super) parts: Vec<Part>,
}

/// Adds numbers to those of an event.
fn add(sums: &mut Vec<Option<Sum>>, event: usize, numbers: Sum) {
    if sums.len() <= event {
        sums.resize(event + 1, None);
    }
    match &mut sums[event] {
        Some(sum) => sum.join(numbers),
        none => *none = Some(numbers),
    }
}

/// Adds the all-time numbers of a series, whose events have these places.
fn add_all(all: &mut Vec<Option<Sum>>, places: &[usize], series: &Series) {
    for (event, numbers) in places.iter().zip(&series.all) {
        add(all, *event, numbers.into());
    }
}

/// Returns the size of the cells of all sums.
fn cells(sums: &[Option<Sum>]) -> usize {
    sums.iter().flatten().map(Sum::cells).sum()
}

impl Merged {
    /// Returns the first thing in which a process differs from those that are already in it, so
    /// that its numbers cannot be added to theirs.
    pub(super) fn difference(&self, reading: &Reading) -> Option<String> {
        reading.metrics.iter().find_map(|metric| {
            let sums = &self.metrics[*self.places.get(&metric.name)?];
            sums.difference(metric)
        })
    }

    /// Adds the types of a process's metrics, without its numbers.
    pub(super) fn add_types(&mut self, reading: &Reading) {
        for metric in &reading.metrics {
            self.sums(metric).places(metric);
        }
    }

    /// Adds a process that is there.
    pub(super) fn add(&mut self, process: usize, reading: &Reading) {
        for metric in &reading.metrics {
            let sums = self.sums(metric);
            let places = sums.places(metric);
            let roles = (metric.form == "window").then(|| roles(metric));
            for series in &metric.series {
                let row = sums.rows.entry(series.key.clone()).or_default();
                add_all(&mut row.all, &places, series);
                for (event, numbers) in places.iter().zip(&series.last) {
                    add(&mut row.last, *event, numbers.into());
                }
                row.parts.push(Part::of(process, roles.as_ref(), series));
            }
        }
    }

    /// Adds the all-time numbers of a process that is gone: levels, which no longer are, are not
    /// added. Metrics that differ from those that are already there are left out.
    pub(super) fn add_gone(&mut self, reading: &Reading) {
        for metric in &reading.metrics {
            if self.can_add(metric) {
                let sums = self.sums(metric);
                let places = sums.places(metric);
                for series in &metric.series {
                    let row = sums.rows.entry(series.key.clone()).or_default();
                    add_all(&mut row.all, &places, series);
                }
            }
        }
    }

    /// Returns whether the all-time numbers of a metric can be added to those that are there.
    fn can_add(&self, metric: &Metric) -> bool {
        let known = self.places.get(&metric.name).map(|place| &self.metrics[*place]);
        metric.form != "gauge" && known.is_none_or(|known| known.difference(metric).is_none())
    }

    /// Keeps the sums of a process whose numbers are dropped. Of a metric that differs from the one
    /// before, the sums begin anew.
    ///
    /// Returns the number of series that are left out because all sums would be of a greater size
    /// than `most`: that is their number, by key and event, with the number of texts, where each
    /// 256 bytes are one more, as each 256 bytes of the [cells](Sum::cells) of distributions are.
    pub(super) fn keep_sums(&mut self, reading: &Reading, most: usize) -> usize {
        for metric in &reading.metrics {
            if let Some(place) = self.places.get(&metric.name)
                && self.metrics[*place].difference(metric).is_some()
            {
                self.metrics[*place] = Sums::of(metric);
            }
        }
        let taken: usize = self.metrics.iter().map(Sums::size).sum();
        let (mut room, mut left_out) = (most.saturating_sub(taken), 0);
        for metric in &reading.metrics {
            if !self.can_add(metric) {
                continue;
            }
            let known = self.places.get(&metric.name).map(|place| &self.metrics[*place]);
            let new = known.map_or_else(|| Sums::of(metric).size(), |known| known.more(metric));
            let Some(rest) = room.checked_sub(new) else {
                left_out += metric.series.len();
                continue;
            };
            room = rest;
            let sums = self.sums(metric);
            let places = sums.places(metric);
            for series in &metric.series {
                let row = sums.rows.get(&series.key);
                let own = row.map_or_else(|| size(&series.key) + sums.events.len(), |_| 0);
                // A copy: it is dropped if it is too large.
                let mut all = row.map(|row| row.all.clone()).unwrap_or_default();
                let before = cells(&all);
                add_all(&mut all, &places, series);
                let Some(rest) = (room + before).checked_sub(own + cells(&all)) else {
                    left_out += 1;
                    continue;
                };
                room = rest;
                sums.rows.entry(series.key.clone()).or_default().all = all;
            }
        }
        left_out
    }

    /// Adds sums that were kept.
    pub(super) fn add_kept(&mut self, kept: &Merged) {
        for metric in &kept.metrics {
            let Some(place) = self.places.get(&metric.name) else {
                self.places.insert(metric.name.clone(), self.metrics.len());
                self.metrics.push(metric.clone());
                continue;
            };
            let sums = &mut self.metrics[*place];
            if sums.form != metric.form || sums.differs_in(&metric.events, &metric.kinds).is_some()
            {
                continue;
            }
            let places = sums.places_of(&metric.events, &metric.kinds);
            for (key, kept) in &metric.rows {
                let row = sums.rows.entry(key.clone()).or_default();
                for (event, sum) in places.iter().zip(&kept.all) {
                    if let Some(sum) = sum {
                        add(&mut row.all, *event, sum.clone());
                    }
                }
            }
        }
    }

    fn sums(&mut self, metric: &Metric) -> &mut Sums {
        let next = self.metrics.len();
        let place = *self.places.entry(metric.name.clone()).or_insert(next);
        if place == next {
            self.metrics.push(Sums::of(metric));
        }
        &mut self.metrics[place]
    }
}

/// Returns the kinds of a metric's events; `None` for all, if it has no series yet.
fn kinds(metric: &Metric) -> Vec<Option<&'static str>> {
    let first = metric.series.first();
    let kind = |event: usize| first.and_then(|series| series.all.get(event)).map(Numbers::kind);
    (0..events(metric).len()).map(kind).collect()
}

/// Returns the size of a text that is kept.
fn size(text: &str) -> usize {
    1 + text.len() / 256
}

fn size_of(event: &Event) -> usize {
    size(&event.name) + event.unit.as_deref().map_or(0, size)
}

fn events(metric: &Metric) -> Vec<Event> {
    if metric.form == "window" {
        return metric.events.clone();
    }
    vec![Event { name: String::new(), unit: metric.unit.clone() }]
}

/// Returns the roles of a window's events.
pub(super) fn roles(metric: &Metric) -> Roles {
    let kinds = kinds(metric);
    let events = metric.events.iter().zip(kinds);
    let events = events.map(|(event, kind)| (event.name.as_str(), kind_of(kind)));
    Roles::of(&events.collect::<Vec<_>>())
}

impl Sums {
    fn of(metric: &Metric) -> Sums {
        Sums {
            name: metric.name.clone(),
            help: metric.help.clone(),
            form: metric.form.clone(),
            events: events(metric),
            kinds: kinds(metric),
            rows: BTreeMap::new(),
        }
    }

    /// Returns the name of an event; of the metric, if it has none.
    pub(super) fn name_of<'n>(&'n self, event: &'n Event) -> &'n str {
        if event.name.is_empty() { &self.name } else { &event.name }
    }

    /// Returns the name of a part's first number: a window has a rate, any other metric its value.
    pub(super) fn number_name(&self) -> &'static str {
        if self.form == "window" { "rate" } else { "value" }
    }

    /// Returns the unit of the values of the first event with percentiles.
    pub(super) fn values_unit(&self) -> Option<&str> {
        let event = self.kinds.iter().position(|kind| *kind == Some("Histogram"))?;
        self.events[event].unit.as_deref()
    }

    /// Returns the number of sums and texts, with the size of the cells.
    fn size(&self) -> usize {
        let texts = size(&self.name) + size(&self.help);
        let events: usize = self.events.iter().map(size_of).sum();
        let row = |(key, row): (&String, &Row)| size(key) + self.events.len() + cells(&row.all);
        let rows = self.rows.iter().map(row);
        texts + events + rows.sum::<usize>()
    }

    /// Returns the size that the events of a metric add to the rows that there are.
    fn more(&self, metric: &Metric) -> usize {
        let events = events(metric);
        let new = events.iter().filter(|event| self.place(&event.name).is_none());
        new.map(|event| size_of(event) + self.rows.len()).sum()
    }

    fn difference(&self, metric: &Metric) -> Option<String> {
        let name = cut(&self.name);
        if self.form != metric.form {
            let (here, there) = (&metric.form, &self.form);
            return Some(format!("`{name}` is a {here} here, and a {there} there"));
        }
        let events = events(metric);
        let (event, here, there) = self.differs_in(&events, &kinds(metric))?;
        Some(format!("`{}` of `{name}` is a {here} here, and a {there} there", cut(event)))
    }

    /// Returns an event that is of another kind, and both kinds.
    fn differs_in<'e>(
        &self,
        events: &'e [Event],
        kinds: &[Option<&'static str>],
    ) -> Option<(&'e str, &'static str, &'static str)> {
        events.iter().zip(kinds).find_map(|(event, kind)| {
            let there = self.kinds[self.place(&event.name)?];
            let (here, there) = (*kind).zip(there)?;
            (here != there).then_some((event.name.as_str(), here, there))
        })
    }

    fn place(&self, event: &str) -> Option<usize> {
        self.events.iter().position(|known| known.name == event)
    }

    fn places(&mut self, metric: &Metric) -> Vec<usize> {
        self.places_of(&events(metric), &kinds(metric))
    }

    /// Returns the places of these events. Those that no process had before are new.
    fn places_of(&mut self, events: &[Event], kinds: &[Option<&'static str>]) -> Vec<usize> {
        let mut places = Vec::new();
        for (event, kind) in events.iter().zip(kinds) {
            let place = self.place(&event.name).unwrap_or_else(|| {
                self.events.push(event.clone());
                self.kinds.push(None);
                self.events.len() - 1
            });
            self.kinds[place] = self.kinds[place].or(*kind);
            places.push(place);
        }
        places
    }
}

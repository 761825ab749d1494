//! The numbers of a fleet: those of its processes, added up.
//!
//! Counts, sums and levels add up; extremes are the extremes of all; and the cells of distributions
//! are added one by one. So a percentile is that of all values, as if one process had recorded
//! them. Nothing is averaged.

use std::collections::{BTreeMap, HashMap};

use windrow::histogram::Distribution;

use super::part::{Part, kind_of};
use super::reading::{Event, Metric, Numbers, Reading};
use crate::roles::Roles;

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

/// A sum of the numbers of an event.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Sum {
    Count(u128),
    Signed(i128),
    Value {
        count: u128,
        sum: u64,
        min: Option<u64>,
        max: Option<u64>,
    },
    /// Without values if those of two processes have no common cells.
    Histogram {
        count: u128,
        values: Option<Distribution>,
    },
    Maximum(Option<u64>),
    Minimum(Option<u64>),
    Real(f64),
}

impl From<&Numbers> for Sum {
    fn from(numbers: &Numbers) -> Sum {
        match numbers {
            Numbers::Count(count) => Sum::Count(u128::from(*count)),
            Numbers::Signed(sum) => Sum::Signed(i128::from(*sum)),
            Numbers::Value(stats) => Sum::Value {
                count: u128::from(stats.count),
                sum: stats.sum,
                min: stats.min,
                max: stats.max,
            },
            Numbers::Histogram(values) => {
                Sum::Histogram { count: u128::from(values.count()), values: Some(values.clone()) }
            }
            Numbers::Maximum(value) => Sum::Maximum(*value),
            Numbers::Minimum(value) => Sum::Minimum(*value),
            Numbers::Real(number) => Sum::Real(number.unwrap_or_default()),
        }
    }
}

impl Sum {
    /// Adds the numbers of another process. They are of one kind.
    fn join(&mut self, other: Sum) {
        match (self, other) {
            (Sum::Count(all), Sum::Count(count)) => *all += count,
            (Sum::Signed(all), Sum::Signed(sum)) => *all += sum,
            (Sum::Real(all), Sum::Real(number)) => *all += number,
            (Sum::Maximum(all), Sum::Maximum(value)) => *all = (*all).max(value),
            (Sum::Minimum(all), Sum::Minimum(value)) => *all = least(*all, value),
            (
                Sum::Value { count, sum, min, max },
                Sum::Value { count: more, sum: sums, min: low, max: high },
            ) => {
                *count += more;
                *sum = sum.wrapping_add(sums); // as it does in each process
                *min = least(*min, low);
                *max = (*max).max(high);
            }
            (Sum::Histogram { count, values }, Sum::Histogram { count: more, values: others }) => {
                *count += more;
                let merged = match (values.as_mut(), &others) {
                    (Some(values), Some(others)) => values.merge(others).is_ok(),
                    _ => false,
                };
                if !merged {
                    *values = None;
                }
            }
            _ => {} // kinds are compared before
        }
    }

    /// Returns the sum for a terminal.
    pub(super) fn text(&self) -> String {
        match self {
            Sum::Count(count) | Sum::Value { count, .. } | Sum::Histogram { count, .. } => {
                count.to_string()
            }
            Sum::Signed(sum) => sum.to_string(),
            Sum::Maximum(value) | Sum::Minimum(value) => {
                value.map_or_else(|| "none".to_owned(), |value| value.to_string())
            }
            Sum::Real(number) => format!("{number:?}"),
        }
    }
}

fn least(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    [one, other].into_iter().flatten().min()
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

impl Merged {
    /// Returns the first thing in which a process differs from those that are already in it, so
    /// that its numbers cannot be added to theirs.
    pub(super) fn difference(&self, reading: &Reading) -> Option<String> {
        reading.metrics.iter().find_map(|metric| {
            let sums = &self.metrics[*self.places.get(&metric.name)?];
            sums.difference(metric)
        })
    }

    /// Adds a process that is there.
    pub(super) fn add(&mut self, process: usize, reading: &Reading) {
        for metric in &reading.metrics {
            let sums = self.sums(metric);
            let places = sums.places(metric);
            let roles = (metric.form == "window").then(|| roles(metric));
            for series in &metric.series {
                let row = sums.rows.entry(series.key.clone()).or_default();
                for (event, numbers) in places.iter().zip(&series.all) {
                    add(&mut row.all, *event, numbers.into());
                }
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
            let known = self.places.get(&metric.name);
            let differs =
                known.is_some_and(|place| self.metrics[*place].difference(metric).is_some());
            if differs || metric.form == "gauge" {
                continue;
            }
            let sums = self.sums(metric);
            let places = sums.places(metric);
            for series in &metric.series {
                let row = sums.rows.entry(series.key.clone()).or_default();
                for (event, numbers) in places.iter().zip(&series.all) {
                    add(&mut row.all, *event, numbers.into());
                }
            }
        }
    }

    /// Keeps the sums of a process whose numbers are dropped. Of a metric that differs from the one
    /// before, the sums begin anew.
    pub(super) fn keep_sums(&mut self, reading: &Reading) {
        for metric in &reading.metrics {
            if let Some(place) = self.places.get(&metric.name)
                && self.metrics[*place].difference(metric).is_some()
            {
                self.metrics[*place] = Sums::of(metric);
            }
        }
        self.add_gone(reading);
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

fn events(metric: &Metric) -> Vec<Event> {
    if metric.form == "window" {
        return metric.events.clone();
    }
    vec![Event { name: String::new(), unit: metric.unit.clone() }]
}

/// Returns the roles of a window's events.
fn roles(metric: &Metric) -> Roles {
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

    fn difference(&self, metric: &Metric) -> Option<String> {
        let name = &self.name;
        if self.form != metric.form {
            return Some(format!("`{name}` is a {} here, and a {} there", metric.form, self.form));
        }
        let events = events(metric);
        let (event, here, there) = self.differs_in(&events, &kinds(metric))?;
        Some(format!("`{event}` of `{name}` is a {here} here, and a {there} there"))
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

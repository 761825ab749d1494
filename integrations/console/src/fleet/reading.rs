//! The reading of a member: what its `/member.json` says, checked.

use std::collections::HashSet;
use std::fmt::{self, Debug, Display, Formatter};

use serde::Deserialize;
use windrow::Stats;
use windrow::heavy::HeavySnapshot;
use windrow::histogram::Distribution;

use crate::member::FORM;
use crate::text::cut;

/// The exact numbers of a process.
#[derive(Debug, Deserialize)]
pub(super) struct Reading {
    form: u64,
    pub(super) service: String,
    pub(super) instance: String,
    pub(super) version: String,
    /// A text that differs from one start of a process to the next.
    pub(super) epoch: String,
    pub(super) age_ms: u64,
    pub(super) unusual: Changes,
    pub(super) metrics: Vec<Metric>,
    #[serde(default)]
    pub(super) heavy: Vec<Heavy>,
    /// The length of the answer.
    #[serde(skip)]
    pub(super) bytes: usize,
}

/// The changes that a process finds unusual, by its own past.
#[derive(Debug, Deserialize)]
pub(super) struct Changes {
    pub(super) changes: Vec<Change>,
    pub(super) calm_since_ms: Option<u64>,
}

/// A change of a series.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Change {
    pub(super) key: String,
    pub(super) what: String,
    pub(super) since_ms: u64,
    pub(super) says: String,
}

/// Heavy keys under a name.
#[derive(Debug, Deserialize)]
pub(super) struct Heavy {
    pub(super) name: String,
    pub(super) help: String,
    pub(super) spans: Vec<Span>,
}

/// The heavy keys of a span.
#[derive(Deserialize)]
pub(super) struct Span {
    pub(super) span_ms: u64,
    pub(super) keys: HeavySnapshot<str>,
}

/// Shows the span.
impl Debug for Span {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Span").field("span_ms", &self.span_ms).finish_non_exhaustive()
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Metric {
    pub(super) name: String,
    pub(super) help: String,
    pub(super) form: String,
    pub(super) unit: Option<String>,
    pub(super) events: Vec<Event>,
    pub(super) series: Vec<Series>,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Event {
    pub(super) name: String,
    pub(super) unit: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Series {
    pub(super) key: String,
    /// The span of the last numbers, in nanoseconds.
    pub(super) span_ns: u64,
    /// The all-time numbers, by event; of a metric without events, one.
    pub(super) all: Vec<Numbers>,
    /// Those of the closed buckets of the interval; of a histogram, those since it was last
    /// drained.
    pub(super) last: Vec<Numbers>,
}

/// The numbers of an event, by its kind.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(super) enum Numbers {
    Count(u64),
    Signed(i64),
    Value(Stats),
    Histogram(Distribution),
    Maximum(Option<u64>),
    Minimum(Option<u64>),
    Real(Option<f64>),
}

impl Numbers {
    /// Returns the name of the kind.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Numbers::Count(_) => "Count",
            Numbers::Signed(_) => "Signed",
            Numbers::Value(_) => "Value",
            Numbers::Histogram(_) => "Histogram",
            Numbers::Maximum(_) => "Maximum",
            Numbers::Minimum(_) => "Minimum",
            Numbers::Real(_) => "Real",
        }
    }
}

/// The reason why an answer is none of a member.
#[derive(Debug)]
pub(super) enum Flaw {
    /// It is no JSON, or not of this form.
    Invalid(serde_json::Error),
    /// It is of another form.
    Form(u64),
    /// A text that names the process is empty or too long.
    Name(&'static str),
    Twice(String),
    /// A metric of this name has too many events.
    Events {
        name: String,
        events: usize,
    },
    /// A metric of this name is of an unknown type.
    Type {
        name: String,
        form: String,
    },
    /// A series has more or fewer numbers than its metric has events, or numbers of other kinds
    /// than another series.
    Numbers(String),
}

impl Display for Flaw {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            // An error may quote the answer.
            Flaw::Invalid(error) => write!(f, "the answer is none of a console's: {}", cut(error)),
            Flaw::Form(form) => {
                write!(f, "it is a console of form {form}, and this one reads form {FORM}")
            }
            Flaw::Name(name) => write!(f, "its {name} is empty or longer than {LONGEST} bytes"),
            Flaw::Twice(key) => write!(f, "`{}` is there twice", cut(key)),
            Flaw::Events { name, events } => {
                write!(f, "`{}` has {events} events: more than {MOST_EVENTS}", cut(name))
            }
            Flaw::Type { name, form } => {
                write!(f, "`{}` is of an unknown type: `{}`", cut(name), cut(form))
            }
            Flaw::Numbers(key) => {
                write!(f, "the numbers of `{}` are not of its events", cut(key))
            }
        }
    }
}

/// The greatest length of a name in bytes.
const LONGEST: usize = 256;

/// The greatest number of a metric's events.
const MOST_EVENTS: usize = 1_000;

impl Reading {
    /// Reads an answer.
    pub(super) fn parse(answer: &[u8]) -> Result<Reading, Flaw> {
        let parsed = serde_json::from_slice::<Reading>(answer);
        let mut reading = parsed.map_err(|error| match form_of(answer) {
            Some(form) if form != FORM => Flaw::Form(form),
            _ => Flaw::Invalid(error),
        })?;
        reading.bytes = answer.len();
        reading.check()?;
        Ok(reading)
    }

    /// Returns the last values of a series.
    pub(super) fn values(&self, metric: &str, key: &str) -> Option<&Distribution> {
        let metric = self.metrics.iter().find(|one| one.name == metric)?;
        metric.series.iter().find(|series| series.key == key)?.values()
    }

    fn check(&self) -> Result<(), Flaw> {
        if self.form != FORM {
            return Err(Flaw::Form(self.form));
        }
        let texts = [
            ("epoch", &self.epoch, 1),
            ("instance", &self.instance, 0),
            ("service", &self.service, 0),
            ("version", &self.version, 0),
        ];
        let is_wrong =
            |(_, text, least): &&(_, &String, usize)| text.len() < *least || text.len() > LONGEST;
        if let Some((name, ..)) = texts.iter().find(is_wrong) {
            return Err(Flaw::Name(name));
        }
        let mut lists = HashSet::new();
        for heavy in &self.heavy {
            for span in &heavy.spans {
                if !lists.insert((&heavy.name, span.span_ms)) {
                    return Err(Flaw::Twice(heavy.name.clone()));
                }
            }
        }
        let (mut names, mut keys) = (HashSet::new(), HashSet::new());
        for metric in &self.metrics {
            if !names.insert(&metric.name) {
                return Err(Flaw::Twice(metric.name.clone()));
            }
            metric.check(&mut keys)?;
        }
        Ok(())
    }
}

impl Series {
    /// Returns the last values of the first event with percentiles.
    pub(super) fn values(&self) -> Option<&Distribution> {
        self.last.iter().find_map(|numbers| match numbers {
            Numbers::Histogram(values) => Some(values),
            _ => None,
        })
    }
}

impl Metric {
    /// Checks a metric, whose series have none of these keys, and adds theirs.
    fn check<'m>(&'m self, keys: &mut HashSet<&'m str>) -> Result<(), Flaw> {
        const FORMS: [&str; 6] = ["counter", "gauge", "maximum", "minimum", "histogram", "window"];
        if !FORMS.contains(&self.form.as_str()) {
            return Err(Flaw::Type { name: self.name.clone(), form: self.form.clone() });
        }
        // Events are found one after the other: their number is small.
        if self.events.len() > MOST_EVENTS {
            return Err(Flaw::Events { name: self.name.clone(), events: self.events.len() });
        }
        let mut events = HashSet::new();
        if let Some(twice) = self.events.iter().find(|event| !events.insert(&event.name)) {
            return Err(Flaw::Twice(twice.name.clone()));
        }
        let (is_window, is_histogram) = (self.form == "window", self.form == "histogram");
        let all = if is_window { self.events.len() } else { 1 };
        let last = if is_window || is_histogram { all } else { 0 };
        let kinds = |numbers: &[Numbers]| numbers.iter().map(Numbers::kind).collect::<Vec<_>>();
        let first = self.series.first().map(|series| kinds(&series.all)).unwrap_or_default();
        for series in &self.series {
            if !keys.insert(series.key.as_str()) {
                return Err(Flaw::Twice(series.key.clone()));
            }
            let fits = series.all.len() == all
                && series.last.len() == last
                && kinds(&series.all) == first
                && (last == 0 || kinds(&series.last) == first);
            if !fits {
                return Err(Flaw::Numbers(series.key.clone()));
            }
        }
        Ok(())
    }
}

/// Returns the number of an answer's form, if it has one.
fn form_of(answer: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct Form {
        form: u64,
    }
    serde_json::from_slice(answer).ok().map(|Form { form }| form)
}

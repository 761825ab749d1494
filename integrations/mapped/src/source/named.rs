//! The metrics of one name, as a source of an exporter.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::SystemTime;

use windrow::export::{AnyMetric, Form, Outline, Series, Source};
use windrow::histogram::Distribution;
use windrow::labels::LabelValue;

use super::files::{Files, Watched};
use crate::kind::Kind;
use crate::layout::MOST_NAMES;
use crate::reading::{Metric, Value};
use crate::windows::Window;

/// The metrics of all files with one name, and with one kind: a source has one form.
pub(super) struct Named {
    files: Arc<Files>,
    name: String,
    kind: Kind,
    /// Says that it has what the dead have left of levels, and not the part of the living.
    is_dead: bool,
}

impl Named {
    /// Makes the source of all metrics with the name and the kind of this one.
    pub(super) fn new(files: &Arc<Files>, metric: &Metric<'_>, is_dead: bool) -> Named {
        let (files, name) = (Arc::clone(files), metric.name().to_owned());
        Named { files, name, kind: metric.kind(), is_dead }
    }

    /// Calls `see` with each metric.
    fn each(&self, mut see: impl FnMut(&Read<'_>)) {
        for (number, file, reading) in self.files.readings() {
            for metric in reading.named(&self.name).filter(|metric| metric.kind() == self.kind) {
                let (window, values) = (file.window(&metric), metric.distribution());
                see(&Read { metric, window, values, of: self, number, file });
            }
        }
    }
}

impl Source for Named {
    fn outline(&self) -> Outline {
        let mut outline = Outline::from(Form::Counter);
        let (mut form, mut labels) = (None, BTreeSet::new());
        labels.extend(self.files.label.clone());
        self.each(|read| {
            form.get_or_insert_with(|| Series::metric(read).form());
            let exported = read.metric.labels().map(|(label, _)| self.files.exported(label));
            labels.extend(exported.map(Cow::into_owned));
        });
        outline.form = form.unwrap_or(Form::Counter);
        outline.labels = labels.into_iter().collect();
        outline.max_series = MOST_NAMES as usize * self.files.files.len();
        outline
    }

    fn visit(&self, see: &mut dyn FnMut(&dyn Series)) {
        self.each(|read| see(read));
    }
}

/// A metric that was read.
struct Read<'r> {
    metric: Metric<'r>,
    /// The window of a counter, if the source has windows.
    window: Option<Arc<Window>>,
    /// Those of a histogram.
    values: Option<Distribution>,
    of: &'r Named,
    file: &'r Watched,
    /// The number of the file.
    number: u64,
}

impl Series for Read<'_> {
    fn number(&self) -> u64 {
        self.number << 32 | self.metric.number()
    }

    fn is_overflow(&self) -> bool {
        false
    }

    /// Returns the time at which the file was created, which is the same in each exporter and after
    /// its restart. A window is younger: it counts since this process has it.
    fn created(&self) -> Option<SystemTime> {
        if self.window.is_some() { None } else { self.file.created }
    }

    fn labels(&self, see: &mut dyn FnMut(&str, LabelValue<'_>)) {
        if let Some(label) = &self.of.files.label {
            see(label, LabelValue::Text(&self.file.file));
        }
        for (label, value) in self.metric.labels() {
            see(&self.of.files.exported(label), LabelValue::Text(value));
        }
    }

    /// Returns the value as exporters show it: extremes and levels as numbers that go up and down.
    fn metric(&self) -> AnyMetric<'_> {
        if let Some(window) = &self.window {
            return AnyMetric::Window(&**window);
        }
        if let Some(values) = &self.values {
            return AnyMetric::Distribution(values);
        }
        match self.metric.value() {
            Value::Count(sum) => AnyMetric::Count(Some(sum)),
            Value::Extreme(value) => AnyMetric::Real(value.map_or(f64::NAN, |value| value as f64)),
            Value::Level(level) if self.of.is_dead => AnyMetric::Real(level.dead as f64),
            Value::Level(level) => AnyMetric::Real(level.live as f64),
            Value::Values { count, .. } => AnyMetric::Count(Some(count)),
        }
    }
}

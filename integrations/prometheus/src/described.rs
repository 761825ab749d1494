//! The metrics that a source is shown as: their names, helps, units and types.

use std::collections::HashSet;
use std::sync::Arc;

use windrow::export::{
    Form, NamedField, Outline, Part, PartKind, Reading, Sample, Source, Value, fields,
};

use crate::buckets::{Bucketed, Buckets};
use crate::error::RegisterError;
use crate::escaping::{Escaping, NameKind};
use crate::rules::{Characters, check_labels, check_name, check_unit};
use crate::units::base_unit;

/// A source, with the metrics that it is shown as.
pub(crate) struct Described {
    pub(crate) source: Arc<dyn Source>,
    pub(crate) outline: Outline,
    /// One metric for each part and unit.
    pub(crate) parts: Vec<Shown>,
    /// The uses of the overflow series, if there may be one.
    pub(crate) uses: Option<Named>,
}

/// The samples of a part that are shown in one unit, as a metric.
pub(crate) struct Shown {
    part: &'static Part,
    pub(crate) named: Named,
    /// The units that [samples](Sample::unit) have, each with the way in which it is shown.
    units: Vec<(&'static str, Buckets)>,
}

/// A metric's name with its unit, its help and its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) name: String,
    pub(crate) help: String,
    pub(crate) unit: String,
    pub(crate) kind: Type,
}

/// The type of a metric in a scrape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Counter,
    Gauge,
    Histogram,
    Info,
}

impl Type {
    pub(crate) const fn of(kind: PartKind) -> Type {
        match kind {
            PartKind::Counter | PartKind::RealCounter => Type::Counter,
            PartKind::Level | PartKind::Gauge | PartKind::RealGauge => Type::Gauge,
            PartKind::Histogram => Type::Histogram,
        }
    }

    /// Returns the suffix of the metric's one sample.
    pub(crate) const fn suffix(self) -> &'static str {
        match self {
            Type::Counter => "_total",
            Type::Info => "_info",
            Type::Gauge | Type::Histogram => "",
        }
    }

    /// Returns the suffixes of all names that a scrape may show for the metric.
    pub(crate) const fn suffixes(self) -> &'static [&'static str] {
        match self {
            Type::Counter => &["", "_total", "_created"],
            Type::Gauge => &[""],
            Type::Histogram => &["", "_bucket", "_count", "_sum", "_created"],
            Type::Info => &["", "_info"],
        }
    }
}

impl Described {
    /// Checks and names the metrics of each field of a source; of a source without fields, its own.
    /// Names that are taken already are not looked for.
    pub(crate) fn all(
        characters: Characters,
        (name, help, unit): (&str, &str, &str),
        Bucketed { source, buckets }: Bucketed,
    ) -> Result<Vec<Described>, RegisterError> {
        let described = |field: &NamedField| {
            let name = field.full_name(name, "_");
            let (unit, buckets) =
                if field.is_in_unit { (unit, &buckets) } else { ("", &Buckets::DEFAULT) };
            Described::of(characters, (&name, help, unit), Arc::clone(&field.source), buckets)
        };
        let mut all = fields(source).iter().map(described).collect::<Result<Vec<_>, _>>()?;
        // All fields have one overflow series.
        if let Some(first) = all.first_mut().filter(|first| first.outline.overflows) {
            first.uses = Some(Named::of(name, help, unit, &Part::OVERFLOW));
        }
        Ok(all)
    }

    /// Checks and names the metrics of a source without fields, but for the uses of its overflow
    /// series.
    fn of(
        characters: Characters,
        (name, help, unit): (&str, &str, &str),
        source: Arc<dyn Source>,
        buckets: &Buckets,
    ) -> Result<Described, RegisterError> {
        let outline = source.outline();
        let form = outline.form;
        check_name(characters, name)?;
        check_unit(unit)?;
        check_labels(characters, label_names(&outline))?;
        if buckets.divides_by_zero() {
            return Err(RegisterError::PerZero { name: name.to_owned() });
        }
        if let Some(bound) = buckets.least_bound() {
            let least = form.scales().map(|scale| scale.min() - 1).max().unwrap_or(0);
            if bound < least {
                return Err(RegisterError::BoundBelow { name: name.to_owned(), bound, least });
            }
        }
        if outline.overflows && outline.labels.iter().any(|label| label == Part::OVERFLOW.suffix) {
            return Err(RegisterError::ReservedLabel { label: Part::OVERFLOW.suffix.to_owned() });
        }
        let is_counter =
            form.parts().any(|part| part.suffix.is_empty() && Type::of(part.kind) == Type::Counter);
        if is_counter && name.ends_with("_total") {
            return Err(RegisterError::Total { name: name.to_owned() });
        }
        let mut parts: Vec<Shown> = Vec::new();
        for part in form.parts() {
            for declared in form.units(part, "") {
                let (unit, buckets) = match base_unit(declared) {
                    // Of these values, the program says it when it registers them.
                    _ if declared.is_empty() => (unit, buckets.clone()),
                    (unit, per) => (unit, buckets.per_unit(per)),
                };
                let named = Named::of(name, help, unit, part);
                match parts.iter_mut().find(|shown| shown.named == named) {
                    Some(shown) => shown.units.push((declared, buckets)),
                    None => parts.push(Shown { part, named, units: vec![(declared, buckets)] }),
                }
            }
        }
        Ok(Described { source, outline, parts, uses: None })
    }

    /// Returns all metrics.
    pub(crate) fn named(&self) -> impl Iterator<Item = &Named> + Clone {
        self.parts.iter().map(|shown| &shown.named).chain(&self.uses)
    }
}

impl Shown {
    /// Returns the way in which values are shown of metrics of this form, if they have one number.
    pub(crate) fn of_one_number(&self, form: Form) -> Option<&Buckets> {
        let has_more = matches!(form, Form::Histogram(_) | Form::Window(..) | Form::Fields);
        let (_, buckets) = self.units.iter().find(|(unit, _)| unit.is_empty() && !has_more)?;
        Some(buckets)
    }

    /// Returns a number as a scrape shows it.
    pub(crate) fn number<'v>(&self, value: Value<'v>, buckets: &Buckets) -> Value<'v> {
        buckets.number(self.part, value)
    }

    /// Calls `see` with each sample of the metric, its number, and the way in which its values are
    /// shown.
    pub(crate) fn samples(
        &self,
        reading: &Reading,
        see: &mut dyn FnMut(&Sample<'_>, Value<'_>, &Buckets),
    ) {
        reading.samples(self.part, &mut |sample| {
            let mut units = self.units.iter();
            if let Some((_, buckets)) = units.find(|(unit, _)| *unit == sample.unit) {
                see(&sample, buckets.number(self.part, sample.value), buckets);
            }
        });
    }
}

impl Named {
    fn of(name: &str, help: &str, unit: &str, part: &Part) -> Named {
        let mut full = join(name, "_", part.suffix);
        let unit = if part.is_in_unit { unit } else { "" };
        if !ends_in(&full, unit) {
            full = join(&full, "_", unit);
        }
        let help = join(help, ": ", part.about);
        Named { name: full, help, unit: unit.to_owned(), kind: Type::of(part.kind) }
    }

    /// Returns the escaped name. A counter's or an info's is that of its samples, without their
    /// suffix: it is escaped with it.
    pub(crate) fn escaped(&self, escaping: Escaping) -> String {
        let suffix = self.kind.suffix();
        let mut name =
            escaping.name(NameKind::Metric, &format!("{}{suffix}", self.name)).into_owned();
        name.truncate(name.strip_suffix(suffix).unwrap_or(&name).len());
        name
    }
}

fn join(one: &str, between: &str, other: &str) -> String {
    [one, other].join(if one.is_empty() || other.is_empty() { "" } else { between })
}

/// Returns whether a name ends in `_` and the unit, as the unit of `OpenMetrics` must.
pub(crate) fn ends_in(name: &str, unit: &str) -> bool {
    unit.is_empty() || name.strip_suffix(unit).is_some_and(|name| name.ends_with('_'))
}

/// Returns the names of all labels of the samples.
pub(crate) fn label_names(outline: &Outline) -> impl Iterator<Item = &str> {
    let form = outline.form;
    let bounds = form.parts().any(|part| part.kind == PartKind::Histogram).then_some("le");
    let more = form.sample_labels().iter().copied().chain(bounds);
    outline.labels.iter().map(String::as_str).chain(more)
}

/// Adds the names of metrics, in the forms that scrapers get them, to those that are taken, unless
/// one is among them.
pub(crate) fn take<'n>(
    taken: &mut HashSet<String>,
    metrics: impl Iterator<Item = &'n Named> + Clone,
) -> Result<(), RegisterError> {
    for named in metrics.clone() {
        if names(named).any(|name| taken.contains(&name)) {
            return Err(RegisterError::NameTaken { name: named.name.clone() });
        }
    }
    taken.extend(metrics.flat_map(names));
    Ok(())
}

/// Returns the names of a metric's samples, and its own, where other characters are escaped. (Names
/// that differ with underscores also differ with dots.)
fn names(named: &Named) -> impl Iterator<Item = String> {
    [Escaping::Underscores, Escaping::Values].into_iter().flat_map(|escaping| {
        let escaped = named.escaped(escaping);
        named.kind.suffixes().iter().map(move |suffix| format!("{escaped}{suffix}"))
    })
}

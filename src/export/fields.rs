//! Sources of several metrics, taken apart: a source for each field.

use std::sync::Arc;
use std::time::SystemTime;

use super::form::Form;
use super::metric::AnyMetric;
use super::outline::{Outline, OutlineField};
use super::source::{Series, Source};
use crate::family::LabelValue;

/// Takes a source apart: returns a source for each field of its metrics, which exporters show as a
/// metric of its own.
///
/// A family of structs that [`metrics!`](crate::metrics!) declares has such fields. Any other
/// source is returned as it is, under an empty name. Call it when the source is registered: it asks
/// for the [outline](Source::outline). The uses of the overflow series are the same for all fields:
/// show them once, under the name of the source.
///
/// ```
/// use std::sync::Arc;
/// use windrow::export::fields;
/// use windrow::{Counter, Family, Histogram, labels, metrics};
///
/// labels! { pub struct Tenant { tenant: str } }
/// metrics! { pub struct Cache { hits: Counter, bytes: Histogram } }
///
/// static CACHES: Family<Tenant, Cache> = Family::new();
/// static HITS: Counter = Counter::new();
///
/// let caches = fields(Arc::new(&CACHES));
/// let names: Vec<String> = caches.iter().map(|field| field.full_name("cache", "_")).collect();
/// assert_eq!(names, ["cache_hits", "cache_bytes"]);
/// let hits = fields(Arc::new(&HITS));
/// assert_eq!(hits[0].full_name("hits", "_"), "hits");
/// ```
#[inline]
pub fn fields(source: Arc<dyn Source>) -> Vec<NamedField> {
    let outline = source.outline();
    if outline.fields.is_empty() {
        return vec![NamedField { name: String::new(), is_in_unit: true, source }];
    }
    let named = |OutlineField { name, form, path }| {
        let of = OfPath { source: Arc::clone(&source), form, path };
        let counts = matches!(form, Form::Counter | Form::Gauge | Form::InFlight);
        NamedField { name, is_in_unit: !counts, source: Arc::new(of) }
    };
    outline.fields.into_iter().map(named).collect()
}

/// A field of a source's metrics, as a source: from [`fields`].
#[derive(Clone)]
#[non_exhaustive]
pub struct NamedField {
    /// The field's name. Empty for a source that has no fields.
    name: String,
    /// True if the unit of the source is that of the field: not if the field counts.
    pub is_in_unit: bool,
    /// The source of the field.
    pub source: Arc<dyn Source>,
}

impl NamedField {
    /// Returns the name under which the field is exported: `of`, which is the name of the source,
    /// `between`, and the field's name.
    #[inline]
    pub fn full_name(&self, of: &str, between: &str) -> String {
        [of, &self.name].join(if self.name.is_empty() { "" } else { between })
    }
}

/// Shows the name.
impl std::fmt::Debug for NamedField {
    #[inline]
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NamedField").field("name", &self.name).finish_non_exhaustive()
    }
}

/// The field at a path, of each series of a source.
struct OfPath {
    source: Arc<dyn Source>,
    form: Form,
    path: Vec<usize>,
}

impl Source for OfPath {
    #[inline]
    fn outline(&self) -> Outline {
        Outline { form: self.form, fields: Vec::new(), ..self.source.outline() }
    }

    #[inline]
    fn visit(&self, see: &mut dyn FnMut(&dyn Series)) {
        self.source.visit(&mut |series| see(&SeriesOfPath { series, path: &self.path }));
    }

    #[inline]
    fn refused(&self) -> Option<u64> {
        self.source.refused()
    }
}

/// A series, of whose metrics one is exported.
struct SeriesOfPath<'s> {
    series: &'s dyn Series,
    path: &'s [usize],
}

impl Series for SeriesOfPath<'_> {
    #[inline]
    fn number(&self) -> u64 {
        self.series.number()
    }

    #[inline]
    fn is_overflow(&self) -> bool {
        self.series.is_overflow()
    }

    #[inline]
    fn created(&self) -> Option<SystemTime> {
        self.series.created()
    }

    #[inline]
    fn labels(&self, see: &mut dyn FnMut(&str, LabelValue<'_>)) {
        self.series.labels(see);
    }

    #[inline]
    fn metric(&self) -> AnyMetric<'_> {
        self.path.iter().fold(self.series.metric(), |metric, &position| match metric {
            AnyMetric::Fields(fields) => fields.field(position),
            other => other,
        })
    }
}

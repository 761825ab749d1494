//! One of several metrics in each series of a family.

use std::sync::{Arc, Weak};

use super::form::Form;
use super::metric::Exported;
use super::outline::Outline;
use super::source::{Series, Source, outline_of, refused, visit_fields};
use crate::family::{Family, Labels, Metric};

/// A field of the metrics of a family: from [`field`].
#[derive(Clone, Copy, Debug)]
#[must_use = "a source is not exported before an exporter or a catalog has it"]
pub struct Field<S, M, N> {
    family: S,
    get: fn(&M) -> &N,
}

/// Makes a source of one field of a family's metrics, which are structs of several. (A struct that
/// [`metrics!`](crate::metrics!) declares needs this only for a name or a unit of the field's own:
/// exporters show all its fields.)
///
/// The family is a `&'static`, an [`Arc`] or a [`Weak`].
///
/// ```
/// use windrow::export::{Source, field};
/// use windrow::{Counter, Family, Gauge, labels, family::Metric};
///
/// labels! { pub struct Route { route: str } }
///
/// #[derive(Default)]
/// struct Endpoint { requests: Counter, open: Gauge }
///
/// impl Metric for Endpoint {
///     type Total = (u64, i64);
///     fn total(&self) -> (u64, i64) { (self.requests.total(), self.open.total()) }
///     fn merge(one: &mut (u64, i64), other: (u64, i64)) {
///         Counter::merge(&mut one.0, other.0);
///         Gauge::merge(&mut one.1, other.1);
///     }
/// }
///
/// static ENDPOINTS: Family<Route, Endpoint> = Family::new();
///
/// let sources: [Box<dyn Source>; 2] = [
///     Box::new(field(&ENDPOINTS, |endpoint| &endpoint.requests)),
///     Box::new(field(&ENDPOINTS, |endpoint| &endpoint.open)),
/// ];
/// assert!(sources.iter().all(|source| source.outline().labels == ["route"]));
/// ```
pub fn field<S: FamilySource, N: Exported>(
    family: S,
    get: fn(&S::Metric) -> &N,
) -> Field<S, S::Metric, N> {
    Field { family, get }
}

/// A family behind a reference or a pointer, as [`field`] takes it. Pointers of the program's own
/// may implement it.
pub trait FamilySource: Send + Sync {
    /// The labels of the family.
    type Labels: Labels;
    /// The type of its metrics.
    type Metric: Metric;
    /// The type of the function that makes them.
    type Make: Fn() -> Self::Metric + Send + Sync;

    /// Calls a function with the family, if the family still exists.
    fn with_family<R>(
        &self,
        see: impl FnOnce(&Family<Self::Labels, Self::Metric, Self::Make>) -> R,
    ) -> Option<R>;
}

macro_rules! family_sources {
    ($($holder:ty: |$this:ident| $family:expr;)+) => {
        $(
            impl<L, M, F> FamilySource for $holder
            where
                L: Labels,
                M: Metric,
                F: Fn() -> M + Send + Sync,
            {
                type Labels = L;
                type Metric = M;
                type Make = F;

                fn with_family<R>(&self, see: impl FnOnce(&Family<L, M, F>) -> R) -> Option<R> {
                    let $this = self;
                    $family.map(|family| see(&family))
                }
            }
        )+
    };
}

family_sources! {
    &Family<L, M, F>: |family| Some(*family);
    Arc<Family<L, M, F>>: |family| Some(family);
    Weak<Family<L, M, F>>: |family| family.upgrade();
}

impl<S: FamilySource, N: Exported> Source for Field<S, S::Metric, N> {
    fn outline(&self) -> Outline {
        let outline = self.family.with_family(|family| {
            let sample = family.sample();
            let metric = (self.get)(&sample).any();
            outline_of(family, metric.form()).with_fields_of(metric)
        });
        outline.unwrap_or_else(|| Outline::of_metric(Form::Counter))
    }

    fn visit(&self, see: &mut dyn FnMut(&dyn Series)) {
        let visit = |family: &_| visit_fields(family, |metric| (self.get)(metric).any(), see);
        self.family.with_family(visit);
    }

    fn refused(&self) -> Option<u64> {
        self.family.with_family(refused)?
    }
}

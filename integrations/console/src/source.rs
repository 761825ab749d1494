//! What can be shown: a metric, a family, a field of a family's metrics; by reference or shared.

use std::ops::Deref;
use std::sync::Arc;

use windrow::{
    Clock, Counter, Events, Family, Gauge, Handle, Histogram, InFlight, Kind, LabelValue, Labels,
    Maximum, Metric, Minimum, SlidingWindow,
};
use windrow_prometheus::Shared;

use crate::series::Series;

/// What [`Console::show`](crate::Console::show) takes: `&'static T`, or an `Arc<T>` or a
/// [`Shared<T>`](windrow_prometheus::Shared), where `T` is a [`Counter`], [`Gauge`], [`InFlight`], [`Maximum`], [`Minimum`],
/// [`Histogram`], [`SlidingWindow`], or a [`Family`] of one of them; or a [`Field`] of a family's metrics.
///
/// The same as `windrow-prometheus` registers. It cannot be implemented for other types.
pub trait Source: Walk {
    /// The same, for a scrape.
    #[doc(hidden)]
    type Scraped: windrow_prometheus::Source;

    /// The same, for a scrape.
    #[doc(hidden)]
    fn scraped(&self) -> Self::Scraped;
}

/// What all series of a source have in common.
#[derive(Clone, Copy, Debug)]
pub struct Outline {
    pub(crate) form: Form,
    /// Of a window; else empty.
    pub(crate) events: &'static [(&'static str, Kind)],
}

/// What kind of metric it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Counter,
    Gauge,
    Maximum,
    Minimum,
    Histogram,
    Window,
}

/// A kind's name, whatever its scale.
pub(crate) fn kind_name(kind: Kind) -> String {
    let mut name = format!("{kind:?}");
    name.truncate(name.find('(').unwrap_or(name.len()));
    name
}

impl Form {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Form::Counter => "counter",
            Form::Gauge => "gauge",
            Form::Maximum => "maximum",
            Form::Minimum => "minimum",
            Form::Histogram => "histogram",
            Form::Window => "window",
        }
    }
}

/// A look at all series of a source.
pub trait Walk: Send + Sync + 'static {
    fn outline(&self) -> Outline;

    /// The labels' names.
    fn labels(&self) -> &[&str];

    /// Calls `see` with each series.
    fn walk(&self, see: &mut dyn FnMut(&dyn Pairs, &dyn Series));
}

/// The labels of a series.
pub trait Pairs {
    /// The number of the series: two that follow each other under the same labels have different
    /// ones.
    fn number(&self) -> u64;

    fn each(&self, see: &mut dyn FnMut(&str, LabelValue<'_>));
}

/// Of what has no labels.
struct NoPairs;

impl Pairs for NoPairs {
    fn number(&self) -> u64 {
        0 // there is one, for good
    }

    fn each(&self, _: &mut dyn FnMut(&str, LabelValue<'_>)) {}
}

impl<L: Labels, M> Pairs for Handle<L, M> {
    fn number(&self) -> u64 {
        Handle::number(self)
    }

    fn each(&self, see: &mut dyn FnMut(&str, LabelValue<'_>)) {
        self.pairs().for_each(|(name, value)| see(name, value));
    }
}

/// What is walked the same, however it is held.
pub trait Held: Send + Sync + 'static {
    fn outline() -> Outline;

    fn labels(&self) -> &[&str] {
        &[]
    }

    fn walk(&self, see: &mut dyn FnMut(&dyn Pairs, &dyn Series));
}

/// A metric without labels.
macro_rules! held {
    ($([$($parameter:tt)*] $metric:ty: $form:ident, $events:expr;)+) => {
        $(
            impl<$($parameter)*> Held for $metric {
                fn outline() -> Outline {
                    Outline { form: Form::$form, events: $events }
                }

                fn walk(&self, see: &mut dyn FnMut(&dyn Pairs, &dyn Series)) {
                    see(&NoPairs, self);
                }
            }
        )+
    };
}

held! {
    [] Counter: Counter, &[];
    [] Gauge: Gauge, &[];
    [] InFlight: Gauge, &[];
    [] Maximum: Maximum, &[];
    [] Minimum: Minimum, &[];
    [] Histogram: Histogram, &[];
    [E: Events, C: Clock + Send + Sync + 'static] SlidingWindow<E, C>: Window, E::EVENTS;
}

impl<L: Labels, M: Metric + Held + Series, F: Send + Sync + 'static> Held for Family<L, M, F> {
    fn outline() -> Outline {
        M::outline()
    }

    fn labels(&self) -> &[&str] {
        self.names()
    }

    fn walk(&self, see: &mut dyn FnMut(&dyn Pairs, &dyn Series)) {
        self.iter().for_each(|series| see(&series, &*series));
    }
}

macro_rules! holders {
    ($($holder:ty),+) => {
        $(
            impl<T: Held> Walk for $holder {
                fn outline(&self) -> Outline {
                    T::outline()
                }

                fn labels(&self) -> &[&str] {
                    T::labels(self)
                }

                fn walk(&self, see: &mut dyn FnMut(&dyn Pairs, &dyn Series)) {
                    T::walk(self, see);
                }
            }

            impl<T: Held> Source for $holder
            where
                $holder: windrow_prometheus::Source,
            {
                type Scraped = $holder;

                fn scraped(&self) -> $holder {
                    self.clone()
                }
            }
        )+
    };
}

holders!(&'static T, Arc<T>, Shared<T>);

/// A field of the metrics of a family: from [`field`].
#[derive(Clone, Copy)]
pub struct Field<S, M, N> {
    family: S,
    field: fn(&M) -> &N,
}

/// A field of each metric of a family whose metrics are structs of several: each field has a name
/// of its own.
///
/// ```
/// use windrow_console::{Console, field};
/// use windrow_tower::{Endpoint, Routes};
///
/// static ROUTES: Routes = Routes::new();
///
/// let mut console = Console::new("shop");
/// console.show("requests", "Requests by route", field(&ROUTES, Endpoint::window))?;
/// console.show("in_flight", "Requests in flight", field(&ROUTES, Endpoint::in_flight))?;
/// # Ok::<(), windrow_console::RegisterError>(())
/// ```
pub fn field<S, L, M, F, N>(family: S, field: fn(&M) -> &N) -> Field<S, M, N>
where
    S: Deref<Target = Family<L, M, F>>,
    L: Labels,
    M: Metric,
{
    Field { family, field }
}

impl<S, L, M, F, N> Walk for Field<S, M, N>
where
    S: Deref<Target = Family<L, M, F>> + Send + Sync + 'static,
    L: Labels,
    M: Metric,
    F: 'static,
    N: Held + Series,
{
    fn outline(&self) -> Outline {
        N::outline()
    }

    fn labels(&self) -> &[&str] {
        self.family.names()
    }

    fn walk(&self, see: &mut dyn FnMut(&dyn Pairs, &dyn Series)) {
        self.family.iter().for_each(|series| see(&series, (self.field)(&series)));
    }
}

impl<S, L, M, F, N> Source for Field<S, M, N>
where
    S: Deref<Target = Family<L, M, F>> + Clone + Send + Sync + 'static,
    L: Labels,
    M: Metric,
    F: 'static,
    N: Held + Series,
    windrow_prometheus::Field<S, M, N>: windrow_prometheus::Source,
{
    type Scraped = windrow_prometheus::Field<S, M, N>;

    fn scraped(&self) -> Self::Scraped {
        windrow_prometheus::field(self.family.clone(), self.field)
    }
}

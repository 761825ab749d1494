//! Numbers of the program's own, which a function reads.

use std::fmt::{self, Debug, Formatter};
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::SystemTime;

use super::metric::{AnyMetric, Exported};
use super::outline::Outline;
use super::source::{Series, Source, outline_of, refused, visit_fields};
use crate::family::{Family, LabelValue, Labels, Metric};

/// Makes a source of one number that a function returns: a gauge that is set, the length of a
/// queue, the grants of a gate.
///
/// Exporters show it as a gauge. They call the function once for each export, on their own threads,
/// and wait for it: so it should neither block nor take long. If its result is not finite, the
/// export has no such number: return `NAN` for a number that does not exist at the moment. A panic
/// of the function is caught, and counts as `NAN`.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use std::time::Duration;
/// use windrow::export::{Catalog, from_fn};
/// use windrow::{Gate, AtMost};
///
/// static MAILS: Gate = Gate::of(AtMost(100), Duration::from_secs(60), 60);
/// static LOAD: AtomicU64 = AtomicU64::new(0); // the bits of an `f64`
///
/// let mut catalog = Catalog::new();
/// catalog.add("mails", "Mails admitted in a minute", from_fn(|| MAILS.granted() as f64))?;
/// let load = || f64::from_bits(LOAD.load(Ordering::Relaxed));
/// catalog.add("load", "Load, from 0 to 1", from_fn(load))?;
/// LOAD.store(0.75_f64.to_bits(), Ordering::Relaxed);
/// # Ok::<(), windrow::export::CatalogError>(())
/// ```
#[doc(alias = "callback")]
#[doc(alias = "set")]
#[doc(alias = "gauge")]
#[doc(alias = "IntGauge")]
#[doc(alias = "absolute")]
pub fn from_fn<F: Fn() -> f64 + Send + Sync + 'static>(number: F) -> FromFn<F> {
    FromFn { number, make: AnyMetric::Real, since: None }
}

/// Makes a source of an all-time total that a function returns: CPU seconds, or the bytes that a
/// cache has read, of a counter that is not the library's.
///
/// Exporters show it as a counter, and call the function as that of [`from_fn`]. The total may be
/// fractional. It should not go back: exporters go on with its start time, and leave it to the
/// backend to take a lower total for a new beginning. If it is negative or not finite, the export
/// has no such number. Where it counts since another time than the exporter, say
/// [since when](FromFn::since). The library's own counters are sources themselves, and exact.
///
/// ```
/// use std::time::Instant;
/// use windrow::export::{Catalog, total_fn};
///
/// let begun = Instant::now();
/// let mut catalog = Catalog::new();
/// let seconds = total_fn(move || begun.elapsed().as_secs_f64());
/// catalog.add("up", "Time since the start", seconds)?.unit = "s".into();
/// # Ok::<(), windrow::export::CatalogError>(())
/// ```
pub fn total_fn<F: Fn() -> f64 + Send + Sync + 'static>(total: F) -> FromFn<F> {
    FromFn { number: total, make: AnyMetric::RealTotal, since: None }
}

/// A source of one number that a function returns: from [`from_fn`] or [`total_fn`].
#[derive(Clone, Copy)]
#[non_exhaustive]
#[must_use = "a source is not exported before an exporter or a catalog has it"]
pub struct FromFn<F> {
    /// The time since which a total has counted, which exporters show as its start. `None` unless
    /// the program sets it.
    ///
    /// ```
    /// use std::time::{Duration, UNIX_EPOCH};
    /// use windrow::export::{Source, total_fn};
    ///
    /// let booted = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    /// let mut interrupts = total_fn(|| 12_345.0);
    /// interrupts.since = Some(booted);
    /// interrupts.visit(&mut |series| assert_eq!(series.created(), Some(booted)));
    /// ```
    pub since: Option<SystemTime>,
    number: F,
    make: fn(f64) -> AnyMetric<'static>,
}

impl<F: Fn() -> f64 + Send + Sync + 'static> Exported for FromFn<F> {
    fn any(&self) -> AnyMetric<'_> {
        (self.make)(read(&self.number).unwrap_or(f64::NAN))
    }
}

impl<F: Fn() -> f64 + Send + Sync + 'static> Source for FromFn<F> {
    fn outline(&self) -> Outline {
        Outline::from((self.make)(0.0).form())
    }

    fn visit(&self, see: &mut dyn FnMut(&dyn Series)) {
        see(&Read(self));
    }
}

/// The one series of a number.
struct Read<'f, F>(&'f FromFn<F>);

impl<F: Fn() -> f64 + Send + Sync + 'static> Series for Read<'_, F> {
    fn number(&self) -> u64 {
        0
    }

    fn is_overflow(&self) -> bool {
        false
    }

    fn created(&self) -> Option<SystemTime> {
        self.0.since
    }

    fn labels(&self, _: &mut dyn FnMut(&str, LabelValue<'_>)) {}

    fn metric(&self) -> AnyMetric<'_> {
        self.0.any()
    }
}

/// Shows that it is a function.
impl<F> Debug for FromFn<F> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("FromFn").finish_non_exhaustive()
    }
}

/// Makes a source of a family, with one number for each series, which a function computes of its
/// metric.
///
/// The family may be held as for [`field`](super::field()), and the function may do what one of
/// [`from_fn`] may do.
///
/// ```
/// use windrow::export::{Catalog, field_fn};
/// use windrow::{Family, Gate, labels};
///
/// labels! { pub struct Client { client: str } }
///
/// static GATES: Family<Client, Gate> =
///     Family::with_constructor(|| Gate::builder(100).build().expect("a limit above zero"));
///
/// let mut catalog = Catalog::new();
/// let granted = field_fn(&GATES, |gate| gate.granted() as f64);
/// catalog.add("granted", "Requests admitted in a second, by client", granted)?;
/// assert!(GATES.with(Client { client: "ann" }).try_admit(1));
/// # Ok::<(), windrow::export::CatalogError>(())
/// ```
#[must_use = "a source is not exported before an exporter or a catalog has it"]
pub fn field_fn<P, L, M, F>(family: P, number: fn(&M) -> f64) -> impl Source
where
    P: Deref<Target = Family<L, M, F>> + Send + Sync,
    L: Labels,
    M: Metric,
{
    FieldFn { family, number, make: |number| AnyMetric::Real(number.unwrap_or(f64::NAN)) }
}

/// Makes a source of a family, with one all-time count for each series, which a function reads of
/// its metric: a number that is none of the library's counters.
///
/// Exporters show it as a counter. What [`field_fn`] says of the family, and [`total_fn`] of the
/// function, holds here too. A series counts since it was made.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use windrow::export::{Catalog, field_count_fn};
/// use windrow::{Family, family::Metric, labels};
///
/// labels! { pub struct Disk { disk: str } }
///
/// /// Bytes written, as the driver counts them.
/// #[derive(Default)]
/// struct Written(AtomicU64);
///
/// impl Metric for Written {
///     type Total = u64;
///     fn total(&self) -> u64 { self.0.load(Ordering::Relaxed) }
///     fn merge(one: &mut u64, other: u64) { *one += other; }
/// }
///
/// static DISKS: Family<Disk, Written> = Family::new();
///
/// let mut catalog = Catalog::new();
/// let bytes = field_count_fn(&DISKS, Written::total);
/// catalog.add("written", "Bytes written, by disk", bytes)?.unit = "By".into();
/// DISKS.with(Disk { disk: "sda" }).0.store(4_096, Ordering::Relaxed);
/// # Ok::<(), windrow::export::CatalogError>(())
/// ```
#[must_use = "a source is not exported before an exporter or a catalog has it"]
pub fn field_count_fn<P, L, M, F>(family: P, count: fn(&M) -> u64) -> impl Source
where
    P: Deref<Target = Family<L, M, F>> + Send + Sync,
    L: Labels,
    M: Metric,
{
    FieldFn { family, number: count, make: AnyMetric::Count }
}

/// A number of each series of a family.
struct FieldFn<P, M, N> {
    family: P,
    number: fn(&M) -> N,
    make: fn(Option<N>) -> AnyMetric<'static>,
}

impl<P, L, M, F, N> Source for FieldFn<P, M, N>
where
    P: Deref<Target = Family<L, M, F>> + Send + Sync,
    L: Labels,
    M: Metric,
{
    fn outline(&self) -> Outline {
        outline_of(&self.family, (self.make)(None).form())
    }

    fn visit(&self, see: &mut dyn FnMut(&dyn Series)) {
        visit_fields(&self.family, |metric| (self.make)(read(|| (self.number)(metric))), see);
    }

    fn refused(&self) -> Option<u64> {
        refused(&self.family)
    }
}

/// Calls the program's function. A panic is a number that does not exist: exporters go on.
pub(super) fn read<N>(number: impl Fn() -> N) -> Option<N> {
    catch_unwind(AssertUnwindSafe(number)).ok()
}

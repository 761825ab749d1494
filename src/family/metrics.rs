//! The macro `metrics!`: several metrics in each series of a family.
//!
//! A struct that it declares is one [`Metric`](crate::family::Metric). So a family finds all its
//! fields by one lookup, and refuses all of them or none: ratios between fields stay true in the
//! overflow series, too. Exporters take the struct apart again, by
//! [`export::fields`](crate::export::fields()).

/// Declares a metric of several numbers: a struct of metrics that belong together, for a
/// [`Family`](crate::Family).
///
/// One lookup finds all fields of a series. A set of labels has all of them or none, under one
/// limit of series, so a ratio between fields is true for each series, and for the overflow series.
/// With a label for the outcome, or a family for each number, the limit cuts the parts of a ratio
/// at different sets: a tenant may then show hits, and its misses are in the overflow series.
///
/// ```
/// use windrow::{Counter, Family, Histogram, labels, metrics};
///
/// labels! { pub struct Tenant { tenant: str } }
///
/// metrics! {
///     /// The lookups of a tenant.
///     pub struct Cache { hits: Counter, misses: Counter, bytes: Histogram }
/// }
///
/// static CACHES: Family<Tenant, Cache> = Family::new();
///
/// let cache = CACHES.with(Tenant { tenant: "acme" });
/// cache.hits.increment();
/// cache.bytes.record(4_096);
/// CACHES.with(Tenant { tenant: "acme" }).misses.increment();
///
/// let total = CACHES.lifetime();
/// assert_eq!((total.hits, total.misses, total.bytes[0].count()), (1, 1, 1));
/// ```
///
/// # What it declares
///
/// The struct, with its attributes and its visibility, and with `Debug`, `Default`,
/// [`Metric`](crate::family::Metric) and [`Exported`](crate::export::Exported). Fields are as
/// visible as the struct, with or without a `pub` of their own. The family's
/// [`lifetime`](crate::Family::lifetime) is a struct with the same field names, each with the total
/// of its field.
///
/// A field is a counter, a gauge, an extreme, a level in flight, a histogram, a window, or another
/// struct that `metrics!` declares. A field begins as its type's `Default`, or as the expression
/// that follows it:
///
/// ```
/// use std::time::Duration;
/// use windrow::{Counter, Family, Histogram, SlidingWindow, events, labels, metrics};
/// use windrow::histogram::Scale;
///
/// events! { pub enum Http { Pass: Count, Rt: Histogram } }
/// labels! { pub struct Route { route: str } }
///
/// metrics! {
///     pub struct Endpoint {
///         last_minute: SlidingWindow<Http> = SlidingWindow::of(Duration::from_secs(60), 60),
///         bytes: Histogram = Histogram::with_scale(Scale::fixed::<2, 1, { 1 << 30 }>()),
///         retries: Counter,
///     }
/// }
///
/// static ENDPOINTS: Family<Route, Endpoint> = Family::new().with_max_series(200);
///
/// ENDPOINTS.with(Route { route: "/cart" }).last_minute.add(Http::Pass, 1);
/// ```
///
/// # Exporters
///
/// A family of such structs is registered once, and each field is a metric of its own with the
/// labels of the family: registered as `cache`, the first example is `cache_hits_total`,
/// `cache_misses_total` and `cache_bytes` for Prometheus, `cache.hits`, `cache.misses` and
/// `cache.bytes` for OpenTelemetry. The uses of the overflow series are one number, of `cache`. A
/// unit holds for fields that are histograms, extremes and windows; counters, gauges and levels
/// have none. [`export::field`](crate::export::field()) exports one field under another name, unit
/// or help text. Fields are read one after the other: while other threads add, the numbers of one
/// export may be of slightly different moments.
///
/// # Memory
///
/// A series takes what its fields take, and once what any [series](crate::Family#memory) takes
/// beside its metric. A counter or a gauge that was used takes a column: 8 bytes in each row.
///
/// # Or a window
///
/// The events of one [`SlidingWindow`](crate::SlidingWindow) are several numbers, too. Take
/// [`events!`](crate::events!) for numbers of the last minute, which share their buckets and one
/// snapshot; `metrics!` for all-time numbers of different types, which cost less memory; and a
/// window as a field for both.
///
/// # Errors
///
/// A window has no `Default`, so it needs its expression. A gate is no field, because exporters do
/// not know which of its numbers to show: implement [`Metric`](crate::family::Metric) by hand for a
/// gate with counters beside it, and export each by [`export::field`](crate::export::field()) or
/// [`export::field_fn`](crate::export::field_fn). A field that is no metric does not compile:
///
/// ```compile_fail
/// windrow::metrics! { pub struct Cache { name: String } }
/// ```
#[doc(alias = "MetricVec")]
#[doc(alias = "struct of metrics")]
#[macro_export]
macro_rules! metrics {
    () => {};
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident { $(
            $(#[$on_field:meta])*
            $_own:vis $field:ident : $type:ty $(= $make:expr)?
        ),+ $(,)? }
        $($rest:tt)*
    ) => {
        $(#[$attribute])*
        #[derive(Debug)]
        $visibility struct $name {
            $(
                $(#[$on_field])*
                #[doc = ::core::concat!("The metric `", ::core::stringify!($field), "`.")]
                $visibility $field: $type
            ),+
        }

        const _: () = {
            // Reports a field that is no metric at its type.
            const fn is_metric<M: $crate::family::Metric + $crate::export::Exported>() {}
            $( is_metric::<$type>(); )+

            impl ::core::default::Default for $name {
                fn default() -> $name {
                    $name { $( $field: $crate::__metric_field!(($type) $($make)?) ),+ }
                }
            }

            /// The all-time totals, field by field.
            #[derive(Clone, Debug, Default)]
            $visibility struct Totals {
                $(
                    #[doc = ::core::concat!("The total of `", ::core::stringify!($field), "`.")]
                    $visibility $field: <$type as $crate::family::Metric>::Total
                ),+
            }

            impl $crate::family::Metric for $name {
                type Total = Totals;

                fn total(&self) -> Totals {
                    Totals { $( $field: $crate::family::Metric::total(&self.$field) ),+ }
                }

                fn merge(one: &mut Totals, other: Totals) {
                    $( <$type as $crate::family::Metric>::merge(&mut one.$field, other.$field); )+
                }
            }

            impl $crate::export::Fields for $name {
                fn names(&self) -> &'static [&'static ::core::primitive::str] {
                    const { &[$( $crate::__labels::name(::core::stringify!($field)) ),+] }
                }

                fn field(&self, position: ::core::primitive::usize) -> $crate::export::AnyMetric<'_> {
                    let all: &[fn(&$name) -> $crate::export::AnyMetric<'_>] =
                        &[$( |all| $crate::export::Exported::any(&all.$field) ),+];
                    all[position](self)
                }
            }

            impl $crate::export::Exported for $name {
                fn any(&self) -> $crate::export::AnyMetric<'_> {
                    $crate::export::AnyMetric::Fields(self)
                }
            }
        };

        $crate::metrics! { $($rest)* }
    };
}

/// The first value of a field.
#[doc(hidden)]
#[macro_export]
macro_rules! __metric_field {
    (($type:ty)) => {
        <$type as ::core::default::Default>::default()
    };
    (($type:ty) $make:expr) => {
        $make
    };
}

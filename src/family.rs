//! Families: a metric for each set of labels.
//!
//! A [`Family`] finds the metric of a set of [labels](mod@crate::labels). A [`Handle`] keeps one
//! series; a [`Pinned`] borrows one for the time of a call. [`Metric`] is the trait of metrics in
//! families.

use std::fmt::{self, Debug, Formatter};
use std::sync::PoisonError;

use crate::counters::Counter;
use crate::once::Once;
use crate::sync::Mutex;

use places::Places;
use removed_totals::Forgotten;
use shared::Shared;
use table::Table;

// What a user writes: the types of labels, and the macros.
mod const_functions;
#[doc(hidden)]
pub mod declared;
mod field;
pub(crate) mod labels;
#[cfg(feature = "export")]
mod metrics;
pub(crate) mod names;
pub(crate) mod run_time;
pub(crate) mod short_text;
mod standard_labels;
mod values;

// What a user reads.
mod handle;
mod iteration;
mod lifetime_totals;
#[cfg(feature = "limits")]
mod limits;
mod metric;

// A lookup, and a new series.
mod hand;
mod hash;
mod lookup;
mod passes;
mod places;
mod read;
mod remove;
mod removed_totals;

// The table.
mod list;
mod occupied;
mod order;
mod table;

// A series, and its texts.
mod number;
mod series;
mod series_hold;
mod shared;
mod text;
mod texts;

pub use handle::{Handle, Pinned};
pub(crate) use labels::{LabelValue, Labels};
pub use metric::Metric;

/// A family of metrics, one for each set of labels (a *series*), with bounded cardinality: requests
/// by route, method and status, for example.
///
/// `L` is a set of labels that [`labels!`](crate::labels!) declares, or
/// [`RuntimeLabels`](crate::labels::RuntimeLabels), whose names are known only when the program
/// runs. `M` is any [`Metric`]: a counter, a gauge, an extreme, a histogram, a window, a gate, or a
/// type of your own. A family may be a static.
///
/// ```
/// use windrow::{Counter, Family, labels};
///
/// labels! {
///     pub enum Method { Get = "GET", Post = "POST" }
///     pub struct Request { method: Method, route: str, status: u16 }
/// }
///
/// static REQUESTS: Family<Request, Counter> = Family::new();
///
/// let route = String::from("/cart");
/// REQUESTS.with(Request { method: Method::Get, route: &route, status: 200 }).increment();
/// for series in &REQUESTS {
///     println!("{:?}: {}", series.labels(), series.sum());
/// }
/// assert_eq!(REQUESTS.lifetime(), 1);
/// ```
///
/// For several numbers in each series, as hits and misses, declare `M` by
/// [`metrics!`](crate::metrics!).
///
/// Windows and gates have no default: their family takes a function that makes them, by
/// [`with_constructor`](Self::with_constructor). A family of histograms with another scale than the
/// default takes such a function, too:
///
/// ```
/// use std::time::Duration;
/// use windrow::{Family, SlidingWindow, events, labels};
///
/// events! { pub enum Http { Pass: Count, Micros: Value } }
/// labels! { pub struct Route { route: str } }
///
/// static ROUTES: Family<Route, SlidingWindow<Http>> =
///     Family::with_constructor(|| SlidingWindow::of(Duration::from_secs(60), 60));
///
/// ROUTES.with(Route { route: "/cart" }).record(Http::Micros, 1_250);
/// assert_eq!(ROUTES.with(Route { route: "/cart" }).stats(Http::Micros).max, Some(1_250));
/// ```
///
/// ```
/// use windrow::{Family, Histogram, labels, histogram::Scale};
///
/// labels! { pub struct Route { route: str } }
///
/// static SIZES: Family<Route, Histogram> =
///     Family::with_constructor(|| Histogram::with_scale(Scale::fixed::<2, 1, { 1 << 30 }>()));
///
/// SIZES.with(Route { route: "/cart" }).record(1_250);
/// assert_eq!(SIZES.lifetime()[0].count(), 1);
/// ```
///
/// # Cost
///
/// | to count | costs, beside the add itself |
/// |---|---|
/// | through a [`Handle`] | nothing |
/// | by [`with`](Self::with), if all labels are enums | an index into a table |
/// | by `with`, with any other labels | a hash, a comparison, two stores to this thread's own line |
///
/// None of these takes a lock, allocates, or writes anything that threads share. The first use of a
/// set allocates its series, also without a lock. (Some lookups pin this thread's epoch instead of
/// the two stores: a lookup of a series that stands behind two others in one place of the table,
/// for example, and each lookup where the system has no barriers of all processors.)
///
/// # Bounds
///
/// The cardinality of a family is bounded: it holds at most [`max_series`](Self::max_series)
/// series, 1000 by default, and keeps at most 1024 bytes of texts for each. So label values that
/// come from outside cannot fill the memory. A set is refused if the family is full, that is, if at
/// one moment of the call other sets have series in all places; if its texts,
/// as exporters show them, have more than 1024 bytes together; or if it is of
/// [`RuntimeLabels`](crate::labels::RuntimeLabels) and does not have one value for each name. All
/// refused sets count in one further series, the *overflow series*: its [labels](Handle::labels)
/// are `None`, and [`refused`](Self::refused) counts its uses. (To tell series with longer texts
/// apart, use a hash of the text as a label.) A family whose labels are all enums is bounded by its
/// declaration, and has no limit if there are at most 65 536 sets.
///
/// # Memory
///
/// With 64-bit addresses a series takes 40 bytes, its labels (8 for a number of 64 bits, 16 for a
/// text, and the text if it has more than 15 bytes) and its metric; 48 bytes and its metric if all
/// labels are enums. The table takes [8 bytes and a bit](Self::with_max_series) for each series
/// that there may be. A removed series is freed once no thread uses it, by the same call or a later
/// one that removes; [`retain_next`](Self::retain_next) frees 64 of them together.
///
/// # Nothing is lost
///
/// Series leave the family only by [`retain`](Self::retain), [`retain_next`](Self::retain_next),
/// [`remove`](Self::remove) and [`remove_if`](Self::remove_if). Their counts stay in
/// [`lifetime`](Self::lifetime), which never goes back while numbers only grow. The counts never
/// move to another series, because an exporter would then show them twice. A set that is used again
/// after its series was removed begins anew, at zero; but if all labels are enums, it continues
/// with the same series.
#[doc(alias = "cardinality")]
#[doc(alias = "MetricVec")]
pub struct Family<L: Labels, M: Metric, F = fn() -> M> {
    table: Once<Table<L, M>>,
    /// The overflow series, in which all refused sets count.
    overflow: Once<Shared<L, M>>,
    places: Places,
    limit: usize,
    names: L::Names,
    refused: Counter,
    /// The removed series; also the lock under which series are removed.
    forgotten: Mutex<Forgotten<L, M>>,
    make: F,
}

/// The default limit of series.
const LIMIT: usize = 1_000;

/// The limit of bytes of all texts of a series together.
const LONGEST_TEXTS: usize = 1_024;

impl<L: Labels<Names = ()>, M: Metric + Default> Family<L, M> {
    /// Returns a family without series. Their metrics will be `M::default()`. A window or a gate
    /// has no default: use [`with_constructor`](Self::with_constructor).
    ///
    /// ```
    /// use windrow::{Family, Gauge, labels};
    ///
    /// labels! { pub struct Pool { pool: str } }
    ///
    /// static OPEN: Family<Pool, Gauge> = Family::new().with_max_series(20);
    ///
    /// assert_eq!(OPEN.len(), 0);
    /// ```
    #[cfg(not(loom))]
    pub const fn new() -> Family<L, M> {
        Family::with_constructor(M::default)
    }

    /// Returns a family without a series.
    #[cfg(loom)]
    pub fn new() -> Family<L, M> {
        Family::with_constructor(M::default)
    }
}

macro_rules! constructor {
    ($($const:ident)?) => {
        impl<L: Labels<Names = ()>, M: Metric, F> Family<L, M, F> {
            /// Returns a family without series, whose metrics `make` makes.
            ///
            /// Several threads may call the function at once: when two threads need the same
            /// series, one of the two metrics is dropped. If the function panics, the call that
            /// needed the series panics too, and nothing is counted.
            ///
            /// ```
            /// use windrow::{Counter, Family, labels};
            ///
            /// labels! { pub struct Shard { shard: u32 } }
            ///
            /// let first = 40;
            /// let make = move || Counter::from(first);
            /// let writes = Family::<Shard, Counter, _>::with_constructor(make);
            /// writes.with(Shard { shard: 3 }).add(2);
            /// assert_eq!(writes.with(Shard { shard: 3 }).sum(), 42);
            /// ```
            ///
            /// The type of a static has no place for a closure's type. There `F` is `fn() -> M`,
            /// the default, to which a closure that captures nothing is converted. For another
            /// limit than 1000 series, a static is made by [`bounded`](Self::bounded): if
            /// [`with_max_series`](Self::with_max_series) follows, the compiler takes the closure's
            /// own type for `F`, and reports mismatched types.
            pub $($const)? fn with_constructor(make: F) -> Family<L, M, F> {
                Family::made_with((), make)
            }

            /// Returns a family without series, with at most `max_series` of them, whose metrics
            /// `make` makes: [`with_constructor`](Self::with_constructor) and
            /// [`with_max_series`](Self::with_max_series) in one. A static needs no type twice.
            ///
            /// ```
            /// use std::time::Duration;
            /// use windrow::{AtMost, Family, Gate, labels};
            ///
            /// labels! { pub struct Client { client: u32 } }
            ///
            /// static CLIENTS: Family<Client, Gate> = Family::bounded(50_000, || {
            ///     Gate::strict(AtMost(100), Duration::from_secs(1), 10)
            /// });
            ///
            /// assert!(CLIENTS.with(Client { client: 7 }).try_admit(1));
            /// assert_eq!(CLIENTS.max_series(), 50_000);
            /// ```
            pub $($const)? fn bounded(max_series: usize, make: F) -> Family<L, M, F> {
                let mut family = Family::made_with((), make);
                family.limit = max_series;
                family
            }
        }

        impl<L: Labels, M: Metric, F> Family<L, M, F> {
            $($const)? fn made_with(names: L::Names, make: F) -> Family<L, M, F> {
                Family {
                    table: Once::new(),
                    overflow: Once::new(),
                    places: Places::new(),
                    limit: LIMIT,
                    names,
                    refused: Counter::new(),
                    forgotten: Mutex::new(Forgotten::nothing()),
                    make,
                }
            }

            /// Limits the number of series. Has no effect if all labels are enums. A static whose
            /// metrics have a constructor is made by [`bounded`](Self::bounded).
            ///
            /// Eight bytes and a bit for each series are allocated at the first use, up to eight
            /// mebibytes and an eighth. Beyond 1 048 576 series, lookups get slower.
            ///
            /// ```
            /// # use windrow::{Counter, Family, labels};
            /// # labels! { pub struct Route { route: str } }
            /// let requests: Family<Route, Counter> = Family::new().with_max_series(2);
            /// for route in ["/a", "/b", "/c", "/d", "/a"] {
            ///     requests.with(Route { route }).increment();
            /// }
            /// assert_eq!((requests.len(), requests.refused()), (2, 2));
            /// let overflow = requests.iter().find(|series| series.labels().is_none());
            /// assert_eq!(overflow.map(|series| series.sum()), Some(2));
            /// ```
            #[must_use]
            pub $($const)? fn with_max_series(mut self, series: usize) -> Family<L, M, F> {
                self.limit = series;
                self
            }
        }
    };
}

#[cfg(not(loom))]
constructor!(const);
#[cfg(loom)]
constructor!();

impl<L: Labels, M: Metric, F> Family<L, M, F> {
    /// Returns the maximum number of series at a time, without the overflow series: the
    /// [limit](Self::with_max_series); or the number of possible sets, if all labels are enums.
    ///
    /// ```
    /// # use windrow::{Counter, Family, labels};
    /// labels! { pub struct Route { route: str } pub struct Flag { on: bool } }
    ///
    /// assert_eq!(Family::<Route, Counter>::new().with_max_series(20).max_series(), 20);
    /// assert_eq!(Family::<Flag, Counter>::new().with_max_series(20).max_series(), 2);
    /// ```
    pub fn max_series(&self) -> usize {
        L::COMBINATIONS.unwrap_or(self.limit)
    }

    /// Returns a new metric from the constructor, which belongs to no series.
    #[cfg(feature = "export")]
    pub(crate) fn sample(&self) -> M
    where
        F: Fn() -> M,
    {
        (self.make)()
    }

    /// Returns whether the family accepts a set: it has a value for each name, and its texts are
    /// not too long.
    fn keeps(&self, labels: L::Borrowed<'_>) -> bool {
        let bytes = |position| match L::value(labels, position) {
            LabelValue::Text(text) => text.len(),
            LabelValue::Short(text) if text.is_too_long() => LONGEST_TEXTS + 1,
            LabelValue::Short(text) => text.len(),
            LabelValue::Unsigned(_) | LabelValue::Signed(_) => 0,
        };
        L::fits(&self.names, labels)
            && (L::COMBINATIONS.is_some()
                || (0..self.names().len()).map(bytes).fold(0, usize::saturating_add)
                    <= LONGEST_TEXTS)
    }

    /// Returns whether lookups announce their series: see `series_hold`.
    fn announces(&self) -> bool {
        self.table.get().is_some_and(|table| table.announces)
    }

    fn lock(&self) -> impl std::ops::DerefMut<Target = Forgotten<L, M>> + '_ {
        // A thread that panicked under the lock (in a metric's drop) left everything in its place.
        self.forgotten.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<L: Labels<Names = ()>, M: Metric + Default> Default for Family<L, M> {
    fn default() -> Family<L, M> {
        Family::new()
    }
}

/// Shows each series.
impl<L: Labels, M: Metric + Debug, F> Debug for Family<L, M, F> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Family ")?;
        f.debug_list().entries(self).finish()
    }
}

//! Handles of series, which own or borrow them.

use std::fmt::{self, Debug, Formatter};
use std::ops::Deref;
#[cfg(feature = "export")]
use std::time::SystemTime;

use crate::arena::on_demand::Repeated;
use crate::family::labels::{LabelValue, Labels};
use crate::family::names::OVERFLOW;
use crate::family::series::Series;
use crate::family::series_hold::Hold;
use crate::family::shared::Shared;
use crate::in_flight::{InFlight, LevelOwner};

mod counter;

/// An owning handle of a series of a [`Family`](crate::Family). Adds through it cost the same as
/// adds to a metric without a family.
///
/// Returned by [`Family::handle`](crate::Family::handle), and by an iteration over the family. It
/// dereferences to the metric. As long as there is a handle, [`retain`](crate::Family::retain)
/// keeps the series. After the family was dropped, or the series [removed](crate::Family::remove),
/// a handle stays usable, detached from the family.
///
/// ```
/// use windrow::{Counter, Family, labels};
///
/// labels! { pub struct Route { route: str } }
///
/// static REQUESTS: Family<Route, Counter> = Family::new();
///
/// let cart = REQUESTS.handle(Route { route: "/cart" }); // once
/// for _ in 0..3 {
///     cart.increment();
/// }
/// assert_eq!(REQUESTS.with(Route { route: "/cart" }).sum(), 3);
/// assert_eq!(cart.labels(), Some(Route { route: "/cart" }));
/// ```
#[must_use = "a handle counts nothing by itself"]
#[repr(C)] // for `counter`
pub struct Handle<L: Labels, M> {
    series: Shared<L, M>,
    /// The word of a counter's column, for adds through this handle: see [`counter`].
    column: Repeated,
}

impl<L: Labels, M> Handle<L, M> {
    pub(super) fn new(series: Shared<L, M>) -> Handle<L, M> {
        Handle { series, column: Repeated::new() }
    }

    pub(super) fn series(&self) -> &Series<L, M> {
        &self.series
    }

    /// Returns the series' labels; `None` for the overflow series.
    ///
    /// ```
    /// # use windrow::{Counter, Family, labels};
    /// # labels! { pub struct Route { route: str } }
    /// let requests: Family<Route, Counter> = Family::new().with_max_series(1);
    /// assert_eq!(requests.handle(Route { route: "/a" }).labels(), Some(Route { route: "/a" }));
    /// assert_eq!(requests.handle(Route { route: "/b" }).labels(), None);
    /// ```
    pub fn labels(&self) -> Option<L::Borrowed<'_>> {
        self.series.labels().map(L::borrow)
    }

    /// Returns the number of the series, which is unique in the process for all time.
    #[cfg(feature = "export")]
    pub(crate) fn number(&self) -> u64 {
        self.series.number()
    }

    /// Returns the time at which the series was made, by the system's clock.
    #[cfg(feature = "export")]
    pub(crate) fn created(&self) -> SystemTime {
        self.series.created()
    }

    /// Returns the labels by name, as exporters show them. The overflow series has the one label
    /// `overflow`, with the value `true`.
    ///
    /// ```
    /// # use windrow::{Counter, Family, labels};
    /// # labels! { pub struct Route { route: str, status: u16 } }
    /// let requests: Family<Route, Counter> = Family::new().with_max_series(1);
    /// let show = |route, status| {
    ///     let handle = requests.handle(Route { route, status });
    ///     handle.pairs().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
    /// };
    /// assert_eq!(show("/a", 200), ["route=/a", "status=200"]);
    /// assert_eq!(show("/b", 200), ["overflow=true"]);
    /// ```
    pub fn pairs(&self) -> impl Iterator<Item = (&str, LabelValue<'_>)> {
        let labels = self.labels();
        let own = labels.into_iter().flat_map(|labels| {
            let names = L::names(&self.series.names).iter().copied().enumerate();
            names.map(move |(position, name)| (name, L::value(labels, position)))
        });
        let overflow = labels.is_none().then_some((OVERFLOW, LabelValue::Text("true")));
        own.chain(overflow)
    }
}

impl<L: Labels, M> Handle<L, M> {
    /// Calls `see` with each of the [pairs](Self::pairs), in a plain loop.
    pub(crate) fn each_pair(&self, mut see: impl FnMut(&str, LabelValue<'_>)) {
        let Some(labels) = self.labels() else {
            return see(OVERFLOW, LabelValue::Text("true"));
        };
        for (position, name) in L::names(&self.series.names).iter().enumerate() {
            see(name, L::value(labels, position));
        }
    }
}

impl<L: Labels, M> Clone for Handle<L, M> {
    fn clone(&self) -> Handle<L, M> {
        Handle::new(self.series.clone())
    }
}

impl<L: Labels, M> Deref for Handle<L, M> {
    type Target = M;

    #[inline]
    fn deref(&self) -> &M {
        &self.series.metric
    }
}

/// A guard that owns a handle keeps the series.
impl<L: Labels, M: LevelOwner> LevelOwner for Handle<L, M> {
    #[inline]
    fn in_flight(&self) -> &InFlight {
        self.series.metric.in_flight()
    }

    #[inline]
    fn left(&self, before: u64) {
        self.series.metric.left(before);
    }
}

/// Shows labels and metric.
impl<L: Labels, M: Debug> Debug for Handle<L, M> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Handle").field(&self.labels()).field(&self.series.metric).finish()
    }
}

/// A metric of a [`Family`](crate::Family), borrowed for a short time: from
/// [`Family::with`](crate::Family::with). It dereferences to the metric.
///
/// Unless all labels are enums, it keeps the series from being freed: the thread announces that it
/// uses the series, or it is pinned. As long as a thread is pinned, memory of removed series is not
/// freed, and windows by [epochs](crate::diagnostics::Strategy::Epochs) do not close buckets. So
/// use it at once and drop it. To keep a series, take a [`Handle`].
#[must_use = "a borrowed metric counts nothing by itself"]
pub struct Pinned<'f, L: Labels, M> {
    series: &'f Series<L, M>,
    _hold: Hold<L>,
}

impl<'f, L: Labels, M> Pinned<'f, L, M> {
    /// # Safety
    /// There is a [`Shared`] reference of the series for as long as the result lives.
    #[inline]
    pub(super) unsafe fn new(series: &'f Series<L, M>, hold: Hold<L>) -> Pinned<'f, L, M> {
        Pinned { series, _hold: hold }
    }

    /// Returns a handle of the series, for operations that begin here and end elsewhere: a request,
    /// for example.
    ///
    /// Unlike [`Family::handle`](crate::Family::handle) it takes no lock. Costs an addition to a
    /// reference count that all handles of the series share, and another when the handle is
    /// dropped. If the series is just being removed, the handle's adds count only in
    /// [`lifetime`](crate::Family::lifetime).
    ///
    /// ```
    /// use windrow::{Family, Gauge, labels};
    ///
    /// labels! { pub struct Route { route: str } }
    ///
    /// static OPEN: Family<Route, Gauge> = Family::new();
    ///
    /// let open = OPEN.with(Route { route: "/cart" }).keep();
    /// open.increment();
    /// std::thread::spawn(move || open.decrement()).join().unwrap();
    /// assert_eq!(OPEN.lifetime(), 0);
    /// ```
    pub fn keep(&self) -> Handle<L, M> {
        // SAFETY: the contract of `new`.
        Handle::new(unsafe { Shared::another(self.series) })
    }
}

impl<L: Labels, M> Deref for Pinned<'_, L, M> {
    type Target = M;

    #[inline]
    fn deref(&self) -> &M {
        &self.series.metric
    }
}

/// Shows the metric.
impl<L: Labels, M: Debug> Debug for Pinned<'_, L, M> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.series.metric.fmt(f)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use crate::{Counter, Family, labels::RuntimeLabels};

    /// Miri checks that a handle may free its series, and that a family that has removed a series
    /// may.
    #[test]
    fn the_last_reference_frees_a_series() {
        let family: Family<RuntimeLabels, Counter> =
            Family::with_names(["one"]).unwrap().with_max_series(2);
        let kept = ["stays", "leaves", "finds no room"].map(|text| family.handle(&[text]));
        family.with(&["stays"]).add(2);
        assert!(family.remove(&["leaves"]));
        family.handle(&["short"]).increment();
        assert!(family.remove(&["short"]));
        assert_eq!(family.lifetime(), 3);
        drop(family);
        assert_eq!(kept.map(|kept| kept.sum()), [2, 0, 0]);
    }
}

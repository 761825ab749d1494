//! The sharded gauge.

use std::fmt::{self, Debug, Display, Formatter};

use crate::counters::striped::{Striped, at_least_release};
use crate::sync::{Ordering, const_fn, fence};

/// A sharded (striped, per-CPU) gauge: a number that all cores may raise and lower at once, such as
/// open connections or bytes in use.
///
/// Costs the same as a [`Counter`](crate::Counter). Wraps at the ends of `i64`. (For a level that
/// is exact at each moment, or limited, see [`InFlight`](crate::InFlight).)
///
/// ```
/// use windrow::Gauge;
///
/// static OPEN: Gauge = Gauge::new();
///
/// OPEN.increment();
/// OPEN.add(2);
/// OPEN.decrement();
/// assert_eq!(OPEN.sum(), 2);
/// ```
///
/// There is no `set`, because it could not be exact. Adds are spread over the cores' cells, and no
/// scan sees all cells at one moment. Suppose that a thread adds 1 on one core and then, on another
/// core, subtracts it. A `set(0)` that scans meanwhile may miss the addition and see the
/// subtraction. It would treat the addition as later than itself and the subtraction as earlier,
/// and the gauge would read 1 too much from then on. A [`sum`](Self::sum) can have the same error,
/// but only once. To start from a known level, make the gauge from it: `Gauge::from(level)`.
///
/// A level that is known as a whole, such as a temperature or the length of a queue, needs no
/// stripes. Keep it in an atomic, and export it by [`from_fn`](crate::export::from_fn):
///
/// ```
/// use std::sync::atomic::{AtomicI64, Ordering};
/// use windrow::export::{Catalog, from_fn};
///
/// static DEGREES: AtomicI64 = AtomicI64::new(0);
///
/// let mut catalog = Catalog::new();
/// let degrees = from_fn(|| DEGREES.load(Ordering::Relaxed) as f64);
/// catalog.add("temperature", "Degrees Celsius", degrees)?;
/// DEGREES.store(21, Ordering::Relaxed); // this is the `set`
/// # Ok::<(), windrow::export::CatalogError>(())
/// ```
#[doc(alias = "per-CPU gauge")]
#[doc(alias = "IntGauge")]
#[doc(alias = "set")]
#[doc(alias = "AtomicI64")]
#[doc(alias = "percpu_counter")]
pub struct Gauge {
    cells: Striped,
}

impl Gauge {
    const_fn! {
        /// Returns a gauge at zero.
        ///
        /// ```
        /// static OPEN: windrow::Gauge = windrow::Gauge::new();
        /// assert_eq!(OPEN.sum(), 0);
        /// ```
        pub const fn new() -> Gauge {
            Gauge { cells: Striped::new() }
        }
    }

    /// Adds `n`, which may be negative, wrapping. Never fails, panics or waits. Release.
    ///
    /// ```
    /// let level = windrow::Gauge::new();
    /// level.add(-3);
    /// assert_eq!(level.sum(), -3);
    /// ```
    #[inline]
    #[doc(alias = "sub")]
    #[doc(alias = "percpu_counter_add")]
    #[doc(alias = "percpu_counter_sub")]
    pub fn add(&self, n: i64) {
        self.cells.add(n.cast_unsigned(), Ordering::Release);
    }

    /// Adds 1.
    ///
    /// ```
    /// let open = windrow::Gauge::new();
    /// open.increment();
    /// assert_eq!(open.sum(), 1);
    /// ```
    #[inline]
    #[doc(alias = "inc")]
    #[doc(alias = "percpu_counter_inc")]
    pub fn increment(&self) {
        self.add(1);
    }

    /// Subtracts 1.
    ///
    /// ```
    /// let open = windrow::Gauge::new();
    /// open.decrement();
    /// assert_eq!(open.sum(), -1);
    /// ```
    #[inline]
    #[doc(alias = "dec")]
    #[doc(alias = "percpu_counter_dec")]
    pub fn decrement(&self) {
        self.add(-1);
    }

    /// Returns the sum of the additions minus that of the subtractions.
    ///
    /// Exact when no thread adds. While additions *and* subtractions run, the result may be a value
    /// that the gauge never had: the scan may see a subtraction and miss the addition that came
    /// before it on another core. So a count of open connections can read below zero. Acquire.
    /// Costs a load for each [open row](crate::diagnostics::strategy#rows).
    ///
    /// ```
    /// let open = windrow::Gauge::new();
    /// open.add(5);
    /// open.decrement();
    /// assert_eq!(open.sum(), 4);
    /// ```
    #[doc(alias = "get")]
    #[doc(alias = "value")]
    #[doc(alias = "percpu_counter_sum")]
    #[doc(alias = "percpu_counter_sum_positive")]
    #[doc(alias = "percpu_counter_read")]
    #[inline]
    pub fn sum(&self) -> i64 {
        self.cells.sum().cast_signed()
    }

    /// Adds `n`, wrapping, under the name that [`AtomicI64`](std::sync::atomic::AtomicI64) has for
    /// it, but does not return the previous value. `order` is as for
    /// [`Counter::fetch_add`](crate::Counter::fetch_add).
    ///
    /// ```
    /// use std::sync::atomic::Ordering;
    ///
    /// let open = windrow::Gauge::new();
    /// open.fetch_add(2, Ordering::Relaxed);
    /// assert_eq!(open.sum(), 2);
    /// ```
    #[inline]
    pub fn fetch_add(&self, n: i64, order: Ordering) {
        self.cells.add(n.cast_unsigned(), at_least_release(order));
    }

    /// Subtracts `n`, wrapping: as [`fetch_add`](Self::fetch_add).
    ///
    /// ```
    /// use std::sync::atomic::Ordering;
    ///
    /// let open = windrow::Gauge::new();
    /// open.fetch_sub(2, Ordering::AcqRel);
    /// assert_eq!(open.sum(), -2);
    /// ```
    #[inline]
    pub fn fetch_sub(&self, n: i64, order: Ordering) {
        self.fetch_add(n.wrapping_neg(), order);
    }

    /// Returns the [`sum`](Self::sum), with its promises. It is not one atomic load; `order` is as
    /// for [`Counter::load`](crate::Counter::load).
    ///
    /// ```
    /// use std::sync::atomic::Ordering;
    ///
    /// let open = windrow::Gauge::new();
    /// open.add(2);
    /// assert_eq!(open.load(Ordering::Acquire), 2);
    /// ```
    #[inline]
    pub fn load(&self, order: Ordering) -> i64 {
        if order == Ordering::SeqCst {
            fence(Ordering::SeqCst); // as in `Counter::load`
        }
        self.sum()
    }
}

/// Returns a gauge at zero.
impl Default for Gauge {
    fn default() -> Gauge {
        Gauge::new()
    }
}

/// Converts a number to a gauge, as if the number had been added first.
///
/// ```
/// let level = windrow::Gauge::from(-5);
/// level.increment();
/// assert_eq!(level.sum(), -4);
/// ```
impl From<i64> for Gauge {
    fn from(n: i64) -> Gauge {
        Gauge { cells: Striped::starting_at(n.cast_unsigned()) }
    }
}

/// Formats the [`sum`](Gauge::sum) as an `i64`.
///
/// ```
/// let level = windrow::Gauge::from(-5);
/// assert_eq!(level.to_string(), "-5");
/// ```
impl Display for Gauge {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.sum(), f)
    }
}

/// Shows the sum.
impl Debug for Gauge {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gauge").field(&self.sum()).finish()
    }
}

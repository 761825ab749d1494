//! The maximum and the minimum of the values recorded.
//!
//! # Theorem
//!
//! Each value is covered by exactly one take: by one whose result is at least the value (of a
//! minimum: at most). No value is the result of two takes.
//!
//! # Why
//!
//! A cell of zero says that nothing was recorded there. A record raises one cell, in one step:
//! threads that share the cell raise it by a read-modify-write, and a cell of one core or one
//! thread has a single writer, whose store overwrites what it has found. A take exchanges each cell
//! for zero, which is also one step. So each raise comes before an exchange of its cell, which then
//! returns it; or behind that exchange, and is left to the next take. A store may come behind the
//! exchange although its thread has read the cell before: it overwrites a zero, and loses nothing.
//! A record that finds its own value or a greater one writes nothing: one exchange returns what it
//! has found, or the cell is raised first, and one exchange returns the greater value.
//!
//! A take does not see all cells at one moment, as a sum does not. So of two takes that run at the
//! same time, each has the greatest of the cells that it has exchanged.

use std::fmt::{self, Debug, Display, Formatter};

use crate::counters::striped::Striped;
use crate::recorded_value::Recorded;
use crate::sync::{AtomicBool, Ordering, const_fn};

/// A striped number that is raised and taken, and whether zero was recorded.
///
/// Zero is a value like any other, but a cell of zero says that there was none. So a flag says
/// whether zero was recorded. It is written once between two takes, and then only read.
struct Extreme {
    cells: Striped,
    has_zero: AtomicBool,
}

impl Extreme {
    const_fn! {
        const fn new() -> Extreme {
            Extreme { cells: Striped::new(), has_zero: AtomicBool::new(false) }
        }
    }

    #[inline]
    fn record(&self, value: u64) {
        self.cells.raise(value);
        if value == 0 {
            self.record_zero();
        }
    }

    #[cold]
    fn record_zero(&self) {
        // Relaxed: a flag that is set covers this zero, too: the take that clears it comes behind
        // this load, and has a result.
        if !self.has_zero.load(Ordering::Relaxed) {
            // Release: pairs with the Acquire in `get` and `take`: a thread that sees the flag sees
            // what this thread did before.
            self.has_zero.store(true, Ordering::Release);
        }
    }

    #[inline]
    fn get(&self) -> Option<u64> {
        let greatest = self.cells.greatest();
        // Acquire: pairs with the Release in `record_zero`.
        (greatest > 0 || self.has_zero.load(Ordering::Acquire)).then_some(greatest)
    }

    #[inline]
    fn take(&self) -> Option<u64> {
        let greatest = self.cells.take_greatest();
        // Behind the cells, whose exchanges are Acquire: a zero is not left to the next take if a
        // value that its thread recorded later is in this one.
        // Relaxed: a flag that is not set is not taken; if it was set before this call, it is seen.
        let has_zero = self.has_zero.load(Ordering::Relaxed)
            // Acquire: pairs with the Release in `record_zero`. Of two takes, one has the zero.
            && self.has_zero.swap(false, Ordering::Acquire);
        (greatest > 0 || has_zero).then_some(greatest)
    }
}

/// A sharded maximum: the greatest value recorded, from all cores at once: Java's `LongAccumulator`
/// of `max`.
///
/// A record that is not greater than those that this core has made before writes nothing.
///
/// ```
/// use windrow::Maximum;
///
/// static SLOWEST: Maximum = Maximum::new();
///
/// assert_eq!(SLOWEST.get(), None);
/// SLOWEST.record(0);
/// assert_eq!(SLOWEST.get(), Some(0));
/// SLOWEST.record(7);
/// SLOWEST.record(3);
/// assert_eq!(SLOWEST.get(), Some(7));
/// ```
///
/// [`take`](Self::take) returns the maximum and starts anew. For the greatest value of each second
/// or minute without a thread that takes it, record an event of the kind
/// [`Maximum`](crate::Kind::Maximum) in a [`SlidingWindow`](crate::SlidingWindow).
#[doc(alias = "LongAccumulator")]
#[doc(alias = "DoubleAccumulator")]
#[doc(alias = "Maxer")]
pub struct Maximum(Extreme);

impl Maximum {
    const_fn! {
        /// Returns a maximum with no value recorded.
        ///
        /// ```
        /// static SLOWEST: windrow::Maximum = windrow::Maximum::new();
        /// assert_eq!(SLOWEST.get(), None);
        /// ```
        pub const fn new() -> Maximum {
            Maximum(Extreme::new())
        }
    }

    /// Records `value`: a `u64`, or a [`Duration`](std::time::Duration) as its nanoseconds.
    ///
    /// Never fails, panics or waits. Release.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let slowest = windrow::Maximum::new();
    /// slowest.record(9);
    /// assert_eq!(slowest.get(), Some(9));
    /// slowest.record(Duration::from_micros(1));
    /// assert_eq!(slowest.get(), Some(1_000));
    /// ```
    #[inline]
    #[doc(alias = "fetch_max")]
    #[doc(alias = "accumulate")]
    #[doc(alias = "absolute")]
    #[doc(alias = "observe")]
    pub fn record(&self, value: impl Recorded) {
        self.0.record(value.number());
    }

    /// Returns the greatest value recorded; `None` if there was none.
    ///
    /// Records that run at the same time may be included or not. The result is no less than any
    /// value whose record is [before the call](crate::Counter::sum), and goes down only by a
    /// [take](Self::take). Acquire. Costs a load for each [open
    /// row](crate::diagnostics::strategy#rows).
    ///
    /// ```
    /// assert_eq!(windrow::Maximum::new().get(), None);
    /// ```
    #[inline]
    pub fn get(&self) -> Option<u64> {
        self.0.get()
    }

    /// Returns the greatest value recorded since the last take, and starts anew (a drain); `None`
    /// if there was none.
    ///
    /// Every value counts for exactly one take, whose result is at least the value; and no record
    /// is the result of two. Records that run at the same time may be included or not. It is *not*
    /// an atomic snapshot: of several takes that run at the same time, each may have a part of the
    /// cores' values, so that the greatest of their results is the greatest value; and a
    /// [`get`](Self::get) meanwhile may return a value that was not the maximum at any moment.
    ///
    /// Acquire. Costs a load for each [open row](crate::diagnostics::strategy#rows), and an
    /// exchange for each that has recorded since the last take.
    ///
    /// ```
    /// let slowest = windrow::Maximum::new();
    /// slowest.record(4);
    /// slowest.record(9);
    /// assert_eq!(slowest.take(), Some(9));
    /// assert_eq!(slowest.take(), None);
    /// slowest.record(4);
    /// assert_eq!(slowest.get(), Some(4));
    /// ```
    #[must_use = "the value is lost otherwise: to restart without it, write `_ = it.take()`"]
    #[doc(alias = "reset")]
    #[doc(alias = "store")]
    #[doc(alias = "clear")]
    #[doc(alias = "getThenReset")]
    #[doc(alias = "swap")]
    #[inline]
    pub fn take(&self) -> Option<u64> {
        self.0.take()
    }
}

/// A sharded minimum: the least value recorded, from all cores at once: Java's `LongAccumulator` of
/// `min`.
///
/// A value that is not below this core's minimum writes nothing.
///
/// ```
/// use windrow::Minimum;
///
/// static FASTEST: Minimum = Minimum::new();
///
/// assert_eq!(FASTEST.get(), None);
/// FASTEST.record(u64::MAX);
/// assert_eq!(FASTEST.get(), Some(u64::MAX));
/// FASTEST.record(3);
/// FASTEST.record(7);
/// assert_eq!(FASTEST.get(), Some(3));
/// ```
///
/// [`take`](Self::take) returns the minimum and starts anew.
#[doc(alias = "LongAccumulator")]
#[doc(alias = "DoubleAccumulator")]
#[doc(alias = "Miner")]
pub struct Minimum(Extreme); // of complements: the least value has the greatest complement

impl Minimum {
    const_fn! {
        /// Returns a minimum with no value recorded.
        ///
        /// ```
        /// static FASTEST: windrow::Minimum = windrow::Minimum::new();
        /// assert_eq!(FASTEST.get(), None);
        /// ```
        pub const fn new() -> Minimum {
            Minimum(Extreme::new())
        }
    }

    /// Records `value`: a `u64`, or a [`Duration`](std::time::Duration) as its nanoseconds.
    ///
    /// Never fails, panics or waits. Release.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let fastest = windrow::Minimum::new();
    /// fastest.record(9);
    /// assert_eq!(fastest.get(), Some(9));
    /// fastest.record(Duration::from_micros(1));
    /// assert_eq!(fastest.get(), Some(9));
    /// ```
    #[inline]
    #[doc(alias = "fetch_min")]
    #[doc(alias = "accumulate")]
    #[doc(alias = "observe")]
    pub fn record(&self, value: impl Recorded) {
        self.0.record(!value.number());
    }

    /// Returns the least value recorded; `None` if there was none.
    ///
    /// Records that run at the same time may be included or not. The result is no greater than any
    /// value whose record is [before the call](crate::Counter::sum), and goes up only by a
    /// [take](Self::take). Acquire. Costs a load for each [open
    /// row](crate::diagnostics::strategy#rows).
    ///
    /// ```
    /// assert_eq!(windrow::Minimum::new().get(), None);
    /// ```
    #[inline]
    pub fn get(&self) -> Option<u64> {
        self.0.get().map(|complement| !complement)
    }

    /// Returns the least value recorded since the last take, and starts anew (a drain); `None` if
    /// there was none.
    ///
    /// Every value counts for exactly one take, whose result is at most the value; and no record is
    /// the result of two takes. Records that run at the same time may be included or not. It is
    /// *not* an atomic snapshot: of several takes that run at the same time, each may have a part
    /// of the cores' values, so that the least of their results is the least value; and a
    /// [`get`](Self::get) meanwhile may return a value that was not the minimum at any moment.
    ///
    /// Acquire. Costs a load for each [open row](crate::diagnostics::strategy#rows), and an
    /// exchange for each that has recorded since the last take.
    ///
    /// ```
    /// let fastest = windrow::Minimum::new();
    /// fastest.record(9);
    /// fastest.record(4);
    /// assert_eq!(fastest.take(), Some(4));
    /// assert_eq!(fastest.take(), None);
    /// fastest.record(9);
    /// assert_eq!(fastest.get(), Some(9));
    /// ```
    #[must_use = "the value is lost otherwise: to restart without it, write `_ = it.take()`"]
    #[doc(alias = "reset")]
    #[doc(alias = "store")]
    #[doc(alias = "clear")]
    #[doc(alias = "getThenReset")]
    #[doc(alias = "swap")]
    #[inline]
    pub fn take(&self) -> Option<u64> {
        self.0.take().map(|complement| !complement)
    }
}

/// Returns a maximum with no value recorded.
impl Default for Maximum {
    fn default() -> Maximum {
        Maximum::new()
    }
}

/// Returns a minimum with no value recorded.
impl Default for Minimum {
    fn default() -> Minimum {
        Minimum::new()
    }
}

/// Formats a value as a `u64`, or as `none`.
#[inline]
fn show(value: Option<u64>, f: &mut Formatter<'_>) -> fmt::Result {
    match value {
        Some(value) => Display::fmt(&value, f),
        None => f.pad("none"),
    }
}

/// Formats the [value](Maximum::get), or `none` if no value was recorded.
///
/// ```
/// let slowest = windrow::Maximum::new();
/// assert_eq!(slowest.to_string(), "none");
/// slowest.record(7);
/// assert_eq!(slowest.to_string(), "7");
/// ```
impl Display for Maximum {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        show(self.get(), f)
    }
}

/// Formats the [value](Minimum::get), or `none` if no value was recorded.
///
/// ```
/// let fastest = windrow::Minimum::new();
/// fastest.record(7);
/// assert_eq!(format!("{fastest:>3}"), "  7");
/// ```
impl Display for Minimum {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        show(self.get(), f)
    }
}

/// Shows the value.
impl Debug for Maximum {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Maximum").field(&self.get()).finish()
    }
}

/// Shows the value.
impl Debug for Minimum {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Minimum").field(&self.get()).finish()
    }
}

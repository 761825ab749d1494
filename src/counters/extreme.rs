//! The maximum and the minimum of the values recorded.

use std::fmt::{self, Debug, Display, Formatter};

use crate::counters::striped::Striped;
use crate::recorded::Recorded;
use crate::sync::{AtomicBool, Ordering, const_fn};

/// A striped number that only rises, and whether it was ever raised.
///
/// Zero is a value like any other. So a flag says whether a value was recorded. It is written once,
/// and then only read.
struct Extreme {
    cells: Striped,
    recorded: AtomicBool,
}

impl Extreme {
    const_fn! {
        const fn new() -> Extreme {
            Extreme { cells: Striped::new(), recorded: AtomicBool::new(false) }
        }
    }

    #[inline]
    fn record(&self, value: u64) {
        self.cells.raise(value);
        // Relaxed: once set, it stays set. The cell publishes our value.
        if !self.recorded.load(Ordering::Relaxed) {
            // Release: pairs with the Acquire in `get`: a reader that sees the flag sees the value.
            self.recorded.store(true, Ordering::Release);
        }
    }

    fn get(&self) -> Option<u64> {
        // Acquire: pairs with the Release in `record`.
        self.recorded.load(Ordering::Acquire).then(|| self.cells.greatest())
    }
}

/// A sharded maximum: the greatest value recorded, from all cores at once.
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
/// There is no `take`, because it would not be exact: the value and the flag that there is one are
/// two words. Suppose that a `take` clears both while a thread records. If it clears the value
/// first, it may then clear the flag of a value that was recorded in between, and lose that value.
/// If it clears the flag first, it may return a value whose thread then sets the flag again. For
/// the greatest value of each second or minute, record an event of the kind
/// [`Maximum`](crate::Kind::Maximum) in a [`SlidingWindow`](crate::SlidingWindow).
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
    pub fn record(&self, value: impl Recorded) {
        self.0.record(value.number());
    }

    /// Returns the greatest value recorded; `None` if there was none.
    ///
    /// Records that run at the same time may be included or not. The result is no less than any
    /// value whose record returned before the call, and never goes down. Acquire. Costs a load for
    /// each [open row](crate::diagnostics::strategy#rows).
    ///
    /// ```
    /// assert_eq!(windrow::Maximum::new().get(), None);
    /// ```
    pub fn get(&self) -> Option<u64> {
        self.0.get()
    }

    /// Returns whether each core adds to a cell of its own. False before the first record, and for
    /// good if that record found the arena full ([`columns`](crate::diagnostics::columns)): then
    /// all threads add to one shared cell, which is as exact, and contend.
    ///
    /// ```
    /// let slowest = windrow::Maximum::new();
    /// slowest.record(3);
    /// assert!(slowest.is_striped());
    /// ```
    pub fn is_striped(&self) -> bool {
        self.0.cells.is_striped()
    }
}

/// A sharded minimum: the least value recorded, from all cores at once.
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
/// There is no `take`, for the same reason as in [`Maximum`].
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
    pub fn record(&self, value: impl Recorded) {
        self.0.record(!value.number());
    }

    /// Returns the least value recorded; `None` if there was none.
    ///
    /// Records that run at the same time may be included or not. The result is no greater than any
    /// value whose record returned before the call, and never goes up. Acquire. Costs a load for
    /// each [open row](crate::diagnostics::strategy#rows).
    ///
    /// ```
    /// assert_eq!(windrow::Minimum::new().get(), None);
    /// ```
    pub fn get(&self) -> Option<u64> {
        self.0.get().map(|complement| !complement)
    }

    /// Returns whether each core adds to a cell of its own. False before the first record, and for
    /// good if that record found the arena full ([`columns`](crate::diagnostics::columns)): then
    /// all threads add to one shared cell, which is as exact, and contend.
    ///
    /// ```
    /// let fastest = windrow::Minimum::new();
    /// fastest.record(3);
    /// assert!(fastest.is_striped());
    /// ```
    pub fn is_striped(&self) -> bool {
        self.0.cells.is_striped()
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
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        show(self.get(), f)
    }
}

/// Shows the value.
impl Debug for Maximum {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Maximum").field(&self.get()).finish()
    }
}

/// Shows the value.
impl Debug for Minimum {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Minimum").field(&self.get()).finish()
    }
}

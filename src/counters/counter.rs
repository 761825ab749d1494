//! The sharded counter.

use std::fmt::{self, Debug, Display, Formatter};

use crate::arena::by_row::ByRow;
use crate::counters::striped::{Striped, at_least_release};
use crate::exemplar::Exemplars;
use crate::sync::{AtomicU64, Ordering, const_fn, fence};

mod exemplars;

/// A sharded (striped, per-CPU) counter: Java's `LongAdder` with the method names of `AtomicU64`.
///
/// An add writes only the adding core's own cell; a read sums the cells of all cores. A counter
/// takes 32 bytes, and 8 bytes for each core. Counts wrap at 2^64.
///
/// No decision can be based on an add: [`fetch_add`](Self::fetch_add) returns nothing, because no
/// thread knows the sum at the moment of an add. So code that needs the previous value does not
/// compile. (For limits, see [`Gate`](crate::Gate) and [`InFlight`](crate::InFlight).)
///
/// ```
/// use windrow::Counter;
///
/// static HITS: Counter = Counter::new();
///
/// std::thread::scope(|scope| {
///     for _ in 0..4 {
///         scope.spawn(|| (0..1_000).for_each(|_| HITS.increment()));
///     }
/// });
/// assert_eq!(HITS.sum(), 4_000);
/// ```
///
/// ```compile_fail
/// # use std::sync::atomic::Ordering;
/// let tickets = windrow::Counter::new();
/// let mine: u64 = tickets.fetch_add(1, Ordering::Relaxed); // there is no such number
/// ```
///
/// # Draining
///
/// [`take`](Self::take) resets no cell. It moves a *baseline* up to the sum that it
/// found, and returns the difference. Two drains cannot both move the baseline from the same place,
/// so every add is in exactly one result. (A `LongAdder`'s `sum` with a `reset` behind it loses the
/// adds in between; its `sumThenReset` loses none on Java 17.)
///
/// # The end of a thread
///
/// A thread keeps no counts, so none is lost with it. An add in one of its destructors counts as
/// any other; if the thread has given its row back by then, that add takes a locked instruction.
///
/// # Signal handlers
///
/// A signal handler may add to a counter that has been used once, also to one to which the
/// interrupted thread is adding, where the processor has atomic operations of 64 bits:
/// `cfg!(target_has_atomic = "64")`. Processors without them (32-bit PowerPC and MIPS, for example)
/// take a lock for each access. A handler that interrupts its thread there waits for that lock for
/// ever, so it must neither add nor read. (It can count in an `AtomicU32`, which another thread
/// adds to the counter.)
///
/// # Coroutines
///
/// Tasks of an async runtime may move between threads. A *stackful* coroutine that is suspended on
/// one thread and resumed on another must not add in the function that suspends it, nor in one that
/// is in line there. The compiler keeps the addresses of thread-locals for all of a function, so an
/// add after the suspension may go to the row of the first thread, and meet an add of that thread:
/// one of them is lost. This holds for everything that counts, in each strategy but
/// [`PerCore`](crate::diagnostics::Strategy::PerCore). A guard or a timer may stand on
/// the coroutine's stack, but its end is an add too.
///
/// ```
/// static SENT: windrow::Counter = windrow::Counter::new();
///
/// #[inline(never)] // the thread-local's address is looked up in each call
/// fn sent(bytes: u64) {
///     SENT.add(bytes);
/// }
///
/// sent(10);
/// // The coroutine is suspended here, and resumed on another thread.
/// sent(5);
/// assert_eq!(SENT.sum(), 15);
/// ```
///
/// # Orderings
///
/// * A drain reads the baseline with Acquire *before* it scans. If it sees another drain's baseline
///   (stored with Release), it sees every add that this drain has counted. So its result is never
///   negative.
/// * A sum reads the baseline before and after it scans. If it sees an add that came after some
///   drain (adds are Release, the scan is Acquire), it also sees that drain's baseline, and starts
///   again. A single read would be wrong: before the scan, the sum would include adds that were
///   drained; after it, the sum would be negative.
#[doc(alias = "LongAdder")]
#[doc(alias = "sharded counter")]
#[doc(alias = "per-CPU counter")]
#[doc(alias = "percpu_counter")]
#[doc(alias = "DoubleAdder")]
#[doc(alias = "ThreadCachedInt")]
#[doc(alias = "IntCounter")]
#[doc(alias = "AtomicU64")]
#[doc(alias = "Adder")]
pub struct Counter {
    cells: Striped,
    /// The all-time sum at the last drain.
    base: AtomicU64,
    exemplars: Exemplars,
}

impl Counter {
    const_fn! {
        /// Returns a counter at zero.
        ///
        /// ```
        /// static HITS: windrow::Counter = windrow::Counter::new();
        /// assert_eq!(HITS.sum(), 0);
        /// ```
        pub const fn new() -> Counter {
            Counter {
                cells: Striped::new(),
                base: AtomicU64::new(0),
                exemplars: Exemplars::new(),
            }
        }
    }

    /// Adds `n`, wrapping.
    ///
    /// Never fails, panics or waits. Release: a thread that sees this add in a [`sum`](Self::sum)
    /// sees what this thread did before.
    ///
    /// ```
    /// let bytes = windrow::Counter::new();
    /// bytes.add(1_500);
    /// assert_eq!(bytes.sum(), 1_500);
    /// ```
    #[inline]
    #[doc(alias = "inc_by")]
    #[doc(alias = "percpu_counter_add")]
    pub fn add(&self, n: u64) {
        self.cells.add(n, Ordering::Release);
    }

    /// Adds 1.
    ///
    /// ```
    /// let hits = windrow::Counter::new();
    /// hits.increment();
    /// assert_eq!(hits.sum(), 1);
    /// ```
    #[inline]
    #[doc(alias = "inc")]
    #[doc(alias = "percpu_counter_inc")]
    pub fn increment(&self) {
        self.add(1);
    }

    /// Returns the sum of the adds since the counter was made or last drained.
    ///
    /// *Not* an atomic snapshot: adds that run at the same time may be included or not, in any
    /// combination. The sum lies between the true count when the call began and the true count when
    /// it returned (*intermediate value linearizability*, Rinberg and Keidar, DISC 2020). It never
    /// goes back, except by a drain. Acquire. Costs a load for each [open
    /// row](crate::diagnostics::strategy#rows), and a few more.
    ///
    /// The true count *when the call began* is that of the adds before the call. "Before" means
    /// ordered by synchronisation (a join, a lock, a channel, an Acquire load), or on this thread.
    /// An add that has merely returned by the clock may be in its core's store buffer for some
    /// nanoseconds more: per core, an add ends with a store that waits for no other core.
    ///
    /// ```
    /// let hits = windrow::Counter::new();
    /// hits.add(2);
    /// hits.add(3);
    /// assert_eq!(hits.sum(), 5);
    /// ```
    #[doc(alias = "get")]
    #[doc(alias = "value")]
    #[doc(alias = "intValue")]
    #[doc(alias = "longValue")]
    #[doc(alias = "readFull")]
    #[doc(alias = "readFast")]
    #[doc(alias = "percpu_counter_sum")]
    #[doc(alias = "percpu_counter_read")]
    #[doc(alias = "percpu_counter_compare")]
    pub fn sum(&self) -> u64 {
        self.settled(|base| self.cells.sum().wrapping_sub(base))
    }

    /// Returns the cells, to which all adds go.
    pub(crate) fn cells(&self) -> &Striped {
        &self.cells
    }

    /// Returns the result of `read`, given a baseline that is the present one both before and after
    /// it scans.
    #[inline]
    fn settled<R>(&self, read: impl Fn(u64) -> R) -> R {
        loop {
            // Acquire: pairs with the Release in `take`. This scan sees at least what
            // that drain's scan saw.
            let base = self.base.load(Ordering::Acquire);
            let found = read(base);
            // Relaxed: the scan's Acquire keeps this load behind the scan. By that Acquire, too,
            // the load finds every baseline that an add in the scan came after.
            if self.base.load(Ordering::Relaxed) == base {
                return found;
            }
        }
    }

    /// Returns the sum of all adds ever made, drained or not.
    ///
    /// For exporters, whose counters must never go back. As consistent as [`sum`](Self::sum), and
    /// unaffected by drains: successive results on one thread never decrease, until the number
    /// wraps at 2^64. Acquire. Costs a load for each [open row](crate::diagnostics::strategy#rows).
    ///
    /// ```
    /// let hits = windrow::Counter::new();
    /// hits.add(2);
    /// assert_eq!(hits.take(), 2);
    /// hits.add(3);
    /// assert_eq!((hits.sum(), hits.lifetime()), (3, 5));
    /// ```
    #[inline]
    pub fn lifetime(&self) -> u64 {
        self.cells.sum()
    }

    /// Returns the part of [`lifetime`](Self::lifetime) in each core's row: how the adds are spread
    /// over the cores.
    ///
    /// Each row is as consistent as `lifetime`, and never goes back. The rows are read one after
    /// the other: adds that run at the same time may be included or not. Acquire. Costs a load for
    /// each [open row](crate::diagnostics::strategy#rows), and an allocation.
    ///
    /// ```
    /// let hits = windrow::Counter::new();
    /// std::thread::scope(|scope| {
    ///     for _ in 0..4 {
    ///         scope.spawn(|| hits.add(10));
    ///     }
    /// });
    /// let by_row = hits.by_row();
    /// assert_eq!(by_row.rows.iter().sum::<u64>() + by_row.shared, 40);
    /// ```
    #[inline]
    pub fn by_row(&self) -> ByRow {
        self.cells.by_row()
    }

    /// Returns whether each core adds to a cell of its own. False before the first add, and for
    /// good if that add found the arena full ([`columns`](crate::diagnostics::columns)): then all
    /// threads add to one shared cell, which is as exact, and contend.
    ///
    /// ```
    /// let hits = windrow::Counter::new();
    /// hits.add(3);
    /// assert!(hits.is_striped());
    /// ```
    #[inline]
    pub fn is_striped(&self) -> bool {
        self.cells.is_striped()
    }

    /// Returns the [`sum`](Self::sum) and restarts at zero (a drain).
    ///
    /// Every add is in exactly one call's result, however many threads call at once. Acquire and
    /// Release. Costs a load for each [open row](crate::diagnostics::strategy#rows) and a
    /// compare-exchange.
    ///
    /// ```
    /// let hits = windrow::Counter::new();
    /// hits.add(2);
    /// assert_eq!(hits.take(), 2);
    /// hits.add(3);
    /// assert_eq!(hits.take(), 3);
    /// assert_eq!(hits.take(), 0);
    /// ```
    #[doc(alias = "reset")]
    #[doc(alias = "set")]
    #[doc(alias = "store")]
    #[doc(alias = "clear")]
    #[doc(alias = "percpu_counter_set")]
    #[doc(alias = "swap")]
    #[doc(alias = "sumThenReset")]
    #[must_use = "the count is lost otherwise: to restart without it, write `_ = counter.take()`"]
    #[doc(alias = "drain")]
    #[doc(alias = "getThenReset")]
    #[doc(alias = "readFullAndReset")]
    #[doc(alias = "readFastAndReset")]
    #[doc(alias = "value_and_reset")]
    #[inline]
    pub fn take(&self) -> u64 {
        loop {
            // Acquire: pairs with the Release below. This scan is no older than the one that the
            // baseline came from, so the difference is not negative.
            let base = self.base.load(Ordering::Acquire);
            let sum = self.cells.sum();
            // Release: a thread that loads this baseline sees what this scan saw. On failure
            // another drain came between: this scan is discarded.
            let moved = self.base.compare_exchange(base, sum, Ordering::Release, Ordering::Relaxed);
            if moved.is_ok() {
                return sum.wrapping_sub(base);
            }
        }
    }

    /// Adds `n`, wrapping, under the name that [`AtomicU64`](std::sync::atomic::AtomicU64) has for
    /// it, but does not return the previous value, which no thread knows.
    ///
    /// The add is `SeqCst` if `order` is, and Release for any other `order`. An add that returns
    /// nothing has nothing to acquire.
    ///
    /// ```
    /// use std::sync::atomic::Ordering;
    ///
    /// let hits = windrow::Counter::new();
    /// hits.fetch_add(1, Ordering::Relaxed);
    /// assert_eq!(hits.load(Ordering::Relaxed), 1);
    /// ```
    #[inline]
    pub fn fetch_add(&self, n: u64, order: Ordering) {
        self.cells.add(n, at_least_release(order));
    }

    /// Returns the [`sum`](Self::sum), under the name that
    /// [`AtomicU64`](std::sync::atomic::AtomicU64) has for it.
    ///
    /// It is *not* one atomic load, but a load of the cell in each open row. Each is Acquire for
    /// any `order`; `SeqCst` also puts a sequentially consistent fence before them. The two orders
    /// that make no sense for a load (`Release` and `AcqRel`) are accepted, and count as Acquire.
    ///
    /// ```
    /// use std::sync::atomic::Ordering;
    ///
    /// let hits = windrow::Counter::new();
    /// hits.add(4);
    /// assert_eq!(hits.load(Ordering::SeqCst), 4);
    /// ```
    #[inline]
    pub fn load(&self, order: Ordering) -> u64 {
        if order == Ordering::SeqCst {
            // Pairs with the caller's SeqCst accesses and fences, as a SeqCst load would.
            fence(Ordering::SeqCst);
        }
        self.sum()
    }
}

/// Returns a counter at zero.
impl Default for Counter {
    fn default() -> Counter {
        Counter::new()
    }
}

/// Converts a number to a counter, as if the number had been added first.
///
/// ```
/// let hits = windrow::Counter::from(40);
/// hits.add(2);
/// assert_eq!(hits.take(), 42);
/// assert_eq!(hits.sum(), 0);
/// ```
impl From<u64> for Counter {
    #[inline]
    fn from(n: u64) -> Counter {
        Counter { cells: Striped::starting_at(n), ..Counter::new() }
    }
}

/// Formats the [`sum`](Counter::sum) as a `u64`.
///
/// ```
/// let hits = windrow::Counter::from(42);
/// assert_eq!(format!("{hits} hits, {hits:>5}"), "42 hits,    42");
/// ```
impl Display for Counter {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.sum(), f)
    }
}

/// Shows the sum.
impl Debug for Counter {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Counter").field(&self.sum()).finish()
    }
}

//! A series of a family: a set of labels, and its metric.

use std::mem::ManuallyDrop;
use std::ptr::{from_ref, null_mut, with_exposed_provenance};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::clock::{Clock, Coarse};
use crate::family::labels::Labels;
use crate::family::number;
use crate::sync::{Arc, AtomicBool, AtomicPtr, AtomicU8, AtomicU64, Ordering, Witness};
use crate::timestamp::saturating_nanos;

/// Used since the last look.
const USED: u8 = 2;
/// Not used since the last look.
const IDLE: u8 = 1;
/// Removed, but still in its place, because it is found by its index: its next use makes it visible
/// again.
const HIDDEN: u8 = 0;

pub(super) struct Series<L: Labels, M> {
    pub(super) hash: u64,
    /// Unique in the process.
    pub(super) number: u64,
    /// The next series in its list of the table.
    pub(super) next: AtomicPtr<Series<L, M>>,
    use_state: AtomicU8,
    /// True if the series was taken out of its list. Under the family's lock. (It is independent of
    /// the state of use: a thread that has found the series just before may still use it.)
    is_out: AtomicBool,
    /// `None` in the overflow series.
    pub(super) labels: Option<L::Stored>,
    pub(super) names: L::Names,
    pub(super) metric: M,
    /// The system's time at which it was made, in nanoseconds since 1970. Exporters need one that
    /// never changes.
    created: u64,
    /// The time at which a look last found that it had been used, by the [`Coarse`] clock.
    last_used: AtomicU64,
    witness: Witness,
}

impl<L: Labels, M> Series<L, M> {
    pub(super) fn new(
        hash: u64,
        names: L::Names,
        labels: Option<L::Stored>,
        metric: M,
    ) -> Arc<Series<L, M>> {
        let series = Arc::new(Series {
            hash,
            number: number::next(),
            next: AtomicPtr::new(null_mut()),
            use_state: AtomicU8::new(USED),
            is_out: AtomicBool::new(false),
            labels,
            names,
            metric,
            created: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, saturating_nanos),
            last_used: AtomicU64::new(Coarse::default().now().as_nanos()),
            witness: Witness::new(),
        });
        let _ = Arc::as_ptr(&series).expose_provenance(); // for `in_arc`
        series
    }

    /// Returns the pointer of its `Arc`, which, unlike one from `self`, may free the series.
    pub(super) fn in_arc(&self) -> *const Series<L, M> {
        with_exposed_provenance(from_ref(self).addr())
    }

    /// Returns one more reference to the series.
    ///
    /// # Safety
    ///
    /// There is at least one reference.
    pub(super) unsafe fn share(&self) -> Arc<Series<L, M>> {
        // SAFETY: the contract; only `new` makes a series, in an `Arc`.
        unsafe {
            Arc::increment_strong_count(self.in_arc());
            Arc::from_raw(self.in_arc())
        }
    }

    /// Returns the number of references to the series.
    ///
    /// # Safety
    ///
    /// There is at least one reference.
    pub(super) unsafe fn references(&self) -> usize {
        // SAFETY: the contract; only `new` makes a series, in an `Arc`. The reference is not ours,
        // and not dropped.
        let series = unsafe { ManuallyDrop::new(Arc::from_raw(self.in_arc())) };
        Arc::strong_count(&series)
    }

    /// Returns the system's time at which it was made.
    pub(super) fn created(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_nanos(self.created)
    }

    /// Returns whether this is its hash.
    #[inline]
    pub(super) fn has(&self, hash: u64) -> bool {
        self.witness.check();
        L::COMBINATIONS.is_some() || self.hash == hash
    }

    /// Returns whether these are its labels, given that their hash is its hash.
    #[inline]
    pub(super) fn is(&self, labels: L::Borrowed<'_>) -> bool {
        // A family without a hash finds a series by its index.
        L::COMBINATIONS.is_some()
            || self.labels.as_ref().is_some_and(|stored| L::matches(stored, labels))
    }

    /// Returns whether the series is marked as used. Usually it is, so this reads a word that
    /// seldom changes.
    #[inline]
    pub(super) fn is_in_use(&self) -> bool {
        // Relaxed, here and below, except for the pair of `try_use` and `hide`: no other data is
        // published by it.
        self.use_state.load(Ordering::Relaxed) == USED
    }

    /// Marks the series as used. Returns false if it is hidden although it was not before, or the
    /// reverse (`was_hidden`): the caller looks again.
    pub(super) fn try_use(&self, was_hidden: bool) -> bool {
        let before = if was_hidden { HIDDEN } else { IDLE };
        // Release: pairs with the Acquire in `hide`. The caller of `hide` subtracts the series from
        // the number of series, which must come after the addition.
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        self.use_state.compare_exchange(before, USED, order, failed).is_ok()
            || !was_hidden && self.is_in_use()
    }

    /// Returns whether the series is hidden from readers of the family.
    pub(super) fn is_hidden(&self) -> bool {
        self.use_state.load(Ordering::Relaxed) == HIDDEN
    }

    /// Hides the series. Returns false if it was hidden already.
    pub(super) fn hide(&self) -> bool {
        // Acquire: pairs with the Release in `try_use`.
        self.use_state.swap(HIDDEN, Ordering::Acquire) != HIDDEN
    }

    /// Marks the series as taken out of its list. Returns false if it was marked already. The
    /// caller holds the family's lock.
    pub(super) fn take_out(&self) -> bool {
        !self.is_out.swap(true, Ordering::Relaxed)
    }

    /// Returns whether the series is in its list, and not hidden. The caller holds the family's
    /// lock.
    pub(super) fn is_there(&self) -> bool {
        !self.is_out.load(Ordering::Relaxed) && !self.is_hidden()
    }

    /// Looks whether the series was used, and returns the time since it was last found used. A
    /// series with a handle (`is_kept`) is in use.
    pub(super) fn idle(&self, is_kept: bool) -> Duration {
        let nanos = Coarse::default().now().as_nanos();
        let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        let was_used = self.use_state.compare_exchange(USED, IDLE, order, failed).is_ok();
        if was_used || is_kept {
            self.last_used.store(nanos, Ordering::Relaxed);
        }
        Duration::from_nanos(nanos.saturating_sub(self.last_used.load(Ordering::Relaxed)))
    }
}

impl<L: Labels, M> Drop for Series<L, M> {
    fn drop(&mut self) {
        self.witness.renew();
    }
}

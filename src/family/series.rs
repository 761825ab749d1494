//! One series of a family: a set of labels, and its metric.

use std::ptr::{from_ref, null_mut, with_exposed_provenance};
use std::time::{Duration, Instant, SystemTime};

use crate::family::labels::Labels;
use crate::family::number;
use crate::sync::{Arc, AtomicBool, AtomicPtr, AtomicU8, AtomicU64, Ordering, Witness};

/// Was used since the last look.
const USED: u8 = 2;
/// Was not used since the last look.
const IDLE: u8 = 1;
/// Was removed, but stays where it is, since it is found by its index: it is back when it is used
/// again.
const HIDDEN: u8 = 0;

pub(super) struct Series<L: Labels, M> {
    pub(super) hash: u64,
    /// Its own, for life.
    pub(super) number: u64,
    /// The next in the list of its place in the table.
    pub(super) next: AtomicPtr<Series<L, M>>,
    use_state: AtomicU8,
    /// Whether it was taken out of its list. Under the family's lock. (Not a state of use: a thread
    /// that has found the series just before may still use it.)
    is_out: AtomicBool,
    /// None: all sets that found no room.
    pub(super) labels: Option<L::Stored>,
    pub(super) names: L::Names,
    pub(super) metric: M,
    born: Instant,
    /// The system's time then. An export needs one that is always the same.
    pub(super) created: SystemTime,
    /// When it was last found to have been used: nanoseconds after `born`.
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
            born: Instant::now(),
            created: SystemTime::now(),
            last_used: AtomicU64::new(0),
            witness: Witness::new(),
        });
        let _ = Arc::as_ptr(&series).expose_provenance(); // for `in_arc`
        series
    }

    /// The pointer of the `Arc` that it is in, which may free it, unlike one of `self`.
    pub(super) fn in_arc(&self) -> *const Series<L, M> {
        with_exposed_provenance(from_ref(self).addr())
    }

    /// One more reference to the series.
    ///
    /// # Safety
    /// There is one.
    pub(super) unsafe fn share(&self) -> Arc<Series<L, M>> {
        // SAFETY: the contract; `new` alone makes a series, in an `Arc`.
        unsafe {
            Arc::increment_strong_count(self.in_arc());
            Arc::from_raw(self.in_arc())
        }
    }

    /// Whether this is its hash.
    #[inline]
    pub(super) fn has(&self, hash: u64) -> bool {
        self.witness.check();
        L::COMBINATIONS.is_some() || self.hash == hash
    }

    /// Whether these are its labels, given that their hash is.
    #[inline]
    pub(super) fn is(&self, labels: L::Borrowed<'_>) -> bool {
        // A family without a hash finds a series by its place alone.
        L::COMBINATIONS.is_some()
            || self.labels.as_ref().is_some_and(|stored| L::matches(stored, labels))
    }

    /// Whether its use is noted. Mostly it is: this only reads a word that seldom changes.
    #[inline]
    pub(super) fn is_in_use(&self) -> bool {
        // Relaxed, here and below, but for what `try_use` hands to `hide`: nothing else is
        // published by it.
        self.use_state.load(Ordering::Relaxed) == USED
    }

    /// Notes that it is used. False if it was hidden by then, unlike it `was_hidden`, or is no
    /// longer: look again.
    pub(super) fn try_use(&self, was_hidden: bool) -> bool {
        let before = if was_hidden { HIDDEN } else { IDLE };
        // Release: pairs with the Acquire in `hide`, whose caller counts it off: not before it was
        // counted.
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        self.use_state.compare_exchange(before, USED, order, failed).is_ok()
            || !was_hidden && self.is_in_use()
    }

    /// Whether it is hidden from who reads the family.
    pub(super) fn is_hidden(&self) -> bool {
        self.use_state.load(Ordering::Relaxed) == HIDDEN
    }

    /// Hides it. False if it was hidden.
    pub(super) fn hide(&self) -> bool {
        // Acquire: pairs with the Release in `try_use`.
        self.use_state.swap(HIDDEN, Ordering::Acquire) != HIDDEN
    }

    /// Notes that it is taken out of its list. False if it was before. For a caller that has the
    /// family's lock.
    pub(super) fn take_out(&self) -> bool {
        !self.is_out.swap(true, Ordering::Relaxed)
    }

    /// Whether it is in its list, and not hidden. For a caller that has the family's lock.
    pub(super) fn is_there(&self) -> bool {
        !self.is_out.load(Ordering::Relaxed) && !self.is_hidden()
    }

    /// For how long it was not used, as far as was looked; and looks. What is kept is in use.
    pub(super) fn idle(&self, is_kept: bool) -> Duration {
        let age = self.born.elapsed();
        let nanos = u64::try_from(age.as_nanos()).unwrap_or(u64::MAX);
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

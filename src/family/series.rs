//! A series of a family: a set of labels, and its metric.

use std::hint::unreachable_unchecked;
use std::num::NonZeroU64;
use std::ptr::null_mut;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::clock::{Clock, Coarse};
use crate::family::labels::Labels;
use crate::family::number;
use crate::family::read::Read;
use crate::sync::{AtomicBool, AtomicPtr, AtomicU32, Ordering, Witness};
use crate::timestamp::saturating_nanos;

/// Used since the last look.
const USED: u32 = 0xFF;
/// Not used since the last look.
const IDLE: u32 = 1;
/// Removed, but still in its place, because it is found by its index: its next use makes it visible
/// again.
const HIDDEN: u32 = 0;
/// The bits of a series' state that are one of these; the others are its tag.
const USE: u32 = 0xFF;

/// Returns the tag of a hash: its upper 24 bits, of which the number of a list has none. So the tag
/// tells two series of one list apart but for one time in millions.
#[inline]
pub(super) fn tag(hash: u64) -> u32 {
    (hash >> 32) as u32 | USE
}

/// The metric is where the series is, so that a use of it computes no address.
#[repr(C)]
pub(super) struct Series<L: Labels, M> {
    pub(super) metric: M,
    /// The next series in its list of the table.
    pub(super) next: AtomicPtr<Series<L, M>>,
    /// The tag of its labels' hash, which does not change, and whether it is used. In one word, so
    /// that a lookup asks for both by one comparison.
    state: AtomicU32,
    /// True if the series was taken out of its list. Under the family's lock. (It is independent of
    /// the state of use: a thread that has found the series just before may still use it.)
    is_out: AtomicBool,
    /// The number of references: one to begin with.
    pub(super) references: AtomicU32,
    /// The time at which a look last found that it had been used.
    last_used: AtomicU32,
    set: Set<L::Stored>,
    /// The system's time at which it was made, in nanoseconds since 1970. Exporters need one that
    /// never changes.
    created: u64,
    pub(super) names: L::Names,
    witness: Witness,
}

/// A set of labels, if there is one, and a number that is unique in the process. That it is not
/// zero tells which: so a set of one word takes no more than that.
enum Set<S> {
    Labels { labels: S, number: NonZeroU64 },
    Overflow { number: u64 },
}

impl<L: Labels, M> Series<L, M> {
    /// Makes a series; the overflow series without labels.
    pub(super) fn new(
        tag: u32,
        names: L::Names,
        labels: Option<L::Stored>,
        metric: M,
    ) -> Series<L, M> {
        let number = number::next();
        let set = match labels {
            Some(labels) => Set::Labels { labels, number },
            None => Set::Overflow { number: number.get() },
        };
        Series {
            metric,
            next: AtomicPtr::new(null_mut()),
            state: AtomicU32::new(tag | USED),
            is_out: AtomicBool::new(false),
            references: AtomicU32::new(1),
            last_used: AtomicU32::new(tick_after(now())),
            set,
            created: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, saturating_nanos),
            names,
            witness: Witness::new(),
        }
    }

    /// Returns the labels; `None` of the overflow series.
    #[inline]
    pub(super) fn labels(&self) -> Option<&L::Stored> {
        match &self.set {
            Set::Labels { labels, .. } => Some(labels),
            Set::Overflow { .. } => None,
        }
    }

    /// Returns the number, which is unique in the process.
    pub(super) fn number(&self) -> u64 {
        match self.set {
            Set::Labels { number, .. } => number.get(),
            Set::Overflow { number } => number,
        }
    }

    /// Returns the system's time at which it was made.
    pub(super) fn created(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_nanos(self.created)
    }

    /// Returns whether the series has the tag of a hash.
    #[inline]
    pub(super) fn has(&self, tag: u32) -> bool {
        self.witness.check();
        // Relaxed: the tag is there since the series was made.
        L::COMBINATIONS.is_some() || self.state.load(Ordering::Relaxed) | USE == tag
    }

    /// Returns whether the series has the tag of a hash, and is marked as used.
    #[inline]
    pub(super) fn has_in_use(&self, tag: u32) -> bool {
        self.witness.check();
        // Relaxed: as in `has` and `is_in_use`.
        self.state.load(Ordering::Relaxed) == tag
    }

    /// Returns whether these are its labels, given that they have its tag.
    #[inline]
    pub(super) fn is(&self, labels: L::Borrowed<'_>) -> bool {
        // A family without a hash finds a series by its index.
        L::COMBINATIONS.is_some() || self.labels().is_some_and(|stored| L::matches(stored, labels))
    }

    /// Returns [`is`](Self::is), given what of the labels was read.
    ///
    /// # Safety
    /// It is not the overflow series.
    #[inline]
    pub(super) unsafe fn is_read(&self, labels: L::Borrowed<'_>, read: &Read) -> bool {
        match &self.set {
            Set::Labels { labels: stored, .. } => L::matches_read(stored, labels, read),
            // SAFETY: the contract.
            Set::Overflow { .. } => unsafe { unreachable_unchecked() },
        }
    }

    /// Returns the state of use.
    #[inline]
    fn use_state(&self) -> u32 {
        // Relaxed, here and below, except for the pair of `try_use` and `hide`: no other data is
        // published by it.
        self.state.load(Ordering::Relaxed) & USE
    }

    /// Returns this state of use, with the series' tag.
    fn with_tag(&self, state: u32) -> u32 {
        self.state.load(Ordering::Relaxed) & !USE | state
    }

    /// Returns whether the series is marked as used. Usually it is, so this reads a word that
    /// seldom changes.
    #[inline]
    pub(super) fn is_in_use(&self) -> bool {
        self.use_state() == USED
    }

    /// Marks the series as used. Returns false if it is hidden although it was not before, or the
    /// reverse (`was_hidden`): the caller looks again.
    pub(super) fn try_use(&self, was_hidden: bool) -> bool {
        let before = self.with_tag(if was_hidden { HIDDEN } else { IDLE });
        // Release: pairs with the Acquire in `hide`. The caller of `hide` subtracts the series from
        // the number of series, which must come after the addition.
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        self.state.compare_exchange(before, before | USED, order, failed).is_ok()
            || !was_hidden && self.is_in_use()
    }

    /// Returns whether the series is hidden from readers of the family.
    pub(super) fn is_hidden(&self) -> bool {
        self.use_state() == HIDDEN
    }

    /// Hides the series. Returns false if it was hidden already.
    pub(super) fn hide(&self) -> bool {
        // Acquire: pairs with the Release in `try_use`.
        self.state.swap(self.with_tag(HIDDEN), Ordering::Acquire) & USE != HIDDEN
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
    /// series with a handle (`is_kept`) is in use. The caller holds the family's lock: otherwise
    /// another look, which finds the series idle since this one, may read a time from before it.
    pub(super) fn idle(&self, is_kept: bool) -> Duration {
        let now = now();
        let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        let (used, idle) = (self.with_tag(USED), self.with_tag(IDLE));
        let was_used = self.state.compare_exchange(used, idle, order, failed).is_ok();
        if was_used || is_kept {
            self.last_used.store(tick_after(now), Ordering::Relaxed);
        }
        time_since(self.last_used.load(Ordering::Relaxed), now)
    }
}

/// The number of bits of a time in nanoseconds that a tick does not have: it is 67 ms long. An idle
/// time of 4.5 years and more wraps.
const TICK: u32 = 26;

/// Returns the time of the [`Coarse`] clock, in nanoseconds.
#[inline]
fn now() -> u64 {
    Coarse::default().now().as_nanos()
}

/// Returns the number of the tick that begins next, so that no idle time is too long.
fn tick_after(nanos: u64) -> u32 {
    nanos.div_ceil(1 << TICK) as u32
}

/// Returns the time from a tick until now; zero if the tick is to come.
fn time_since(tick: u32, nanos: u64) -> Duration {
    let ticks = ((nanos >> TICK) as u32).wrapping_sub(tick).cast_signed();
    match u64::try_from(ticks) {
        Ok(ticks) => Duration::from_nanos((ticks << TICK) | (nanos & ((1 << TICK) - 1))),
        Err(_) => Duration::ZERO,
    }
}

impl<L: Labels, M> Drop for Series<L, M> {
    fn drop(&mut self) {
        self.witness.renew();
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::{Counter, Gate, labels};

    labels! {
        struct Client { number: u64 }
        struct Route { route: str }
    }

    /// The documentation of `Family`, and the guide, say so.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn a_series_takes_48_bytes_and_its_metric() {
        assert_eq!(size_of::<Series<Client, Gate>>(), 48 + size_of::<Gate>());
        assert_eq!(size_of::<Series<Client, Counter>>(), 48 + size_of::<Counter>());
        assert_eq!(size_of::<Series<Route, Counter>>(), 56 + size_of::<Counter>());
    }

    #[test]
    fn idle_times_are_never_too_long_and_hardly_too_short() {
        let wrap = 1_u64 << (32 + TICK);
        for then in [0, 1, 12_345_678_901, wrap - 1, wrap, wrap + 99, 7 * wrap - (1 << TICK)] {
            for idle in [0, 1, 1 << TICK, (1 << TICK) + 1, 98_765_432_109, wrap / 2 - (1 << TICK)] {
                let shown = time_since(tick_after(then), then + idle).as_nanos() as u64;
                assert!(shown <= idle && idle < shown + (1 << TICK), "{then}, {idle}: {shown}");
            }
        }
        assert_eq!(time_since(tick_after(1 << 40), (1 << 40) - 1), Duration::ZERO);
    }
}

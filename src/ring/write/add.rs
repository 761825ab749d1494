//! Adding: to the live bucket in line, and in all other cases out of line.
//!
//! ```text
//!   add -- per core -- a sequence on the live bucket's block -------------- done
//!       |- portably -- an add to it, behind an announcement of the bucket - done
//!       `- by epochs - an add to it, under a pin --------------------------- done
//!            `- missed: see `missed_add`
//! ```

use std::mem::offset_of;
use std::ptr::from_ref;

use crate::address_dependency::{self, Zero};
use crate::clock::UNKNOWN;
use crate::event::layout::{CellIndex, raise_of};
use crate::reclaim::announced;
use crate::ring::Ring;
use crate::ring::cells::Update;
use crate::ring::write::bucket_hold::{Announced, Fenced, Hold, Pinned};
use crate::stripe::Strategy;
use crate::stripe::branch_hint::cold;
use crate::stripe::live_bucket::{HasLive, Live};
use crate::stripe::misses::Miss;
use crate::stripe::per_core::{self, ById, ByProcessor, InLine, Numbering};
use crate::stripe::retries::count_miss;
use crate::stripe::row_numbers::Numbered;
use crate::timestamp::Timestamp;

/// A window: a ring, and the clock by which adds to it are timed.
pub(crate) trait RingAndClock: HasLive + Sized {
    /// Returns the ring. (Makes the ring of a window in a static, if it is not made yet.)
    fn ring(&self) -> &Ring;

    /// Looks whether the ring is made and adds are per core, in line: the ordinary case. The ring
    /// is seen at [addresses that depend on the look](Zero::at).
    fn in_line(&self) -> Option<Zero>;

    /// Looks in the same way whether the ring is made and adds are announced.
    fn portable(&self) -> Option<Zero>;

    /// Returns the ring, without a look whether it is made.
    ///
    /// # Safety
    ///
    /// One of the other functions has told this thread that the ring is made, and `self` is at an
    /// address that depends on the answer; or the answer was `ring`'s.
    unsafe fn made(&self) -> &Ring;

    /// Returns the present time, in nanoseconds.
    fn nanos(&self) -> u64;

    /// Returns what an add [keeps](crate::Clock::kept) of a time, in nanoseconds.
    fn kept(at: u64) -> u64;
}

/// The cells of an event, by a type for each form of [`CellIndex`].
trait OfForm: Copy {
    fn index(self) -> CellIndex;
}

/// The cells of a `Count`.
impl OfForm for u16 {
    #[inline]
    fn index(self) -> CellIndex {
        CellIndex::Count { cell: self }
    }
}

/// The cells of a `Value`: its pair, and its extremes.
impl OfForm for (u16, u16) {
    #[inline]
    fn index(self) -> CellIndex {
        CellIndex::Value { pair: self.0, extremes: self.1 }
    }
}

/// The cells of a `Maximum` or a `Minimum`.
impl OfForm for (u16, bool) {
    #[inline]
    fn index(self) -> CellIndex {
        CellIndex::Extreme { cell: self.0, is_minimum: self.1 }
    }
}

/// Adds follow `current`: a bucket begins with its
/// [`LiveBucket`](crate::stripe::live_bucket::LiveBucket).
impl HasLive for Ring {
    const CURRENT: usize = offset_of!(Ring, current);
    const GUESS: usize = offset_of!(Ring, guess);
}

impl Ring {
    /// Counts a number in the bucket of `at`, or of the present time if that is [unknown](UNKNOWN);
    /// in `late` if the bucket has left the ring.
    ///
    /// (Takes the window, because a ring and a clock would take one more register on the quick
    /// path, which needs no clock.)
    #[inline(always)]
    #[allow(clippy::inline_always)] // so that `cells` is a constant, where the event is
    pub(crate) fn add<W: RingAndClock>(window: &W, at: Timestamp, cells: CellIndex, number: u64) {
        let at = at.as_nanos();
        if let Some(made) = window.in_line() {
            let missed = |miss| Ring::add_off_path(window, W::kept(at), cells, number, miss);
            let live = Live { window: from_ref(window), made };
            return Ring::add_per_core::<InLine, _>(live, at, cells, number, missed);
        }
        cold(); // so that the usual case needs no jump
        match cells {
            CellIndex::Count { cell } => Ring::add_away(window, at, cell, number),
            CellIndex::Value { pair, extremes } => {
                Ring::add_away(window, at, (pair, extremes), number);
            }
            CellIndex::Extreme { cell, is_minimum } => {
                Ring::add_away(window, at, (cell, is_minimum), number);
            }
        }
    }

    /// Records a value as [`add`](Self::add) does, in the pair that the value itself has chosen.
    ///
    /// The pair's position is a number of the processor's own width, as is its distance from the
    /// first cell: in `CellIndex` it would be cut to two bytes and packed, for a miss alone.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as `add`
    pub(crate) fn record<W: RingAndClock>(
        window: &W,
        at: Timestamp,
        value: (usize, usize),
        number: u64,
    ) {
        if let Some(made) = window.in_line() {
            let at = at.as_nanos();
            let missed = |miss| Ring::record_off_path(window, W::kept(at), value, number, miss);
            let live = Live { window: from_ref(window), made };
            // SAFETY: as in `add_per_core`.
            return unsafe {
                per_core::record_live::<InLine, W>(live, at, value, number, missed);
            };
        }
        cold(); // so that the usual case needs no jump
        Ring::add_away(window, at.as_nanos(), (value.0 as u16, value.1 as u16), number);
    }

    /// Records after a miss on the quick path.
    #[cold]
    #[inline(never)]
    fn record_off_path(
        window: &impl RingAndClock,
        at: u64,
        (pair, extremes): (usize, usize),
        number: u64,
        miss: Miss,
    ) {
        let cells = CellIndex::Value { pair: pair as u16, extremes: extremes as u16 };
        Ring::add_off_path(window, at, cells, number, miss);
    }

    /// Adds as [`add`](Self::add) does, where adds are not in line: by a call. In line it would be
    /// more than a compiler puts in line once again, where an add stands in a small function of its
    /// caller.
    #[inline(always)]
    #[allow(clippy::inline_always)] // one of two calls
    fn add_away(window: &impl RingAndClock, at: u64, cells: impl OfForm, number: u64) {
        if let Some(made) = window.portable() {
            // SAFETY: the window is made.
            unsafe { Ring::add_held::<Announced>(made.at(window), at, cells, number) };
        } else {
            Ring::add_otherwise(window, at, cells, number);
        }
    }

    /// Adds in the other strategies; in any, if this add makes the window, or it was made since the
    /// look.
    #[inline(never)]
    fn add_otherwise(window: &impl RingAndClock, at: u64, cells: impl OfForm, number: u64) {
        let ring = window.ring();
        let missed = |miss| Ring::add_off_path(window, at, cells.index(), number, miss);
        match ring.strategy {
            Strategy::PerCore if !ring.is_in_line => {
                let (live, cells) = (ring.live(), cells.index());
                match per_core::numbered() {
                    Numbered::ById => {
                        Ring::add_per_core::<ById, _>(live, at, cells, number, missed);
                    }
                    Numbered::ByProcessor => {
                        Ring::add_per_core::<ByProcessor, _>(live, at, cells, number, missed);
                    }
                }
            }
            // SAFETY: the window is made: by now, if it was not.
            Strategy::Epochs => unsafe { Ring::add_held::<Pinned<'_>>(window, at, cells, number) },
            // SAFETY: as above.
            Strategy::Fenced => unsafe { Ring::add_held::<Fenced>(window, at, cells, number) },
            Strategy::PerCore | Strategy::Portable => missed(Miss::OtherBucket),
        }
    }

    /// Counts in the live bucket, if `at` lies in it and this thread has a row already. Nothing is
    /// called while an announcement holds the bucket, so no register is saved.
    ///
    /// Each strategy, and each kind of event in it, has a function of its own, which needs few
    /// registers: an instruction that waits for stores would wait for those that save them. (A call
    /// that would make the window needs more of them too.)
    ///
    /// # Safety
    ///
    /// The window is made, and is seen as made at this address.
    #[inline(never)]
    unsafe fn add_held<H: Hold>(
        window: &impl RingAndClock,
        at: u64,
        cells: impl OfForm,
        number: u64,
    ) {
        // SAFETY: the caller vouches for it.
        let ring = unsafe { window.made() };
        if let Ok(bucket) = H::hold(&ring.current, announced::mine())
            && bucket.put_in_row(at, || H::row(&bucket), Update::new(cells.index(), number))
        {
            return;
        }
        Ring::add_off_path(window, at, cells.index(), number, Miss::OtherBucket);
    }

    /// Adds after a miss on the quick path.
    #[cold]
    #[inline(never)]
    fn add_off_path(
        window: &impl RingAndClock,
        at: u64,
        cells: CellIndex,
        number: u64,
        miss: Miss,
    ) {
        address_dependency::acquire(); // behind the look whether the ring is made
        count_miss(miss);
        let at = if at == UNKNOWN.as_nanos() { window.nanos() } else { at };
        window.ring().add_slowly(at, cells, number);
    }

    /// Counts a number in the live bucket, if `at` lies in it. Otherwise, and for a value beyond
    /// what this core's row has seen, calls `missed`.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    pub(super) fn add_per_core<N: Numbering, W: HasLive>(
        live: Live<W>,
        at: u64,
        cells: CellIndex,
        number: u64,
        missed: impl FnOnce(Miss),
    ) {
        // SAFETY: `current` is never null. A bucket that counts in a block is not reused before it
        // is quiescent (see `close`); any other never has a span, whatever its memory is reused
        // for.
        unsafe {
            match cells {
                CellIndex::Count { cell } => {
                    per_core::add_live::<N, W>(live, at, cell.into(), number, missed);
                }
                CellIndex::Value { pair, extremes } => {
                    let value = (pair.into(), extremes.into());
                    per_core::record_live::<N, W>(live, at, value, number, missed);
                }
                CellIndex::Extreme { cell, is_minimum } => {
                    let (position, to) = raise_of(cell, is_minimum, number);
                    per_core::raise_live::<N, W>(live, at, position, to, missed);
                }
            }
        }
    }

    /// Returns the way to the live bucket, for a caller that knows that the ring is made.
    pub(super) fn live(&self) -> Live<Ring> {
        Live { window: self, made: Zero::ORDERED }
    }
}

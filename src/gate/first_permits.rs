//! A gate's first grants: a few words in one cache line, before the gate has sheets.
//!
//! A gate begins with [`PERMITS`] permits, or with its limit, if that is less. A permit is a word:
//! the bucket of the last grant that has used it. A grant of one takes a permit whose last bucket
//! has left the interval, by one compare-exchange.
//!
//! ```text
//!    permit   [ sealed | bucket ]        sheets   null | a ledger | retired
//!
//!    grant    b -> current bucket        if b has left the interval
//!    seal     b -> sealed | b            in each permit
//!    spill    seal;  sheets: null -> a ledger with these buckets
//!    retire   seal;  sheets: null -> retired                             if all have left
//! ```
//!
//! What permits cannot do, sheets do: more grants in an interval than there are permits, a weight
//! above one, a reservation, another limit, another geometry. Then the gate *spills*: a
//! [`Ledger`] takes over the permits' buckets, and decides from then on.
//!
//! # Theorem
//!
//! In each run of consecutive buckets as long as the interval, the number of grants is at most the
//! limit, also across a spill.
//!
//! # Why
//!
//! - Two grants by one permit are at least an interval apart, because the exchange succeeds only if
//!   the permit still has the bucket that was found to have left. So a run has at most one grant of
//!   each permit, and the number of permits is at most the limit. No order between permits is
//!   needed, and no clock has to be right.
//! - A sealed permit never changes again. A ledger is made from sealed permits alone, so each
//!   thread that makes one makes the same, and one of them is published. It begins in the latest
//!   bucket of all. It does not know a grant before a permit's last one; but that one left the
//!   interval before the permit's last grant, and so before anything that the ledger grants.
//! - A refusal finds every permit in use. Within a call the time is fixed, and buckets of permits
//!   only become later: a permit in use stays in use. So at the end of the look all were in use.
//! - By the same argument the number of grants that a look counts was right at one moment of it:
//!   it lies between the numbers at the begin and at the end, which only rises, by one at a time.
//! - A permit whose grant was not used has none again (see [`unused`](super::unused)). The two
//!   arguments above leave this out.
//! - A gate is retired only if all sealed permits have left the interval. A grant that came before
//!   the seal is seen there; then the gate spills instead, and its ledger decides.
//!
//! # A remembered refusal
//!
//! ```text
//!    reached   [ latest bucket that a call has come to | full ]       it only rises
//!
//!    grant     max (t, -)       before the exchange of a permit for the bucket t
//!    refusal   max (t, full)    behind a look that has found each permit in use at t, and no more
//!                               than these in the limit
//!    again     reached = (t, full), the reading lies in t, nothing was given back:    refused
//! ```
//!
//! A call is refused without a look at the permits if an earlier one was refused in its bucket.
//! That is right at the moment of its load of `reached`:
//!
//! - A permit in use at `t` stays in use at `t`, unless its grant is given back. So `full` is right
//!   for `t` from then on.
//! - The gate's time is `t`: each grant in a later bucket has raised `reached` before it was made,
//!   and each refusal there raises it. A refusal that comes too late with its `t` changes nothing.
//! - A thread that gives a grant back says so first, for good, in a word that each such call reads.
//!   So a call that comes behind it, and sees what that thread has done, looks at the permits.
//! - While a gate spills, or is retired, its permits are sealed, and stay in use. What gives room
//!   then, another limit or a grant that is given back, is in the sheets: and a call that sees them
//!   does not come here.
//!
//! No thread waits for another: one that finds a sealed permit, and no sheets, spills itself. An
//! exchange of a permit fails only because another thread has granted, or has sealed it.
//!
//! All operations on permits are Relaxed: an exchange of one word decides, a seal returns the word
//! that it has sealed, and grants publish nothing.

use std::alloc::{Layout, handle_alloc_error};
use std::fmt::{self, Debug, Formatter};
use std::ptr::{null_mut, without_provenance_mut};

use crate::gate::head_sheet::{Ledger, Manner};
use crate::gate::terms::Terms;
use crate::sync::{AtomicBool, AtomicPtr, AtomicU32, Ordering, alike, const_fn, sized};

/// The number of permits: with these a gate fills a cache line.
const PERMITS: usize = sized(7, 2);
/// The bit of a sealed permit.
const SEALED: u32 = 1 << 31;
/// The bit of `reached` that says that all permits are in use in its bucket.
const FULL: u32 = 1;
/// The number of bits of a bucket's number that an era has.
const ERA: u32 = 30;
/// The greatest number of buckets of an interval for which there are permits: more memory is asked
/// for when the gate is built, where its lack is an error.
const MAX_BUCKETS: usize = 4_096;
/// The number of bits for the number of buckets.
const BUCKETS: u32 = 24;
/// The address that stands for a gate that is retired without sheets.
const RETIRED: usize = 1;

/// Permits, and the sheets that take over from them.
#[repr(C)]
pub(super) struct Permits {
    /// Null; or [`RETIRED`]; or from `Box::into_raw`.
    sheets: AtomicPtr<Ledger>,
    length: u64,
    /// The limit less one, and the number of buckets.
    limit_and_buckets: u64,
    /// The era of the first bucket. A permit, and `reached`, count buckets from its begin, from 1.
    era: u32,
    /// The latest bucket that a clock has shown to a call for one, and [`FULL`], the lowest bit. It
    /// only rises.
    reached: AtomicU32,
    /// Each has the bucket of its last grant; zero if there was none.
    last: [AtomicU32; PERMITS],
    /// The number of permits that are used: none if the gate spills at its first use.
    usable: u8,
    manner: Manner,
    /// A grant was given back: from then on [`FULL`] says nothing.
    has_vacated: AtomicBool,
}

/// The answer to a call for one.
pub(super) enum Answer {
    /// Granted in the bucket that begins there.
    Granted { start: u64 },
    /// Refused. Nothing is left; the next permit is free at `free`, which is later than the clock
    /// shows, if time does not end earlier.
    Refused { free: Option<u64> },
    /// Only sheets can decide.
    NeedsSheets,
}

/// All permits, as one thread has read them, one after the other.
struct Look {
    /// The place and the bucket of the permit whose last grant is the earliest.
    first: (usize, u32),
    /// The bucket of the latest grant.
    latest: u32,
    permits: [u32; PERMITS],
}

impl Permits {
    const_fn! {
        /// Makes permits for a gate that has no sheets yet, and whose first bucket is that of
        /// `now`. If they do not [hold](Self::hold) the gate, it begins at time zero, or is given
        /// sheets at once.
        pub(super) const fn new(terms: Terms, manner: Manner, now: u64) -> Permits {
            let Terms { length, buckets, limit } = terms;
            let bucket = now / length;
            let (era, within) = (bucket >> ERA, (bucket & ((1 << ERA) - 1)) as u32);
            let usable = match (Permits::hold(terms, manner, now), limit < PERMITS as u64) {
                (false, _) => 0,
                (true, true) => limit as u8,
                (true, false) => PERMITS as u8,
            };
            Permits {
                sheets: AtomicPtr::new(null_mut()),
                length,
                limit_and_buckets: ((limit - 1) << BUCKETS) | buckets as u64,
                era: era as u32,
                reached: AtomicU32::new((within + 1) << 1),
                last: alike![AtomicU32::new(0); PERMITS],
                usable,
                manner,
                has_vacated: AtomicBool::new(false),
            }
        }
    }

    /// Returns whether a gate with these terms may begin without sheets in the bucket of `now`.
    pub(super) const fn hold(terms: Terms, manner: Manner, now: u64) -> bool {
        let era = (now / terms.length) >> ERA;
        terms.buckets <= MAX_BUCKETS && era <= u32::MAX as u64 && !manner.is_rationed
    }

    /// Gives a gate that no other thread has its sheets.
    #[inline]
    pub(super) fn with_sheets(mut self, ledger: Ledger) -> Permits {
        self.usable = 0;
        self.sheets = AtomicPtr::new(Box::into_raw(Box::new(ledger)));
        self
    }

    /// Returns the sheets, if there are any.
    #[inline]
    pub(super) fn sheets(&self) -> Option<&Ledger> {
        // Acquire: pairs with the Release in `spill`.
        let sheets = self.sheets.load(Ordering::Acquire);
        // SAFETY: any other address is from `Box::into_raw` in `spill`; only the drop frees it.
        if sheets.addr() > RETIRED { Some(unsafe { &*sheets }) } else { None }
    }

    /// Returns the terms of a gate without sheets: a limit of zero if it is retired.
    #[inline]
    pub(super) fn terms(&self) -> Terms {
        // Relaxed: it is compared, and leads nowhere.
        let is_retired = self.sheets.load(Ordering::Relaxed).addr() == RETIRED;
        if is_retired { self.first().retired() } else { self.first() }
    }

    /// Returns the terms that the gate was made with.
    fn first(&self) -> Terms {
        Terms {
            length: self.length,
            buckets: (self.limit_and_buckets & ((1 << BUCKETS) - 1)) as usize,
            limit: (self.limit_and_buckets >> BUCKETS) + 1,
        }
    }

    /// Returns whether a call for one is refused at `now`, as far as an earlier refusal tells. So
    /// the first refused call of a bucket looks at the permits, and the others cost two loads.
    #[inline]
    pub(super) fn refuse(&self, now: u64) -> bool {
        // Relaxed, both: see "A remembered refusal".
        let reached = self.reached.load(Ordering::Relaxed);
        reached & FULL != 0
            && !self.has_vacated.load(Ordering::Relaxed)
            && now.wrapping_sub(self.start_of(reached >> 1)) < self.length
    }

    /// Grants one in the bucket of `now`, or says why not.
    #[inline]
    pub(super) fn take(&self, now: u64) -> Answer {
        let Some(bucket) = self.bucket_of(now) else { return Answer::NeedsSheets };
        let Terms { buckets, limit, .. } = self.first();
        loop {
            let Some(look) = self.look() else { return Answer::NeedsSheets };
            let time = self.time(bucket, &look);
            let (place, before) = look.first;
            if !is_in_use(before, time, buckets) {
                self.record(time, 0);
                // Relaxed, both: see above.
                let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
                let permit = &self.last[place];
                if permit.compare_exchange(before, time, order, failed).is_ok() {
                    return Answer::Granted { start: self.start_of(time) };
                }
                continue; // another thread has granted, or sealed
            }
            if (u64::from(self.usable)) < limit {
                return Answer::NeedsSheets;
            }
            self.record(time, FULL);
            let free = self.length.checked_mul(buckets as u64);
            let free = free.and_then(|interval| self.start_of(before).checked_add(interval));
            return Answer::Refused { free };
        }
    }

    /// Gives back a grant in the bucket that begins at `start`. Returns false if only sheets can.
    #[inline]
    pub(super) fn put_back(&self, start: u64) -> bool {
        let Some(bucket) = self.bucket_of(start) else { return false };
        self.record(bucket, 0); // the gate's time does not go back
        self.has_vacated.store(true, Ordering::Relaxed); // see "A remembered refusal"
        for permit in &self.last[..usize::from(self.usable)] {
            // Relaxed, both: see above.
            let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
            match permit.compare_exchange(bucket, 0, order, failed) {
                Ok(_) => return true,
                Err(at) if at & SEALED != 0 => return false,
                Err(_) => {}
            }
        }
        true // it has left the interval, and another grant has its permit
    }

    /// Returns the number of grants in the interval that ends at the gate's time, which is that of
    /// `now` or later; `None` if only sheets can tell.
    #[inline]
    pub(super) fn granted(&self, now: u64) -> Option<u64> {
        let (look, bucket) = (self.look()?, self.bucket_of(now)?);
        Some(self.in_use(&look.permits, self.time(bucket, &look)))
    }

    /// Returns the number of these permits that are in use at this time.
    #[inline]
    fn in_use(&self, permits: &[u32], time: u32) -> u64 {
        let buckets = self.first().buckets;
        permits.iter().filter(|at| is_in_use(**at, time, buckets)).count() as u64
    }

    /// Retires the gate, if no grant counts at `now`. Returns whether it did; `None` if its sheets
    /// decide.
    #[inline]
    pub(super) fn retire(&self, now: u64) -> Option<bool> {
        let (look, bucket) = (self.look()?, self.bucket_of(now)?);
        let time = self.time(bucket, &look);
        if self.in_use(&look.permits, time) > 0 {
            self.record(time, 0);
            return Some(false);
        }
        let sealed = self.seal();
        if self.in_use(&sealed, time) > 0 {
            return None; // another thread has granted since
        }
        let retired = without_provenance_mut(RETIRED);
        // Relaxed, both: it publishes nothing; a caller that needs the sheets loads them.
        let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        self.sheets.compare_exchange(null_mut(), retired, order, failed).ok().map(|_| true)
    }

    /// Returns the sheets; makes them of the permits, unless another thread is faster.
    #[cold]
    #[inline]
    pub(super) fn spill(&self) -> &Ledger {
        let sealed = self.seal();
        loop {
            if let Some(sheets) = self.sheets() {
                return sheets;
            }
            let terms = self.terms();
            let before = match terms.limit {
                0 => without_provenance_mut(RETIRED),
                _ => null_mut(),
            };
            let starts = sealed.iter().filter(|at| **at > 0).map(|at| self.start_of(*at));
            // Relaxed: a hint, as in `time`.
            let reached = self.start_of(self.reached.load(Ordering::Relaxed) >> 1);
            let Some(ledger) = Ledger::new(terms, self.manner, reached, starts) else {
                handle_alloc_error(Layout::new::<Ledger>()) // as any allocation ends
            };
            let new = Box::into_raw(Box::new(ledger));
            // Release: publishes the ledger; pairs with the Acquire in `sheets`. Relaxed, on
            // failure: the next look acquires what is there.
            let (order, failed) = (Ordering::Release, Ordering::Relaxed);
            if self.sheets.compare_exchange(before, new, order, failed).is_err() {
                // SAFETY: made above, and no other thread knows of it.
                drop(unsafe { Box::from_raw(new) });
            }
        }
    }

    /// Seals all permits, and returns their buckets, which are final.
    #[inline]
    fn seal(&self) -> [u32; PERMITS] {
        // Relaxed: see above.
        std::array::from_fn(|place| self.last[place].fetch_or(SEALED, Ordering::Relaxed) & !SEALED)
    }

    /// Reads the usable permits; `None` if one is sealed, or none is usable.
    #[inline]
    fn look(&self) -> Option<Look> {
        let usable = usize::from(self.usable);
        let mut look = Look { first: (0, u32::MAX), latest: 0, permits: [0; PERMITS] };
        for (place, permit) in self.last[..usable].iter().enumerate() {
            let at = permit.load(Ordering::Relaxed); // see above
            if at & SEALED != 0 {
                return None;
            }
            if at < look.first.1 {
                look.first = (place, at);
            }
            look.latest = look.latest.max(at);
            look.permits[place] = at;
        }
        (usable > 0).then_some(look)
    }

    /// Returns the gate's time for a clock that shows `bucket`: not before a grant, nor before a
    /// time that was refused.
    #[inline]
    fn time(&self, bucket: u32, look: &Look) -> u32 {
        // Relaxed: a hint, as the time of a ledger is.
        bucket.max(look.latest).max(self.reached.load(Ordering::Relaxed) >> 1)
    }

    /// Records that the gate's time has come, and, by [`FULL`], that all permits are in use then.
    #[inline]
    fn record(&self, time: u32, full: u32) {
        let reached = (time << 1) | full;
        if self.reached.load(Ordering::Relaxed) < reached {
            self.reached.fetch_max(reached, Ordering::Relaxed); // a hint: see `time`
        }
    }

    /// Returns the number of the bucket that contains `at`; zero if it lies before the era, and
    /// `None` if it lies too far behind it for a permit.
    #[inline]
    fn bucket_of(&self, at: u64) -> Option<u32> {
        let begin = u64::from(self.era) << ERA;
        let within =
            (at / self.length).checked_sub(begin).map_or(0, |within| within.saturating_add(1));
        u32::try_from(within).ok().filter(|within| within & SEALED == 0)
    }

    /// Returns the start of a bucket, by its number.
    fn start_of(&self, bucket: u32) -> u64 {
        ((u64::from(self.era) << ERA) + u64::from(bucket.saturating_sub(1))) * self.length
    }
}

/// Returns whether a permit that has last granted `at` counts in the interval that ends at `time`.
fn is_in_use(at: u32, time: u32, buckets: usize) -> bool {
    at > 0 && u64::from(at) + buckets as u64 > u64::from(time)
}

impl Debug for Permits {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permits").field("terms", &self.terms()).finish_non_exhaustive()
    }
}

impl Drop for Permits {
    #[inline]
    fn drop(&mut self) {
        let sheets = self.sheets.load(Ordering::Relaxed); // `&mut self`: no other thread is there
        if sheets.addr() > RETIRED {
            // SAFETY: from `Box::into_raw` in `spill` or `with_sheets`.
            drop(unsafe { Box::from_raw(sheets) });
        }
    }
}

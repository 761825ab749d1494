//! Walks over buckets, and the loop of a sum: what a run of slots holds at one position.
//!
//! A sum of sixty buckets that is not taken at once is [`View::scan_by`] and nothing else. An
//! ordinary bucket (in its slot, closed, and of the start that is looked for) costs some twenty
//! instructions there; any other goes through [`View::bucket`].
//!
//! # Theorem
//!
//! Let a view load `current`, then the time, and then, from the newest to the oldest start of a
//! span, the number of the bucket with that start: `current`, or what the start's slot leads to, or
//! zero. If no bucket was overtaken, the sum lies between the true counts of these starts when the
//! call began and when it returned.
//!
//! # Why
//!
//! An add before the call is in `current`, or in a bucket that was put into its slot before it was
//! retired (see `ring`). Each start is visited once, and numbers move from no bucket to another. A
//! number of a bucket is a difference while its block is its own, or a total once it is closed:
//! `Store::through_block` looks at both ends which of the two it was. A bucket that is reused has
//! another version, so what was read of it counts as zero, and the view is overtaken.

use crate::arena::rows::greater;
use crate::ring::order::bucket::{Bucket, CLOSED};
use crate::ring::order::bucket_ref::BucketPointer;
use crate::ring::order::slot::Slot;
use crate::ring::read::at_once::{self, Part};
use crate::ring::read::view::{BucketData, View};
use crate::sync::Ordering;

impl<'g> View<'g> {
    /// Returns what all buckets that count hold at a position.
    #[inline]
    pub(crate) fn total(&self, position: usize) -> u64 {
        if let Some(total) = at_once::total(self, Part::Whole, position) {
            return total;
        }
        let (geometry, live) = (self.geometry(), self.live());
        let older = geometry.interval() - geometry.length();
        // Mostly the whole ring, which ends with the live bucket, and nothing else.
        if self.is_live() && live >= older && !self.generation().has_older() {
            self.total_from(live - older, live, position)
        } else {
            let newest = self.newest();
            self.total_between(geometry.oldest(newest), newest, position)
        }
    }

    /// Returns what the buckets from one start to another hold at a position, at any time and in
    /// any generation.
    #[inline(never)]
    pub(in crate::ring) fn total_between(&self, oldest: u64, newest: u64, position: usize) -> u64 {
        let layout = self.layout();
        let in_ring = self.in_ring(oldest, newest);
        let mut total = in_ring.map_or(0, |(from, to)| self.total_from(from, to, position));
        self.each_older(oldest, newest, |_, data| {
            total = layout.join(position, total, self.number(data, position));
        });
        total
    }

    /// Returns what the buckets from one start to another hold at a position, all in the ring.
    #[inline(always)]
    #[allow(clippy::inline_always)] // so that the ordinary case does not divide
    fn total_from(&self, from: u64, to: u64, position: usize) -> u64 {
        let geometry = self.geometry();
        let older = geometry.steps(from, to);
        let (newest, start, count) = if to == self.live() {
            (self.number(self.current(), position), to.wrapping_sub(geometry.length()), older)
        } else {
            (0, to, older + 1)
        };
        if count == 0 {
            return newest;
        }
        self.layout().join(position, newest, self.scan(start, count, position))
    }

    /// Returns what the buckets from one start to another hold at two extremes of the same pairs,
    /// by one walk.
    pub(in crate::ring) fn extremes_between(
        &self,
        oldest: u64,
        newest: u64,
        extremes: [usize; 2],
    ) -> [u64; 2] {
        let mut all = [0; 2];
        if let Some((from, to)) = self.in_ring(oldest, newest) {
            let (length, older) = (self.geometry().length(), self.geometry().steps(from, to));
            if to == self.live() {
                all = self.extremes(self.current(), extremes);
                if older > 0 {
                    all = greater(all, self.scan_extremes(to - length, older, extremes));
                }
            } else {
                all = self.scan_extremes(to, older + 1, extremes);
            }
        }
        self.each_older(oldest, newest, |_, data| {
            all = greater(all, self.extremes(data, extremes));
        });
        all
    }

    /// Calls `see` with the starts of the buckets from `oldest` to `newest`, and their data.
    pub(crate) fn each(&self, oldest: u64, newest: u64, mut see: impl FnMut(u64, BucketData<'g>)) {
        if let Some((from, to)) = self.in_ring(oldest, newest) {
            let geometry = self.geometry();
            let (mut start, mut slot) = (to, self.slot_of(to));
            loop {
                let data = if start == self.live() {
                    Some(self.current())
                } else {
                    self.bucket(start, self.generation().slots.slot(slot))
                };
                if let Some(data) = data {
                    see(start, data);
                }
                if start <= from {
                    break;
                }
                start -= geometry.length();
                slot = if slot == 0 { geometry.buckets() } else { slot } - 1;
            }
        }
        self.each_older(oldest, newest, see);
    }

    /// Returns the part of a range of starts that is in the ring.
    #[inline]
    fn in_ring(&self, oldest: u64, newest: u64) -> Option<(u64, u64)> {
        let (from, to) = (oldest.max(self.geometry().oldest(self.live())), newest.min(self.live()));
        (from <= to).then_some((from, to))
    }

    /// Calls `see` with the data of earlier geometries.
    fn each_older(&self, oldest: u64, newest: u64, mut see: impl FnMut(u64, BucketData<'g>)) {
        let in_ring = |start| self.geometry().in_ring(start, self.live());
        let counts = |start| (oldest..=newest).contains(&start) && in_ring(start);
        for inherited in &self.generation().inherited {
            if !inherited.newest_now().is_some_and(|newest| newest >= oldest && in_ring(newest)) {
                continue;
            }
            for found in inherited.slots.all().iter().filter_map(|slot| self.load(slot).ok()) {
                let start = inherited.start_now(found.bucket.start()).filter(|at| counts(*at));
                if let Some(start) = start {
                    see(start, self.inherited(found));
                }
            }
        }
        for (start, carried) in self.generation().carried.from(oldest) {
            if counts(*start) {
                see(*start, BucketData::Carried(&carried.numbers));
            }
        }
    }

    /// Returns what `count` buckets from `start` down hold at a position, all in the ring and older
    /// than `current`.
    fn scan(&self, start: u64, count: usize, position: usize) -> u64 {
        let layout = self.layout();
        if position >= layout.wide() && layout.adds_up(position) {
            self.scan_by(start, count, position, u64::wrapping_add)
        } else {
            let records = self.ring().for_records;
            records.map_or(0, |records| (records.scan)(self, start, count, position))
        }
    }

    /// Scans as [`scan`](Self::scan) does, at a wide position or one that rises.
    pub(in crate::ring) fn scan_record(&self, start: u64, count: usize, position: usize) -> u64 {
        if position < self.layout().wide() {
            self.scan_wide(start, count, position)
        } else {
            self.scan_by(start, count, position, u64::max)
        }
    }

    #[cold]
    fn scan_wide(&self, start: u64, count: usize, position: usize) -> u64 {
        let (mut total, mut start) = (0_u64, start);
        for _ in 0..count {
            let slot = self.generation().slots.slot(self.slot_of(start));
            total = total.wrapping_add(self.number_by(slot, start, position));
            start = start.wrapping_sub(self.geometry().length());
        }
        total
    }

    #[inline(never)] // so that what it needs stays in registers
    fn scan_by(
        &self,
        start: u64,
        count: usize,
        position: usize,
        join: impl Fn(u64, u64) -> u64,
    ) -> u64 {
        assert!((self.layout().wide()..self.layout().cells()).contains(&position));
        let mut total = 0;
        self.each_slot(start, count, |start, slot| {
            let number = closed(slot, start, |bucket| {
                // SAFETY: asserted above.
                unsafe { closed_number(bucket, position, &join) }
            });
            let number = number.unwrap_or_else(|| self.number_by(slot, start, position));
            total = join(total, number);
        });
        total
    }

    /// Returns what `count` buckets from `start` down hold at two extremes of the same pairs, as
    /// [`scan`](Self::scan).
    #[inline(never)] // as above
    fn scan_extremes(&self, start: u64, count: usize, extremes: [usize; 2]) -> [u64; 2] {
        // Shared cells of buckets that are not touched are zero.
        if self.ring().touched.reaches(start) {
            self.scan_extremes_by(start, count, extremes, u64::max)
        } else {
            self.scan_extremes_by(start, count, extremes, |total, _| total)
        }
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // for each `join`
    fn scan_extremes_by(
        &self,
        start: u64,
        count: usize,
        extremes: [usize; 2],
        join: impl Fn(u64, u64) -> u64,
    ) -> [u64; 2] {
        let [first, second] = extremes;
        let in_bucket = first >= self.layout().additive() && second < self.layout().cells();
        assert!(in_bucket && second == first + 1);
        let mut all = [0; 2];
        self.each_slot(start, count, |start, slot| {
            let numbers = closed(slot, start, |bucket| {
                // SAFETY: asserted above.
                [first, first + 1].map(|at| unsafe { closed_number(bucket, at, &join) })
            });
            let numbers = numbers.unwrap_or_else(|| self.extremes_by(slot, start, extremes));
            all = greater(all, numbers);
        });
        all
    }

    /// Calls `see` with the starts of `count` buckets from `start` down, all in the ring, and their
    /// slots.
    #[inline(always)]
    #[allow(clippy::inline_always)] // the loop of a scan
    fn each_slot(&self, mut start: u64, count: usize, mut see: impl FnMut(u64, &Slot)) {
        let length = self.geometry().length();
        let slots = self.generation().slots.all();
        let (below, above) = slots.split_at(self.slot_of(start) + 1);
        let first = count.min(below.len());
        let mut scan = |slots: &[Slot]| {
            for slot in slots.iter().rev() {
                see(start, slot);
                start = start.wrapping_sub(length);
            }
        };
        scan(&below[below.len() - first..]);
        scan(&above[above.len() - (count - first)..]); // a round at most
    }

    #[cold]
    fn number_by(&self, slot: &Slot, start: u64, position: usize) -> u64 {
        self.bucket(start, slot).map_or(0, |data| self.number(data, position))
    }

    #[cold]
    fn extremes_by(&self, slot: &Slot, start: u64, extremes: [usize; 2]) -> [u64; 2] {
        self.bucket(start, slot).map_or([0; 2], |data| self.extremes(data, extremes))
    }
}

/// Returns what `read` finds in the bucket at `start`, if the slot leads to it and it is closed. In
/// the order of `Versioned::load`, `Store::number` and `Versioned::is_valid`.
#[inline(always)]
#[allow(clippy::inline_always)] // the body of the loop
fn closed<T>(slot: &Slot, start: u64, read: impl FnOnce(&Bucket) -> T) -> Option<T> {
    // SAFETY: buckets live as long as the window.
    let bucket = unsafe { slot.follow() }?;
    let identity = bucket.identity();
    let is_it = identity & CLOSED != 0
        && bucket.start() == start
        && slot.leads_to(bucket, Ordering::Relaxed); // as in `Versioned::load`
    if !is_it {
        return None;
    }
    let number = read(bucket);
    (bucket.identity_after() == identity).then_some(number)
}

/// Returns what a closed bucket holds at a position.
///
/// # Safety
/// The position is one of the layout's, and not wide.
#[inline(always)]
#[allow(clippy::inline_always)] // as above
unsafe fn closed_number(bucket: &Bucket, position: usize, join: &impl Fn(u64, u64) -> u64) -> u64 {
    // SAFETY: by contract.
    let cell = unsafe { bucket.cell(position) };
    // Relaxed, both: the fence in `identity_after` pairs with the Release in `Target::add`.
    join(cell.total().load(Ordering::Relaxed), cell.shared.load(Ordering::Relaxed))
}

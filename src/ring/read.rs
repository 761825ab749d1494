//! Reading: which buckets count at a time, and what they hold.
//!
//! A read takes `current` first, then the time, and then looks for each start that the interval
//! covers: it is `current`'s, or its slot's, or there is none, which counts as zero. It writes
//! nothing, holds nothing and allocates nothing (but for a thread's first pin). So a header that it is
//! reading may become another bucket: it looks afterwards whether it has, and then leaves what it has
//! read out.

use std::cell::Cell;

use crate::layout::{Place, Shape};
use crate::reclaim::{self, Guard};
use crate::ring::Ring;
use crate::ring::generation::Generation;
use crate::ring::geometry::Geometry;
use crate::ring::header::{Header, Link};
use crate::stats::Stats;
use crate::sync::{Ordering, spin_loop};

/// How often a read begins again because the ring has moved on under it. It must end, however short buckets
/// are; and a reader that stood still in the middle must not answer with what was left by then.
const RESCANS: usize = 8;

/// The ring as one read sees it, at one time.
pub(crate) struct View<'g> {
    ring: &'g Ring,
    current: Seen<'g>,
    /// Where `current` begins, and its slot.
    live: u64,
    slot: usize,
    generation: &'g Generation,
    now: u64,
    /// A bucket that was looked for has left the ring meanwhile.
    overtaken: Cell<bool>,
}

/// A header, and which of the buckets that it ever was.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<'g> {
    pub(super) header: &'g Header,
    version: u64,
}

/// Something that holds numbers of a bucket.
#[derive(Clone, Copy)]
pub(crate) enum Source<'g> {
    Header {
        seen: Seen<'g>,
        is_current: bool,
    },
    /// From an earlier geometry, final.
    Carried(&'g [u64]),
}

impl<'g> Seen<'g> {
    /// What a link leads to; `None` if that is nothing, or is no longer so.
    ///
    /// # Safety
    /// The link is null or leads to a header that lives for `'g`.
    #[inline]
    pub(super) unsafe fn by(link: &Link) -> Option<Seen<'g>> {
        // SAFETY: by contract. Acquire: pairs with the Release by which a header is linked.
        let header = unsafe { link.load(Ordering::Acquire).as_ref() }?;
        let version = header.version()?;
        // Relaxed: if this is no longer the bucket that was linked here, the version has told us that it
        // is not. If it was linked here again as another, the version has told us of all that it is.
        std::ptr::eq(link.load(Ordering::Relaxed), header).then_some(Seen { header, version })
    }

    /// Whether the header is still that bucket, and all that was read of it is.
    #[inline]
    pub(super) fn is_still(self) -> bool {
        self.header.is(self.version)
    }
}

impl Ring {
    /// Lets `read` look at the ring at a time that `now` gives, again if the ring has moved on.
    ///
    /// The last look stands in any case. What it found overtaken counts as zero there: its bucket has left
    /// the ring since the read began, and whatever is in its slot now was opened since.
    pub(crate) fn view<R>(&self, now: impl Fn() -> u64, mut read: impl FnMut(&View<'_>) -> R) -> R {
        let mut looks = 0;
        loop {
            let guard = reclaim::pin();
            let Some(mut view) = self.present(&guard) else {
                spin_loop(); // what was overtaken is not what we shall find next
                continue;
            };
            view.now = now();
            let result = read(&view);
            looks += 1;
            if !view.is_overtaken() || looks > RESCANS {
                return result;
            }
        }
    }

    /// The newest bucket, seen at no time yet; `None` if it is overtaken already.
    #[inline]
    pub(super) fn present<'g>(&'g self, guard: &'g Guard) -> Option<View<'g>> {
        // SAFETY: headers live as long as the window.
        let current = unsafe { Seen::by(&self.current) }?;
        let (live, slot) = (current.header.start(), current.header.slot());
        let generation = current.header.generation(guard);
        if !current.is_still() {
            return None;
        }
        // SAFETY: it was current under the guard.
        let generation = unsafe { generation.deref() };
        let overtaken = Cell::new(false);
        Some(View { ring: self, current, live, slot, generation, now: 0, overtaken })
    }

    /// The present geometry.
    pub(crate) fn geometry(&self) -> Geometry {
        self.newest().0
    }

    /// The present geometry, and where the newest bucket in it begins.
    pub(super) fn newest(&self) -> (Geometry, u64) {
        loop {
            if let Some(view) = self.present(&reclaim::pin()) {
                return (view.geometry(), view.live);
            }
            spin_loop(); // as in `view`
        }
    }

    /// Everything that was ever added, at a position.
    ///
    /// Blocks before `past`: a maximum that a closer has taken from a block is in `past` before it
    /// is gone from there.
    pub(crate) fn lifetime(&self, position: usize) -> u64 {
        let blocks = self.blocks.iter().map(|block| block.sum(position));
        // Acquire: pairs with the Release in `Cells::add` and `raise`.
        let shared = [&self.side, &self.late, &self.past].into_iter();
        let shared = shared.map(|cells| cells[position].load(Ordering::Acquire));
        blocks.chain(shared).fold(0, |all, number| self.shape.join(position, all, number))
    }

    /// What found its bucket gone, at a position.
    pub(crate) fn late(&self, position: usize) -> u64 {
        self.late[position].load(Ordering::Acquire) // as in `lifetime`
    }
}

impl<'g> View<'g> {
    pub(crate) fn geometry(&self) -> Geometry {
        self.generation.geometry()
    }

    pub(crate) fn now(&self) -> u64 {
        self.now
    }

    /// The start of the bucket that the time lies in.
    pub(crate) fn newest(&self) -> u64 {
        // Mostly the live one's: then there is nothing to divide.
        if self.is_live(self.now) { self.live } else { self.geometry().start_of(self.now) }
    }

    /// Whether a time lies in the live bucket.
    #[inline]
    fn is_live(&self, at: u64) -> bool {
        at >= self.live && at - self.live < self.geometry().length()
    }

    /// Whether a bucket that was looked for has left the ring meanwhile.
    pub(super) fn is_overtaken(&self) -> bool {
        self.overtaken.get()
    }

    /// Whether a bucket without a header can be added to only by back-dated adds.
    pub(crate) fn is_past(&self, start: u64) -> bool {
        start < self.live
    }

    /// What all buckets that count hold at a position.
    #[inline]
    pub(crate) fn total(&self, position: usize) -> u64 {
        let geometry = self.geometry();
        let older = geometry.interval() - geometry.length();
        // Mostly the whole ring, which ends with the live bucket, and nothing else.
        if self.is_live(self.now) && self.live >= older && !self.generation.has_older() {
            self.total_from(self.live - older, self.live, position)
        } else {
            self.total_of_any(position)
        }
    }

    /// What is known of an event, by all buckets that count.
    pub(crate) fn stats(&self, place: Place) -> Stats {
        let stats = place.stats(|position| self.total(position));
        // Each number was read from all buckets before the next: of one that has left in between some
        // would be there and some not.
        if self.is_overtaken() { self.stats_by_bucket(place) } else { stats }
    }

    /// As [`stats`](Self::stats), each bucket as a whole or not at all.
    #[cold]
    fn stats_by_bucket(&self, place: Place) -> Stats {
        let (newest, mut all) = (self.newest(), Stats::default());
        self.each(self.geometry().oldest(newest), newest, |_, source| {
            let bucket = place.stats(|position| self.number(source, position));
            if self.still_holds(source) {
                all = all.with(bucket);
            }
        });
        all
    }

    /// As [`total`](Self::total), whatever the time is, and however the ring has come about.
    #[inline(never)]
    fn total_of_any(&self, position: usize) -> u64 {
        let (newest, shape) = (self.newest(), self.ring.shape);
        let oldest = self.geometry().oldest(newest);
        let in_ring = self.in_ring(oldest, newest);
        let mut total = in_ring.map_or(0, |(from, to)| self.total_from(from, to, position));
        self.each_older(oldest, newest, |_, source| {
            total = shape.join(position, total, self.number(source, position));
        });
        total
    }

    /// What the buckets from one start to another hold at a position, all in the ring.
    #[inline(always)]
    #[allow(clippy::inline_always)] // so that the ordinary case does not divide
    fn total_from(&self, from: u64, to: u64, position: usize) -> u64 {
        let geometry = self.geometry();
        let older = geometry.steps(from, to);
        if to != self.live {
            return self.scan(to, older + 1, position);
        }
        let live = self.number(self.current(), position);
        if older == 0 {
            return live;
        }
        self.ring.shape.join(position, live, self.scan(to - geometry.length(), older, position))
    }

    /// What a source holds at a position; zero, if it turns out that it is another bucket by now.
    #[inline]
    pub(crate) fn number(&self, source: Source<'_>, position: usize) -> u64 {
        match source {
            Source::Header { seen, .. } => {
                let number = seen.header.number(self.ring, position);
                if self.still_holds(source) { number } else { 0 }
            }
            Source::Carried(numbers) => numbers[position],
        }
    }

    /// Merges what a source holds at a position into `total`.
    pub(crate) fn merge(&self, source: Source<'_>, position: usize, total: &mut u64) {
        *total = self.ring.shape.join(position, *total, self.number(source, position));
    }

    /// Whether all that was read of a source is of the bucket that it was.
    #[inline]
    pub(crate) fn still_holds(&self, source: Source<'_>) -> bool {
        let still = match source {
            Source::Header { seen, .. } => seen.is_still(),
            Source::Carried(_) => true,
        };
        if !still {
            self.overtaken.set(true);
        }
        still
    }

    /// Calls `see` with every source of the buckets from `oldest` to `newest`, and their starts.
    pub(crate) fn each(&self, oldest: u64, newest: u64, mut see: impl FnMut(u64, Source<'g>)) {
        if let Some((from, to)) = self.in_ring(oldest, newest) {
            let geometry = self.geometry();
            let (mut start, mut slot) = (to, self.slot_of(to));
            loop {
                let source = if start == self.live {
                    Some(self.current())
                } else {
                    self.bucket(start, self.generation.slots.slot(slot))
                };
                if let Some(source) = source {
                    see(start, source);
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

    /// Which starts of a range are in the ring.
    #[inline]
    fn in_ring(&self, oldest: u64, newest: u64) -> Option<(u64, u64)> {
        let (from, to) = (oldest.max(self.geometry().oldest(self.live)), newest.min(self.live));
        (from <= to).then_some((from, to))
    }

    fn current(&self) -> Source<'g> {
        Source::Header { seen: self.current, is_current: true }
    }

    /// The number of the slot of a start that is in the ring.
    #[inline]
    pub(super) fn slot_of(&self, start: u64) -> usize {
        // Mostly the live one's, or the one before: then there is nothing to divide.
        let geometry = self.geometry();
        match self.live - start {
            0 => self.slot,
            age if age == geometry.length() => {
                if self.slot == 0 {
                    geometry.buckets() - 1
                } else {
                    self.slot - 1
                }
            }
            _ => geometry.slot_of(start),
        }
    }

    /// The slots.
    pub(super) fn links(&self) -> &'g [Link] {
        self.generation.slots.links()
    }

    pub(super) fn shape(&self) -> Shape {
        self.ring.shape
    }

    /// The bucket at `start`, older than `current`, which is in the ring, if it was ever opened; by
    /// its slot.
    #[inline]
    pub(super) fn bucket(&self, start: u64, slot: &Link) -> Option<Source<'g>> {
        let seen = self.seen(slot)?;
        let held = seen.header.start();
        if held == start {
            return Some(Source::Header { seen, is_current: false });
        }
        // An older bucket says that this one was never opened; but not if the header has become that
        // bucket only since it was found here, and lives elsewhere now.
        if held > start || !seen.is_still() {
            self.overtaken.set(true);
        }
        None
    }

    /// What a slot leads to.
    #[inline]
    fn seen(&self, slot: &Link) -> Option<Seen<'g>> {
        // SAFETY: headers live as long as the window.
        let seen = unsafe { Seen::by(slot) };
        if seen.is_none() && !slot.load(Ordering::Relaxed).is_null() {
            self.overtaken.set(true);
        }
        seen
    }

    /// Sources from earlier geometries.
    fn each_older(&self, oldest: u64, newest: u64, mut see: impl FnMut(u64, Source<'g>)) {
        let in_ring = |start| self.geometry().in_ring(start, self.live);
        let counts = |start| (oldest..=newest).contains(&start) && in_ring(start);
        for inherited in &self.generation.inherited {
            if !inherited.newest_now().is_some_and(|newest| newest >= oldest && in_ring(newest)) {
                continue;
            }
            for seen in inherited.slots.links().iter().filter_map(|slot| self.seen(slot)) {
                let start = inherited.start_now(seen.header.start()).filter(|at| counts(*at));
                if let Some(start) = start {
                    let is_current = std::ptr::eq(seen.header, self.current.header);
                    see(start, Source::Header { seen, is_current });
                }
            }
        }
        for (start, carried) in self.generation.carried.range(oldest..=newest) {
            if in_ring(*start) {
                see(*start, Source::Carried(&carried.numbers));
            }
        }
    }
}

impl Source<'_> {
    /// Whether it can change only by back-dated adds.
    pub(crate) fn is_closed(self) -> bool {
        match self {
            Source::Header { seen: Seen { header, .. }, is_current } => {
                header.is_closed() || (!is_current && header.is_final())
            }
            Source::Carried(_) => true,
        }
    }
}

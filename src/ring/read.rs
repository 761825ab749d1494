//! Reading: which buckets count at a time, and what they hold.
//!
//! A read takes `current` first, then the time, and then looks for each start that the interval
//! covers: it is `current`'s, or its slot's, or there is none, which counts as zero. It writes
//! nothing and allocates nothing.

use std::cell::Cell;

use crate::reclaim::{self, Guard, Shared};
use crate::ring::Ring;
use crate::ring::generation::Generation;
use crate::ring::geometry::Geometry;
use crate::ring::header::Header;
use crate::sync::Ordering;

/// How often a read begins again because the ring has moved on under it.
const RESCANS: usize = 8;

/// The ring as one read sees it, at one time.
pub(crate) struct View<'g> {
    ring: &'g Ring,
    guard: &'g Guard,
    current: Shared<'g, Header>,
    header: &'g Header,
    generation: &'g Generation,
    now: u64,
    /// A slot held a newer bucket than the one that was looked for.
    overtaken: Cell<bool>,
}

/// Something that holds numbers of a bucket.
#[derive(Clone, Copy)]
pub(crate) enum Source<'g> {
    Header {
        header: &'g Header,
        is_current: bool,
    },
    /// From an earlier geometry, final.
    Carried(&'g [u64]),
}

impl Ring {
    /// Lets `read` look at the ring at a time that `now` gives, again if the ring has moved on.
    ///
    /// The last look stands in any case. What it found overtaken has left the ring: it is zero, and
    /// right for the time at which that was found.
    pub(crate) fn view<R>(&self, now: impl Fn() -> u64, mut read: impl FnMut(&View<'_>) -> R) -> R {
        let mut looks = 0;
        loop {
            let guard = reclaim::pin();
            let current = self.current(&guard);
            // SAFETY: never null, and loaded under the pin; its generation likewise.
            let header = unsafe { current.deref() };
            // SAFETY: as above.
            let generation = unsafe { header.generation(&guard).deref() };
            let view = View {
                ring: self,
                guard: &guard,
                current,
                header,
                generation,
                now: now(),
                overtaken: Cell::new(false),
            };
            let result = read(&view);
            looks += 1;
            if !view.overtaken.get() || looks > RESCANS {
                return result;
            }
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
        let shared = shared.map(|cells| cells.load(position, Ordering::Acquire));
        blocks.chain(shared).fold(0, |mut total, number| {
            self.shape.merge(position, &mut total, number);
            total
        })
    }

    /// What found its bucket gone, at a position.
    pub(crate) fn late(&self, position: usize) -> u64 {
        self.late.load(position, Ordering::Acquire) // as in `lifetime`
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
        self.geometry().start_of(self.now)
    }

    /// Whether a bucket without a header can be added to only by back-dated adds.
    pub(crate) fn is_past(&self, start: u64) -> bool {
        start < self.header.start
    }

    /// What all buckets that count hold at a position.
    pub(crate) fn total(&self, position: usize) -> u64 {
        let newest = self.newest();
        let mut total = 0;
        self.each(self.geometry().oldest(newest), newest, |_, source| {
            self.merge(source, position, &mut total);
        });
        total
    }

    /// Merges what a source holds at a position into `total`.
    pub(crate) fn merge(&self, source: Source<'_>, position: usize, total: &mut u64) {
        let number = match source {
            Source::Header { header, .. } => header.number(self.ring, position),
            Source::Carried(numbers) => numbers[position],
        };
        self.ring.shape.merge(position, total, number);
    }

    /// Calls `see` with every source of the buckets from `oldest` to `newest`, and their starts.
    pub(crate) fn each(&self, oldest: u64, newest: u64, mut see: impl FnMut(u64, Source<'g>)) {
        let geometry = self.geometry();
        let mut slot = geometry.slot_of(newest);
        let mut start = newest;
        loop {
            if let Some(source) = self.bucket(start, slot) {
                see(start, source);
            }
            if start <= oldest {
                break;
            }
            start -= geometry.length();
            slot = if slot == 0 { geometry.buckets() - 1 } else { slot - 1 };
        }
        self.each_older(oldest, newest, see);
    }

    /// The bucket at `start`, which is in the ring, if it was ever opened.
    fn bucket(&self, start: u64, slot: usize) -> Option<Source<'g>> {
        if start == self.header.start {
            return Some(Source::Header { header: self.header, is_current: true });
        }
        if start > self.header.start || !self.geometry().in_ring(start, self.header.start) {
            return None;
        }
        let held = self.generation.slots.held_at(slot, self.guard);
        // SAFETY: null, or loaded under the guard.
        let header = unsafe { held.as_ref() }?;
        header.check();
        if header.start > start {
            self.overtaken.set(true);
        }
        (header.start == start).then_some(Source::Header { header, is_current: false })
    }

    /// Sources from earlier geometries.
    fn each_older(&self, oldest: u64, newest: u64, mut see: impl FnMut(u64, Source<'g>)) {
        let in_ring = |start| self.geometry().in_ring(start, self.header.start);
        let counts = |start| (oldest..=newest).contains(&start) && in_ring(start);
        for inherited in &self.generation.inherited {
            if !inherited.newest_now().is_some_and(|newest| newest >= oldest && in_ring(newest)) {
                continue;
            }
            for held in inherited.slots.headers(self.guard) {
                // SAFETY: loaded under the guard.
                let header = unsafe { held.deref() };
                header.check();
                if let Some(start) = inherited.start_now(header.start).filter(|at| counts(*at)) {
                    see(start, Source::Header { header, is_current: held == self.current });
                }
            }
        }
        for (start, numbers) in self.generation.carried.range(oldest..=newest) {
            if in_ring(*start) {
                see(*start, Source::Carried(numbers));
            }
        }
    }
}

impl Source<'_> {
    /// Whether it can change only by back-dated adds.
    pub(crate) fn is_closed(self) -> bool {
        match self {
            // One without a block counts in its shared cells, where an add that comes after it was
            // displaced is a back-dated one.
            Source::Header { header, is_current } => {
                header.is_closed() || (header.block.is_none() && !is_current)
            }
            Source::Carried(_) => true,
        }
    }
}

//! Settling: how the shared prefix of the live bucket's interval becomes known.
//!
//! The prefix is needed where the interval is touched. A thread that has made a bucket current
//! settles. While other threads write to shared cells, what has left the interval may not be final
//! (see `shared_prefix`); then the last of them settles when it leaves. So the prefix is known from
//! the first moment on at which no thread is writing, unless the thread that settles stalls.
//! Nothing but time depends on it.

use std::ptr::eq;

use crate::reclaim;
use crate::ring::Ring;
use crate::ring::coordination::shared_prefix::Quiet;
use crate::ring::order::bucket::Bucket;
use crate::ring::order::generation::Generation;
use crate::sync::{AtomicU64, Ordering, sized};

/// The number of times that a thread begins again because a writer has entered meanwhile.
/// Models settle where they say so: it matters to speed alone, and would take most of their steps.
const TRIES: usize = sized(3, 0);

impl Ring {
    /// Writes the shared prefix of the live bucket's interval, if it is needed and no thread is
    /// writing to shared cells.
    pub(in crate::ring) fn settle(&self) {
        self.settle_in(TRIES);
    }

    /// Settles as [`settle`](Self::settle) does, in at most a number of attempts.
    pub(in crate::ring) fn settle_in(&self, attempts: usize) {
        for _ in 0..attempts {
            let guard = reclaim::pin_apart();
            let current = self.acquire_current();
            if !self.touched.reaches(current.start()) || self.shared_prefix.is_of(current.rank()) {
                return;
            }
            // SAFETY: of a bucket that is current under the guard.
            let generation = unsafe { current.generation(&guard).deref() };
            let Some(quiet) = self.shared_prefix.quiet() else { return };
            generation.slots.install(&current);
            let write =
                |prefix: &[AtomicU64]| self.write_shared(prefix, &current, generation, quiet);
            if self.shared_prefix.write(current.rank(), write) {
                return;
            }
        }
    }

    /// Writes what has left the interval of a bucket: all, less what is in the interval. Returns
    /// false if that does not belong together.
    fn write_shared(
        &self,
        prefix: &[AtomicU64],
        current: &Bucket,
        generation: &Generation,
        quiet: Quiet,
    ) -> bool {
        // Relaxed, all: the thread that has claimed the cells publishes them; the others are read
        // before the fence in `is_still`.
        let layout = self.store.layout;
        for (cell, total) in prefix.iter().zip(self.beside.shared_total(layout).dense) {
            cell.store(total.shared.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        let newest = current.start();
        let interval = generation.geometry().oldest(newest)..=newest;
        let keep = |bucket: &Bucket| {
            for (cell, there) in prefix.iter().zip(self.store.cells(bucket).dense) {
                let kept = there.shared.load(Ordering::Relaxed);
                cell.store(cell.load(Ordering::Relaxed).wrapping_sub(kept), Ordering::Relaxed);
            }
        };
        let mut older = |bucket: &Bucket| {
            keep(bucket);
            true
        };
        let is_found = generation.each_inherited(*interval.start(), &mut older)
            && generation.slots.each_touched(interval, newest, keep).is_some();
        // In this order: the fence in `is_still` stands behind all that was read. If `current` has
        // moved on, a bucket of the interval may have left its slot.
        is_found
            && self.shared_prefix.is_still(quiet)
            && eq(self.current().load(Ordering::Relaxed), current)
    }
}

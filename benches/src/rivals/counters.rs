//! Counters without a window, and the parts that the targets name as yardsticks.

use std::hint::black_box;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

use super::{published, thread_index};
use crate::harness::{Contender, Rival};

/// More cells than threads that any bench runs at once, so that no two of them share one.
const CELLS: usize = 64;

/// One padded cell per thread, for the bare instructions below. Their loops look the cell up once,
/// not once an add: a yardstick is the instruction itself, without the way to it.
struct OwnCells(Box<[CachePadded<AtomicU64>]>);

impl OwnCells {
    fn new() -> OwnCells {
        OwnCells((0..CELLS).map(|_| CachePadded::default()).collect())
    }

    fn mine(&self) -> &AtomicU64 {
        &self.0[thread_index() % CELLS]
    }

    #[inline]
    fn sum(&self) -> u64 {
        self.0.iter().map(|cell| cell.load(Ordering::Relaxed)).sum()
    }
}

/// Makes a bare instruction a rival: `$add` adds `$n` to `$cell`, which no other thread writes.
macro_rules! bare {
    ($(#[$doc:meta])* $name:ident, |$cell:ident, $n:ident| $add:expr) => {
        $(#[$doc])*
        pub struct $name(OwnCells);

        impl Rival for $name {
            fn add(&self, $n: u64) {
                let $cell = self.0.mine();
                $add;
            }

            fn sum(&self) -> u64 {
                self.0.sum()
            }

            fn add_many(&self, times: u64) {
                let $cell = self.0.mine();
                for _ in 0..times {
                    let $n = black_box(1);
                    $add;
                }
            }
        }
    };
}

bare! {
    /// A plain add to memory: the floor of every counter.
    PlainAdd,
    |cell, n| cell.store(cell.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed)
}

bare! {
    /// A locked add: the floor of every portable counter.
    LockedAdd,
    |cell, n| cell.fetch_add(n, Ordering::Relaxed)
}

bare! {
    /// A locked add under an epoch pin: what every portable window needs. No clock, no
    /// bucket.
    PinnedAdd,
    |cell, n| {
        let _guard = crossbeam_epoch::pin();
        cell.fetch_add(n, Ordering::Relaxed)
    }
}

/// Counts nothing: the loop that every add is measured in, and nothing in it.
struct Nothing;

impl Rival for Nothing {
    #[inline]
    fn add(&self, _n: u64) {}

    fn sum(&self) -> u64 {
        0
    }
}

impl Rival for AtomicU64 {
    #[inline]
    fn add(&self, n: u64) {
        self.fetch_add(n, Ordering::Relaxed);
    }

    #[inline]
    fn sum(&self) -> u64 {
        self.load(Ordering::Relaxed)
    }
}

impl Rival for Mutex<u64> {
    #[inline]
    fn add(&self, n: u64) {
        *self.lock().expect("nobody panics in here") += n;
    }

    #[inline]
    fn sum(&self) -> u64 {
        *self.lock().expect("nobody panics in here")
    }
}

/// The name of the loop with nothing in it.
pub const NOTHING: &str = "an empty loop";
/// The name of the coarse clock, read.
pub const COARSE_READ: &str = "coarse clock read";
/// The name of [`PlainAdd`], the floor.
pub const PLAIN_ADD: &str = "plain add";
/// The name of [`LockedAdd`], the floor of portable counters.
pub const LOCKED_ADD: &str = "locked add";
/// The name of the shared atomic.
pub const ATOMIC: &str = "AtomicU64";
/// The name of [`PinnedAdd`], the yardstick of portable windows.
pub const PINNED_ADD: &str = "epoch pin + locked add";

/// A loop with nothing in it.
pub fn nothing() -> Contender {
    Contender::new(NOTHING, Nothing)
}

/// A plain add, fresh.
pub fn plain_add() -> Contender {
    Contender::new(PLAIN_ADD, PlainAdd(OwnCells::new()))
}

/// A locked add, fresh.
pub fn locked_add() -> Contender {
    Contender::new(LOCKED_ADD, LockedAdd(OwnCells::new()))
}

/// A pinned add, fresh.
pub fn pinned_add() -> Contender {
    Contender::new(PINNED_ADD, PinnedAdd(OwnCells::new()))
}

/// A shared atomic, fresh.
pub fn atomic() -> Contender {
    Contender::new(ATOMIC, CachePadded::new(AtomicU64::new(0)))
}

/// Every counter here and every published one, fresh, the floor first.
pub fn all() -> Vec<Contender> {
    let mut contenders =
        vec![plain_add(), locked_add(), atomic(), Contender::new("Mutex<u64>", Mutex::new(0))];
    contenders.extend(published::all());
    contenders
}

impl<R: Rival> Rival for CachePadded<R> {
    #[inline]
    fn add(&self, n: u64) {
        (**self).add(n);
    }

    #[inline]
    fn sum(&self) -> u64 {
        (**self).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_counts() {
        for Contender { name, rival } in all().into_iter().chain([pinned_add()]) {
            assert_eq!(rival.sum(), 0, "{name}");
            rival.add(40);
            rival.add_many(2);
            assert_eq!(rival.sum(), 42, "{name}");
        }
    }
}

//! Counters without a window, and the parts that the targets name as yardsticks.

use std::hint::black_box;
use std::marker::PhantomData;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

use super::published;
use super::ring::thread_index;
use crate::harness::{Contender, Rival, rival};

/// More cells than threads that any bench runs at once, so that no two of them share one.
const CELLS: usize = 64;

/// One padded cell per thread, for the bare instructions below. Their loops look cells up once,
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

/// A bare instruction, or some few: how it adds to a cell that no other thread writes.
trait Instruction: Send + Sync {
    /// Adds `n`.
    fn add(cell: &AtomicU64, n: u64);
}

/// A bare instruction as a rival.
struct Bare<I> {
    cells: OwnCells,
    instruction: PhantomData<I>,
}

impl<I: Instruction + 'static> Bare<I> {
    fn contender(name: &'static str) -> Contender {
        Contender::new(name, Bare::<I> { cells: OwnCells::new(), instruction: PhantomData })
    }
}

impl<I: Instruction> Rival for Bare<I> {
    fn add(&self, n: u64) {
        I::add(self.cells.mine(), n);
    }

    fn sum(&self) -> u64 {
        self.cells.sum()
    }

    fn add_many(&self, times: u64) {
        let cell = self.cells.mine();
        (0..times).for_each(|_| I::add(cell, black_box(1)));
    }
}

/// A plain add to memory as one read-modify-write. In a loop on one cell it waits for its own last
/// store.
#[cfg(target_arch = "x86_64")]
struct ReadModifyWrite;

#[cfg(target_arch = "x86_64")]
impl Instruction for ReadModifyWrite {
    #[inline]
    fn add(cell: &AtomicU64, n: u64) {
        // SAFETY: no other thread writes the cell, which lives as long as the borrow.
        unsafe {
            std::arch::asm!("add qword ptr [{cell}], {n}", cell = in(reg) cell.as_ptr(), n = in(reg) n,
                options(nostack));
        }
    }
}

/// A plain add to memory as a load, an add and a store, which a processor that renames memory makes
/// without that wait.
struct LoadAndStore;

impl Instruction for LoadAndStore {
    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn add(cell: &AtomicU64, n: u64) {
        // In assembly: the compiler would make one instruction of them.
        // SAFETY: no other thread writes the cell, which lives as long as the borrow.
        unsafe {
            std::arch::asm!("mov {t}, qword ptr [{cell}]", "add {t}, {n}", "mov qword ptr [{cell}], {t}",
                cell = in(reg) cell.as_ptr(), n = in(reg) n, t = out(reg) _, options(nostack));
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    #[inline]
    fn add(cell: &AtomicU64, n: u64) {
        cell.store(cell.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }
}

/// A locked add: the floor of every portable counter.
struct Locked;

impl Instruction for Locked {
    #[inline]
    fn add(cell: &AtomicU64, n: u64) {
        cell.fetch_add(n, Ordering::Relaxed);
    }
}

rival! { AtomicU64:
    add(self, n) => self.fetch_add(n, Ordering::Relaxed);
    sum(self) => self.load(Ordering::Relaxed);
}

rival! { Mutex<u64>:
    add(self, n) => *self.lock().expect("no thread panics in here") += n;
    sum(self) => *self.lock().expect("no thread panics in here");
}

/// The name of the coarse clock, read.
pub const COARSE_READ: &str = "coarse clock read";
/// The name of a plain add to memory as one instruction: a floor. Processors that have none leave
/// it out.
pub const PLAIN_ADD: &str = "plain add, read-modify-write";
/// The name of a plain add to memory as a load, an add and a store: the other floor.
pub const PLAIN_STORE: &str = "plain add, load and store";
/// The name of a locked add, the floor of counters whose rows threads share.
pub const LOCKED_ADD: &str = "locked add";
/// The name of the shared atomic.
pub const ATOMIC: &str = "AtomicU64";
/// Plain adds, fresh: in both forms, where the processor has both.
fn plain_adds() -> Vec<Contender> {
    vec![
        #[cfg(target_arch = "x86_64")]
        Bare::<ReadModifyWrite>::contender(PLAIN_ADD),
        Bare::<LoadAndStore>::contender(PLAIN_STORE),
    ]
}

/// Returns a locked add, fresh.
pub fn locked_add() -> Contender {
    Bare::<Locked>::contender(LOCKED_ADD)
}

/// Without clock or window: the floors, and what contention costs.
pub fn yardsticks() -> Vec<Contender> {
    let mut contenders = plain_adds();
    contenders.extend([locked_add(), atomic()]);
    contenders
}

/// Returns a shared atomic, fresh.
pub fn atomic() -> Contender {
    Contender::new(ATOMIC, CachePadded::new(AtomicU64::new(0)))
}

/// Every counter here and every published one, fresh, the floors first.
pub fn all() -> Vec<Contender> {
    let mut contenders = yardsticks();
    contenders.push(Contender::new("Mutex<u64>", Mutex::new(0)));
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
        for Contender { name, rival } in all() {
            assert_eq!(rival.sum(), 0, "{name}");
            rival.add(40);
            rival.add_many(2);
            assert_eq!(rival.sum(), 42, "{name}");
        }
    }
}

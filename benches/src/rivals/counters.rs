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

/// A bare instruction as a rival, on `N` cells in turn.
struct Bare<I, const N: usize> {
    cells: [OwnCells; N],
    instruction: PhantomData<I>,
}

impl<I: Instruction + 'static, const N: usize> Bare<I, N> {
    fn contender(name: &'static str) -> Contender {
        let cells = std::array::from_fn(|_| OwnCells::new());
        Contender::new(name, Bare::<I, N> { cells, instruction: PhantomData })
    }
}

impl<I: Instruction, const N: usize> Rival for Bare<I, N> {
    fn add(&self, n: u64) {
        I::add(self.cells[0].mine(), n);
    }

    fn sum(&self) -> u64 {
        self.cells.iter().map(OwnCells::sum).sum()
    }

    fn add_many(&self, times: u64) {
        let cells = self.cells.each_ref().map(OwnCells::mine);
        for turn in 0..times {
            I::add(cells[turn as usize % N], black_box(1));
        }
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

/// A locked add under an epoch pin: what a window needs whose buckets are found so. No clock, no
/// bucket.
struct Pinned;

impl Instruction for Pinned {
    #[inline]
    fn add(cell: &AtomicU64, n: u64) {
        let _guard = crossbeam_epoch::pin();
        cell.fetch_add(n, Ordering::Relaxed);
    }
}

/// Sixteen of a rival, which are added to in turn: no add waits for the store of the last one to
/// the same cell.
struct InTurn<R>([R; TURNS]);

/// The number of counters in turn.
const TURNS: usize = 16;

impl<R: Rival> Rival for InTurn<R> {
    fn add(&self, n: u64) {
        self.0[0].add(n);
    }

    fn sum(&self) -> u64 {
        self.0.iter().map(R::sum).sum()
    }

    fn add_many(&self, times: u64) {
        for turn in 0..times {
            self.0[turn as usize % TURNS].add(black_box(1));
        }
    }
}

/// Sixteen of what `make` makes, in turn.
pub fn in_turn<R: Rival + 'static>(name: &'static str, make: impl Fn() -> R) -> Contender {
    Contender::new(name, InTurn(std::array::from_fn(|_| make())))
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
/// The name of a locked add under a pin, the yardstick of windows by epochs.
pub const PINNED_ADD: &str = "epoch pin + locked add";

/// Plain adds, fresh, on `N` cells in turn: in both forms, where the processor has both.
fn plain_adds<const N: usize>() -> Vec<Contender> {
    vec![
        #[cfg(target_arch = "x86_64")]
        Bare::<ReadModifyWrite, N>::contender(PLAIN_ADD),
        Bare::<LoadAndStore, N>::contender(PLAIN_STORE),
    ]
}

/// Returns a locked add, fresh.
pub fn locked_add() -> Contender {
    Bare::<Locked, 1>::contender(LOCKED_ADD)
}

/// Returns a pinned add, fresh.
pub fn pinned_add() -> Contender {
    Bare::<Pinned, 1>::contender(PINNED_ADD)
}

/// Without clock or window: the floors, what contention costs, and the yardstick of windows by
/// epochs.
pub fn yardsticks() -> Vec<Contender> {
    let mut contenders = plain_adds::<1>();
    contenders.extend([locked_add(), atomic(), pinned_add()]);
    contenders
}

/// Returns the contenders of sixteen in turn beside windrow's, fresh, the floors first.
pub fn turns() -> Vec<Contender> {
    let mut contenders = plain_adds::<TURNS>();
    let atomic = || CachePadded::new(AtomicU64::new(0));
    contenders.extend([Bare::<Locked, TURNS>::contender(LOCKED_ADD), in_turn(ATOMIC, atomic)]);
    contenders.push(in_turn(published::FAST_COUNTER, published::concurrent_counter));
    contenders
}

/// Returns a shared atomic, fresh.
pub fn atomic() -> Contender {
    Contender::new(ATOMIC, CachePadded::new(AtomicU64::new(0)))
}

/// Every counter here and every published one, fresh, the floors first.
pub fn all() -> Vec<Contender> {
    let mut contenders = plain_adds::<1>();
    contenders.extend([locked_add(), atomic(), Contender::new("Mutex<u64>", Mutex::new(0))]);
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
        for Contender { name, rival } in all().into_iter().chain([pinned_add()]).chain(turns()) {
            assert_eq!(rival.sum(), 0, "{name}");
            rival.add(40);
            rival.add_many(2);
            assert_eq!(rival.sum(), 42, "{name}");
        }
    }
}

//! Counters without a window, and the parts that the targets name as yardsticks.

use std::hint::black_box;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

use super::published;
use super::ring::thread_index;
use crate::harness::{Contender, Rival, rival};

/// More cells than threads that any bench runs at once, so that no two of them share one.
const CELLS: usize = 64;

/// A yardstick: one bare instruction, or a few, as a rival. It has one padded cell for each thread,
/// and adds to a cell that no other thread writes. A loop looks up its cell once, not for each add:
/// so it measures the instruction, without the way to the cell.
struct Bare<I> {
    cells: Box<[CachePadded<AtomicU64>]>,
    add: I,
}

impl<I: Fn(&AtomicU64, u64) + Send + Sync + 'static> Bare<I> {
    fn contender(name: &'static str, add: I) -> Contender {
        let cells = (0..CELLS).map(|_| CachePadded::default()).collect();
        Contender::new(name, Bare { cells, add })
    }

    fn mine(&self) -> &AtomicU64 {
        &self.cells[thread_index() % CELLS]
    }
}

impl<I: Fn(&AtomicU64, u64) + Send + Sync + 'static> Rival for Bare<I> {
    fn add(&self, n: u64) {
        (self.add)(self.mine(), n);
    }

    fn sum(&self) -> u64 {
        self.cells.iter().map(|cell| cell.load(Ordering::Relaxed)).sum()
    }

    fn add_many(&self, times: u64) {
        let cell = self.mine();
        (0..times).for_each(|_| (self.add)(cell, black_box(1)));
    }
}

/// A plain add to memory as one read-modify-write. In a loop on one cell it waits for its own last
/// store.
#[cfg(target_arch = "x86_64")]
#[inline]
fn read_modify_write(cell: &AtomicU64, n: u64) {
    // SAFETY: no other thread writes the cell, which lives as long as the borrow.
    unsafe {
        std::arch::asm!("add qword ptr [{cell}], {n}", cell = in(reg) cell.as_ptr(), n = in(reg) n,
            options(nostack));
    }
}

/// A plain add to memory as a load, an add and a store, which a processor that renames memory makes
/// without that wait.
#[inline]
fn load_and_store(cell: &AtomicU64, n: u64) {
    // In assembly: the compiler would make one instruction of them.
    #[cfg(target_arch = "x86_64")]
    // SAFETY: no other thread writes the cell, which lives as long as the borrow.
    unsafe {
        std::arch::asm!("mov {t}, qword ptr [{cell}]", "add {t}, {n}", "mov qword ptr [{cell}], {t}",
            cell = in(reg) cell.as_ptr(), n = in(reg) n, t = out(reg) _, options(nostack));
    }
    #[cfg(not(target_arch = "x86_64"))]
    cell.store(cell.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
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

/// Returns a locked add, the floor of every portable counter, fresh.
pub fn locked_add() -> Contender {
    Bare::contender(LOCKED_ADD, |cell, n| _ = cell.fetch_add(n, Ordering::Relaxed))
}

/// Every counter here and every published one, fresh, the floors first.
pub fn all() -> Vec<Contender> {
    let mut contenders = vec![
        #[cfg(target_arch = "x86_64")]
        Bare::contender(PLAIN_ADD, read_modify_write),
        Bare::contender(PLAIN_STORE, load_and_store),
        locked_add(),
        Contender::new(ATOMIC, CachePadded::new(AtomicU64::new(0))),
        Contender::new("Mutex<u64>", Mutex::new(0)),
    ];
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

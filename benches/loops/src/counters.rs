//! Loops on counters, and on the bare instructions that they are measured against.
//!
//! A plain add to memory has two forms, which cost the same in instructions and not in time. As one
//! read-modify-write it waits, in a loop on one cell, for its own last store. As load, add and
//! store it does not on a processor that renames memory. So both are here, each in a loop on one
//! and on sixteen in turn. The *floor* finds its cell by a pointer and an index that it loads each
//! time, as everything must that has a cell for each core or thread.

use std::hint::black_box;
use std::ptr::{from_mut, from_ref};
use std::sync::atomic::{AtomicU64, Ordering};

use fast_counter::ConcurrentCounter;
use windrow::Counter;

use crate::took::{Loop, Took, in_turn, one};

/// A cell on lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct Cell(AtomicU64);

/// The place of a cell: the beginning of the cells, and its index. It owns the cells.
struct Found {
    cells: *mut u64,
    index: usize,
    _own: Box<[u64; 64]>,
}

impl Found {
    fn new() -> Found {
        let mut own = Box::new([0; 64]);
        Found { cells: from_mut(&mut *own).cast(), index: black_box(32), _own: own }
    }
}

/// Adds to a cell as one instruction.
#[cfg(target_arch = "x86_64")]
#[inline]
fn modify(cell: &Cell, n: u64) {
    // SAFETY: the cell is this thread's alone, and lives as long as the borrow.
    unsafe {
        std::arch::asm!("add qword ptr [{cell}], {n}", cell = in(reg) from_ref(cell), n = in(reg) n,
            options(nostack));
    }
}

/// Adds to a cell by three.
#[cfg(target_arch = "x86_64")]
#[inline]
fn load_and_store(cell: &Cell, n: u64) {
    // SAFETY: as in `modify`.
    unsafe {
        std::arch::asm!("mov {t}, qword ptr [{cell}]", "add {t}, {n}", "mov qword ptr [{cell}], {t}",
            cell = in(reg) from_ref(cell), n = in(reg) n, t = out(reg) _, options(nostack));
    }
}

/// Adds to a cell: no other processor has an add to memory that is one instruction and no atomic
/// one.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn load_and_store(cell: &Cell, n: u64) {
    let before = cell.0.load(Ordering::Relaxed);
    cell.0.store(before.wrapping_add(n), Ordering::Relaxed);
}

/// Adds to a cell that is to be found, as one instruction.
#[cfg(target_arch = "x86_64")]
#[inline]
fn floor_modify(found: &Found, n: u64) {
    // SAFETY: the index is that of one of the cells, which live as long as the borrow, and are this
    // thread's alone.
    unsafe {
        std::arch::asm!("mov {cells}, qword ptr [{cells_at}]", "mov {index}, qword ptr [{index_at}]",
            "add qword ptr [{cells} + 8 * {index}], {n}",
            cells = out(reg) _, index = out(reg) _, cells_at = in(reg) &raw const found.cells,
            index_at = in(reg) &raw const found.index, n = in(reg) n, options(nostack));
    }
}

/// Adds by three instructions.
#[cfg(target_arch = "x86_64")]
#[inline]
fn floor_load_and_store(found: &Found, n: u64) {
    // SAFETY: as in `floor_modify`.
    unsafe {
        std::arch::asm!("mov {cells}, qword ptr [{cells_at}]", "mov {index}, qword ptr [{index_at}]",
            "mov {t}, qword ptr [{cells} + 8 * {index}]", "add {t}, {n}",
            "mov qword ptr [{cells} + 8 * {index}], {t}",
            cells = out(reg) _, index = out(reg) _, t = out(reg) _, cells_at = in(reg) &raw const found.cells,
            index_at = in(reg) &raw const found.index, n = in(reg) n, options(nostack));
    }
}

/// Adds by three instructions, on any processor.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn floor_load_and_store(found: &Found, n: u64) {
    // SAFETY: both are fields of the borrowed value. Volatile: they are loaded each time.
    let (cells, index) = unsafe {
        ((&raw const found.cells).read_volatile(), (&raw const found.index).read_volatile())
    };
    // SAFETY: the index is that of one of the cells, which live as long as the borrow, and are this
    // thread's alone.
    let cell = unsafe { AtomicU64::from_ptr(cells.add(index)) };
    let before = cell.load(Ordering::Relaxed);
    cell.store(before.wrapping_add(n), Ordering::Relaxed);
}

fn fast_counter() -> ConcurrentCounter {
    // As in the lab: enough that no two threads of a program share one.
    ConcurrentCounter::new(std::thread::available_parallelism().map_or(1, usize::from))
}

/// Both loops on one thing.
macro_rules! both {
    ($add:expr, $make:expr) => {
        [(|times| one(times, $make, $add)) as fn(u64) -> Took, |times| in_turn(times, $make, $add)]
    };
}

// By a closure, as a caller calls it: the bare name would be called through a function that all
// loops share.
const COUNTER: [Loop; 2] = both!(|counter: &Counter, n| counter.add(n), Counter::new);
#[cfg(target_arch = "x86_64")]
const MODIFY: [Loop; 2] = both!(modify, Cell::default);
const LOAD_AND_STORE: [Loop; 2] = both!(load_and_store, Cell::default);
#[cfg(target_arch = "x86_64")]
const FLOOR_MODIFY: [Loop; 2] = both!(floor_modify, Found::new);
const FLOOR_LOAD_AND_STORE: [Loop; 2] = both!(floor_load_and_store, Found::new);
const LOCKED: [Loop; 2] =
    both!(|cell: &Cell, n| _ = cell.0.fetch_add(n, Ordering::Relaxed), Cell::default);
const FAST_COUNTER: [Loop; 2] =
    both!(|counter: &ConcurrentCounter, n| counter.add(n.cast_signed() as isize), fast_counter);

/// All of them, by name.
pub(crate) const LOOPS: &[(&str, Loop)] = &[
    ("counter, one", COUNTER[0]),
    ("counter, in turn", COUNTER[1]),
    #[cfg(target_arch = "x86_64")]
    ("plain add, read-modify-write, one", MODIFY[0]),
    #[cfg(target_arch = "x86_64")]
    ("plain add, read-modify-write, in turn", MODIFY[1]),
    ("plain add, load and store, one", LOAD_AND_STORE[0]),
    ("plain add, load and store, in turn", LOAD_AND_STORE[1]),
    #[cfg(target_arch = "x86_64")]
    ("floor, read-modify-write, one", FLOOR_MODIFY[0]),
    #[cfg(target_arch = "x86_64")]
    ("floor, read-modify-write, in turn", FLOOR_MODIFY[1]),
    ("floor, load and store, one", FLOOR_LOAD_AND_STORE[0]),
    ("floor, load and store, in turn", FLOOR_LOAD_AND_STORE[1]),
    ("locked add, one", LOCKED[0]),
    ("locked add, in turn", LOCKED[1]),
    ("fast-counter, one", FAST_COUNTER[0]),
    ("fast-counter, in turn", FAST_COUNTER[1]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_plain_add_adds() {
        let (cell, mut found) = (Cell::default(), Found::new());
        load_and_store(&cell, 2);
        floor_load_and_store(&found, 2);
        #[cfg(target_arch = "x86_64")]
        {
            modify(&cell, 5);
            floor_modify(&found, 5);
        }
        let expected = if cfg!(target_arch = "x86_64") { 7 } else { 2 };
        assert_eq!(cell.0.load(Ordering::Relaxed), expected);
        // SAFETY: the cells exist, and no other thread has them.
        assert_eq!(unsafe { found.cells.add(found.index).read() }, expected);
        found.index += 1;
        floor_load_and_store(&found, 1);
        // SAFETY: as above.
        assert_eq!(unsafe { found.cells.add(33).read() }, 1, "the index was not looked at");
    }
}

//! What a window of five events takes in memory: on the heap, by an allocator that counts, and in
//! rows, by the formula; and what it would take on other machines.
//!
//! Each ring is made, every bucket of it opened three times over, and then added to from every core.
//! What is on the heap then and was not before is the ring's.

use std::thread;

use windrow_benches::harness::{cores, keep_to_core};
use windrow_benches::heap::Counting;
use windrow_benches::ours::{MakeRing, RINGS, WINDROW};
use windrow_benches::rivals::Ring;
use windrow_benches::terminal;

#[global_allocator]
static HEAP: Counting = Counting::new();

/// Blocks of a window, as the design has it: sets of cells, one in each row, that buckets take turns
/// to own. ** To be kept equal to the number in windrow's source, which does not show it. **
const BLOCKS: usize = 4;
/// Cells of a bucket: one for each of the four counts, four for the value.
const CELLS: usize = 4 + 4;
/// Bytes of a cell.
const CELL: usize = 8;
/// More rows than this are never used.
const MOST_ROWS: usize = 256;

/// Processors of the machines that bytes are worked out for.
const MACHINES: [usize; 3] = [2, 16, 128];
/// Buckets of the windows that are made.
const WINDOWS: [usize; 3] = [2, 60, 600];
/// More epochs than it takes to reclaim what any ring here has put aside.
const EPOCHS: usize = 1000;
/// A bucket's length in nanoseconds of the virtual clock.
const LENGTH: u64 = 100_000;

/// In place of what is worked out for windrow alone.
const NOT_KNOWN: [&str; 1 + MACHINES.len()] = ["-"; 1 + MACHINES.len()];

/// The target (T10): bytes of a window of so many buckets, on so many processors.
const MOST: usize = 16 * 1024;
const MOST_AT: (usize, usize) = (60, 2);

/// Bytes that a window has in rows, on a machine of so many processors.
fn in_rows(processors: usize) -> usize {
    CELL * CELLS * BLOCKS * processors.min(MOST_ROWS)
}

/// Opens every bucket of `ring` three times over, and adds to the last one from every core.
fn use_up(ring: &dyn Ring, buckets: u64) {
    let start = |number| (buckets + number) * LENGTH;
    (0..3 * buckets).for_each(|number| _ = ring.add_at(start(number), 1));
    let now = start(3 * buckets - 1);
    for core in 0..cores() {
        thread::scope(|scope| {
            let adding = scope.spawn(|| {
                keep_to_core(core);
                ring.add_at(now, 1);
            });
            // By name: without, a scope ends before what its threads leave behind is dropped.
            adding.join().expect("a ring panicked");
        });
    }
}

/// What is on the heap once everything has been reclaimed that can be: what was put aside until nobody
/// can be looking at it goes when epochs have passed. The epochs are those that windrow uses.
fn at_rest() -> usize {
    let mut bytes = usize::MAX;
    for _ in 0..EPOCHS {
        crossbeam_epoch::pin().flush();
        bytes = bytes.min(HEAP.bytes());
    }
    bytes
}

/// Bytes on the heap for a ring of so many buckets.
fn on_heap(make: MakeRing, buckets: usize) -> usize {
    let before = at_rest();
    let ring = make(LENGTH * buckets as u64, buckets);
    use_up(&*ring, buckets as u64);
    at_rest() - before
}

/// A row of sentinel-core's. Its buckets are all made in the beginning, and its window is kept for ever,
/// which is why it comes last.
#[cfg(feature = "sentinel")]
fn sentinel_core(buckets: usize) -> Vec<String> {
    use windrow_benches::rivals::sentinel;
    let window = || {
        let window = sentinel::window(buckets as u32);
        window.rival.add(1);
        std::mem::forget(window.rival);
        window.name
    };
    window(); // and what the process as a whole needs
    let before = at_rest();
    let name = window();
    let mut row = vec![name.into(), buckets.to_string(), (at_rest() - before).to_string()];
    row.extend(NOT_KNOWN.map(String::from));
    row
}

fn main() {
    terminal::print_caption("memory");
    // What the process as a whole needs, whoever is the first to need it.
    for (_, make) in RINGS {
        on_heap(make, 2);
    }
    let mut rows = Vec::new();
    let mut verdict = String::new();
    for (name, make) in RINGS {
        for buckets in WINDOWS {
            let heap = on_heap(make, buckets);
            let mut row = vec![name.into(), buckets.to_string(), heap.to_string()];
            if name == WINDROW {
                row.push(in_rows(cores()).to_string());
                row.extend(MACHINES.map(|processors| (heap + in_rows(processors)).to_string()));
            } else {
                row.extend(NOT_KNOWN.map(String::from));
            }
            rows.push(row);
            if name == WINDROW && buckets == MOST_AT.0 {
                let bytes = heap + in_rows(MOST_AT.1);
                let word = if bytes <= MOST { "met" } else { "missed" };
                verdict = format!(
                    "T10: {} buckets on {} processors, at most {MOST} bytes: {bytes}, {word}.",
                    MOST_AT.0, MOST_AT.1,
                );
            }
        }
    }
    #[cfg(feature = "sentinel")]
    for buckets in WINDOWS {
        rows.push(sentinel_core(buckets));
    }
    let heads = [
        "contender",
        "buckets",
        "bytes on the heap",
        "in rows, here",
        "both, with 2 processors",
        "with 16",
        "with 128",
    ];
    terminal::print_table(&heads, &rows);
    println!("\n{verdict}");
}

//! The memory of windrow's counters and of its windows of five events: on the heap, by an allocator
//! that counts, and in rows, by the formula.
//!
//! Each window is made, every bucket of it opened three times over, and then added to from every
//! core. The growth of the heap is the window's. Many counters are made, and each is added to from
//! every core.

use std::sync::LazyLock;

use windrow::{Counter, SlidingWindow};

use super::progress::Progress;
use super::report::Table;
use crate::harness::{cores, on_every_core};
use crate::heap::Counting;
use crate::ours::{MakeRing, RINGS, TIERED, WINDROW};

/// Blocks of a window, as the design has it: sets of cells, one in each row, that buckets take
/// turns to own. ** To be kept equal to the number in windrow's source, which does not show it. **
const BLOCKS: usize = 4;
/// Cells of a bucket: one for each of the four counts, four for the value.
const CELLS: usize = 4 + 4;
/// Bytes of a cell.
const CELL: usize = 8;
/// More rows than this are never used.
const MOST_ROWS: usize = 256;

/// The number of counters made.
const COUNTERS: usize = 32;
/// More reads than it takes to reclaim what windows have put aside: pins reclaim.
const READS: usize = 128_000;
/// A bucket's length in nanoseconds of the virtual clock.
const LENGTH: u64 = 100_000;

windrow::events! { enum Nothing { Nothing: Count } }

/// A window that is only read.
static READ: LazyLock<SlidingWindow<Nothing>> =
    LazyLock::new(|| SlidingWindow::builder().build().expect("a sound window"));

/// Returns the bytes on the heap once everything that can be reclaimed has been.
fn at_rest(heap: &Counting) -> usize {
    let read = |_| {
        READ.sum(Nothing::Nothing);
        heap.bytes()
    };
    (0..READS).map(read).min().unwrap_or_default()
}

/// Returns the bytes on the heap for a window of `buckets` buckets.
fn of_window(heap: &Counting, make: MakeRing, buckets: usize) -> usize {
    let before = at_rest(heap);
    let ring = make(LENGTH * buckets as u64, buckets);
    let start = |number| (buckets as u64 + number) * LENGTH;
    let last = 3 * buckets as u64 - 1;
    (0..=last).for_each(|number| _ = ring.add_at(start(number), 1));
    on_every_core(&|| _ = ring.add_at(start(last), 1));
    at_rest(heap).saturating_sub(before)
}

/// Returns the bytes on the heap for a counter.
fn of_counter(heap: &Counting) -> usize {
    let before = at_rest(heap);
    let counters: Vec<Counter> = (0..COUNTERS).map(|_| Counter::new()).collect();
    on_every_core(&|| counters.iter().for_each(Counter::increment));
    at_rest(heap).saturating_sub(before) / COUNTERS
}

/// Measures; `heap` is the program's allocator. No other thread may use it.
pub fn table(heap: &Counting) -> Table {
    let progress = Progress::begin("bytes");
    let here = format!("{} processors (here)", cores());
    let heads = ["bytes", "on the heap", &*here];
    let mut table = Table::new("memory", "Bytes of counters and of windows of five events", heads);
    let mut row = |name: String, bytes: usize, cells: usize| {
        let all = bytes + CELL * cells * cores().min(MOST_ROWS);
        table.row([name, bytes.to_string(), all.to_string()]);
    };
    // The one-time memory of the process.
    of_window(heap, RINGS[0].1, 2);
    of_counter(heap);
    row(format!("{WINDROW}, a counter"), of_counter(heap), 1);
    // A tier's buckets are no longer than the window, so two are too few.
    for ((name, make), sizes) in [(RINGS[0], &[2, 60, 600][..]), (TIERED, &[60, 600])] {
        for &buckets in sizes {
            let bytes = of_window(heap, make, buckets);
            row(format!("{name}, {buckets} buckets"), bytes, CELLS * BLOCKS);
        }
    }
    progress.end();
    table
}

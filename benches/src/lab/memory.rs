//! The memory of a counter and of a window of five events: on the heap, by an allocator that
//! counts, and in rows, by the formula; and their memory on other machines. And the allocations of
//! an add.
//!
//! Each ring is made, every bucket of it opened three times over, and then added to from every
//! core. The growth of the heap is the ring's. Many counters are made, and each is added to from
//! every core.

use std::sync::LazyLock;
use std::thread;

use serde::Serialize;
use windrow::SlidingWindow;

use super::progress::Progress;
use super::report::Table;
use super::subject::{self, Group, Process, Subject};
use crate::harness::{Contender, cores, keep_to_core};
use crate::heap::Counting;
use crate::ours::{MakeRing, RINGS, TIERED, WINDROW};
use crate::rivals::Ring;

/// Blocks of a window, as the design has it: sets of cells, one in each row, that buckets take
/// turns to own. ** To be kept equal to the number in windrow's source, which does not show it. **
const BLOCKS: usize = 4;
/// Cells of a bucket: one for each of the four counts, four for the value.
const CELLS: usize = 4 + 4;
/// Bytes of a cell.
const CELL: usize = 8;
/// More rows than this are never used.
const MOST_ROWS: usize = 256;

/// Processors of the machines that bytes are worked out for.
pub const MACHINES: [usize; 3] = [2, 16, 128];
/// Buckets of the windows that are made.
const WINDOWS: [usize; 3] = [2, 60, 600];
/// The number of counters made of each kind.
const COUNTERS: usize = 32;
/// Adds among which allocations are looked for.
const ADDS: u64 = 100_000;
/// More epochs than it takes to reclaim what any ring here has put aside.
const EPOCHS: usize = 1000;
/// The number of pins after which windrow's epochs look for something to reclaim.
const PINS: usize = 128;
/// A bucket's length in nanoseconds of the virtual clock.
const LENGTH: u64 = 100_000;

windrow::events! { enum Nothing { Nothing: Count } }

/// One kind of counter or window.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The contender.
    pub name: String,
    /// Buckets; of a counter none.
    pub buckets: Option<usize>,
    /// Bytes on the heap.
    pub heap: usize,
    /// Cells in each row that was written to.
    pub cells: usize,
    /// Allocations in `ADDS` adds by one thread, of a counter.
    pub allocations: Option<usize>,
}

impl Row {
    /// Returns windrow's bytes on a machine of `processors` processors; rivals' heap grows in other
    /// ways.
    pub fn bytes(&self, processors: usize) -> usize {
        self.heap + CELL * self.cells * processors.min(MOST_ROWS)
    }
}

/// Opens every bucket of `ring` three times over, and adds to the last one from every core.
fn use_up(ring: &dyn Ring, buckets: u64) {
    let start = |number| (buckets + number) * LENGTH;
    (0..3 * buckets).for_each(|number| _ = ring.add_at(start(number), 1));
    let now = start(3 * buckets - 1);
    on_every_core(&|| _ = ring.add_at(now, 1));
}

/// One core after the other.
fn on_every_core(work: &(dyn Fn() + Sync)) {
    for core in 0..cores() {
        thread::scope(|scope| {
            let adding = scope.spawn(|| {
                keep_to_core(core);
                work();
            });
            // By name: without, a scope ends before what its threads leave behind is dropped.
            adding.join().expect("a rival panicked");
        });
    }
}

/// A window of windrow's that is only read: pins reclaim.
static READ: LazyLock<SlidingWindow<Nothing>> =
    LazyLock::new(|| SlidingWindow::builder().build().expect("a sound window"));

/// Returns the bytes on the heap once everything that can be reclaimed has been. Deferred memory is
/// freed when epochs have passed, windrow's own and those that rivals share.
fn at_rest(heap: &Counting) -> usize {
    let mut bytes = usize::MAX;
    for _ in 0..EPOCHS {
        crossbeam_epoch::pin().flush();
        (0..PINS).for_each(|_| _ = READ.sum(Nothing::Nothing));
        bytes = bytes.min(heap.bytes());
    }
    bytes
}

/// Returns the bytes on the heap for a ring of `buckets` buckets.
fn of_ring(heap: &Counting, make: MakeRing, buckets: usize) -> usize {
    let before = at_rest(heap);
    let ring = make(LENGTH * buckets as u64, buckets);
    use_up(&*ring, buckets as u64);
    at_rest(heap).saturating_sub(before)
}

/// Returns a row of counters called `name`.
fn of_counter(heap: &Counting, name: &'static str) -> Row {
    let make = || subject::make(Group::Counter, name).expect("a known counter");
    on_every_core(&|| make().rival.add(1)); // the one-time memory of the process
    let before = at_rest(heap);
    let counters: Vec<Contender> = (0..COUNTERS).map(|_| make()).collect();
    on_every_core(&|| counters.iter().for_each(|counter| counter.rival.add(1)));
    let list = COUNTERS * size_of::<Contender>();
    let bytes = at_rest(heap).saturating_sub(before + list) / COUNTERS;
    let allocations = heap.allocations();
    counters[0].rival.add_many(ADDS);
    let allocations = heap.allocations() - allocations;
    Row {
        name: name.to_owned(),
        buckets: None,
        heap: bytes,
        cells: usize::from(name == WINDROW),
        allocations: Some(allocations),
    }
}

/// Returns a row of sentinel-core's. Its buckets are all made in the beginning, and its window is
/// kept forever, which is why it comes last.
#[cfg(feature = "sentinel")]
fn of_sentinel_core(heap: &Counting, buckets: usize) -> Row {
    use crate::rivals::sentinel;
    let window = || {
        let window = sentinel::window(buckets as u32);
        window.rival.add(1);
        std::mem::forget(window.rival);
        window.name
    };
    window(); // and the one-time memory of the process
    let before = at_rest(heap);
    let name = window().to_owned();
    let heap = at_rest(heap) - before;
    Row { name, buckets: Some(buckets), heap, cells: 0, allocations: None }
}

/// Measures; `heap` is the program's allocator. No other thread may use it.
pub fn rows(heap: &Counting) -> Vec<Row> {
    let mut progress = Progress::begin("bytes");
    // The one-time memory of the process, for any contender.
    for (_, make) in RINGS {
        of_ring(heap, make, 2);
    }
    let counters = Subject::all(Group::Counter, false);
    let rings: Vec<_> = RINGS.into_iter().chain([TIERED]).collect();
    let all = counters.len() + rings.len();
    let mut rows = Vec::new();
    for (index, subject) in counters.iter().enumerate() {
        progress.step(subject.name, index, all);
        if subject.process == Process::Here {
            rows.push(of_counter(heap, subject.name));
        }
    }
    for (index, (name, make)) in rings.into_iter().enumerate() {
        progress.step(name, counters.len() + index, all);
        // A tier's buckets are no longer than the window, so two are too few.
        for buckets in WINDOWS.into_iter().filter(|buckets| name != TIERED.0 || *buckets > 10) {
            let bytes = of_ring(heap, make, buckets);
            let ours = [WINDROW, TIERED.0].contains(&name);
            let cells = if ours { CELLS * BLOCKS } else { 0 };
            let name = name.to_owned();
            let buckets = Some(buckets);
            rows.push(Row { name, buckets, heap: bytes, cells, allocations: None });
        }
    }
    #[cfg(feature = "sentinel")]
    rows.extend(WINDOWS.map(|buckets| of_sentinel_core(heap, buckets)));
    progress.end();
    rows
}

/// Shows counters and windows.
pub fn tables(rows: &[Row]) -> [Table; 2] {
    let here = format!("{} processors (here)", cores());
    let others = MACHINES.map(|processors| format!("with {processors}"));
    let heads = |kind| {
        let fixed = ["contender", kind, "bytes on the heap", &*here].into_iter();
        fixed.chain(others.iter().map(String::as_str))
    };
    let cells = |row: &Row, second: String| {
        let known = row.cells > 0;
        let bytes = |processors| {
            if known { row.bytes(processors).to_string() } else { "-".to_owned() }
        };
        let here = if known { row.bytes(cores()) } else { row.heap }.to_string();
        let fixed = [row.name.clone(), second, row.heap.to_string(), here];
        fixed.into_iter().chain(MACHINES.map(bytes))
    };
    let title = "Bytes of a counter";
    let allocations = format!("allocations in {ADDS} adds");
    let mut counters = Table::new("memory-counters", title, heads(&allocations));
    let title = "Bytes of a window of five events";
    let mut windows = Table::new("memory-windows", title, heads("buckets"));
    for row in rows {
        let allocations = row.allocations.map_or("-".to_owned(), |number| number.to_string());
        match row.buckets {
            None => counters.row(cells(row, allocations)),
            Some(buckets) => windows.row(cells(row, buckets.to_string())),
        }
    }
    [counters, windows]
}

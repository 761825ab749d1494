//! A million counters: their resident memory, and the cost of an add to a random one of them.
//! `cargo run --release -p windrow-benches --bin million`; `--counters N`, `--adds N` (per thread,
//! in millions).
//!
//! Such an add waits for memory, so its cost stands beside two floors, which count without regard
//! to other threads: a number in one array, and a number elsewhere behind 32 bytes of its own, as
//! that of a counter with a cell for each core must be.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use fastrand::Rng;
use lexopt::Arg::Long;
use lexopt::{Parser, ValueExt};
use windrow::Counter;
use windrow_benches::harness::{cores, keep_to_core, time};
use windrow_benches::terminal::{print_caption, print_table};

/// The number of contatori's counters: at 16 KB each, a million do not fit.
const FEW: usize = 20_000;

/// Resident bytes of this process.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = pages.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}

/// Returns the numbers of counters, and of adds to them by each thread.
fn options() -> Result<(usize, u64), lexopt::Error> {
    let (mut counters, mut adds) = (1_000_000, 10);
    let mut arguments = Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("counters") => counters = arguments.value()?.parse()?,
            Long("adds") => adds = arguments.value()?.parse()?,
            other => return Err(other.unexpected()),
        }
    }
    if counters == 0 || adds == 0 {
        return Err("--counters and --adds must be above 0".into());
    }
    Ok((counters, adds * 1_000_000))
}

/// The target of an add: the index of the counter, and the core.
#[derive(Clone, Copy)]
struct At {
    index: usize,
    core: usize,
}

/// One row of the table: makes `many`, has every core add to random ones, and checks the total.
fn measure<T: Sync>(
    name: &str,
    (many, adds): (usize, u64),
    make: impl Fn(usize) -> T,
    add: impl Fn(&T, At) + Sync,
    sum: impl Fn(&T, usize) -> u64,
) -> Vec<String> {
    eprint!("{name}: making {many} ...            \r");
    let before = resident();
    let all: Vec<T> = (0..many).map(make).collect();
    // Every core adds to every counter once, so that all its memory exists.
    let on_every_core = |work: &(dyn Fn(usize) + Sync)| {
        thread::scope(|scope| {
            for core in 0..cores() {
                scope.spawn(move || {
                    keep_to_core(core);
                    work(core);
                });
            }
        });
    };
    let add_to = |index: usize, core| add(&all[index], At { index, core });
    on_every_core(&|core| (0..many).for_each(|index| add_to(index, core)));
    let bytes = (resident() - before) as f64 / many as f64;
    eprint!("{name}: adding ...                 \r");
    let spent = AtomicU64::new(0);
    on_every_core(&|core| {
        let mut random = Rng::with_seed(core as u64);
        let mut any = || random.usize(..many);
        let took: Duration = time(|| (0..adds).for_each(|_| add_to(any(), core)));
        spent.fetch_add(took.as_nanos() as u64, Ordering::Relaxed);
    });
    let total: u64 = all.iter().enumerate().map(|(index, one)| sum(one, index)).sum();
    let expected = (many as u64 + adds) * cores() as u64;
    assert_eq!(total, expected, "{name} has lost counts");
    std::mem::forget(all); // so that the next row finds no memory free that the system knows of
    let nanos = spent.into_inner() as f64 / (adds * cores() as u64) as f64;
    vec![name.to_owned(), many.to_string(), format!("{bytes:.1}"), format!("{nanos:.1}")]
}

/// A row of numbers for each core, which that core alone writes.
struct Rows(Vec<Vec<AtomicU64>>);

impl Rows {
    fn new(many: usize) -> Rows {
        Rows((0..cores()).map(|_| (0..many).map(|_| AtomicU64::new(0)).collect()).collect())
    }

    /// A load and a store: what a plain add does.
    fn add(&self, index: usize, core: usize) {
        let cell = &self.0[core][index];
        cell.store(cell.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    fn sum(&self, index: usize) -> u64 {
        self.0.iter().map(|row| row[index].load(Ordering::Relaxed)).sum()
    }
}

/// Returns the sizes of this machine's caches, as the system tells them.
fn caches() -> String {
    let size = |index| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size");
        std::fs::read_to_string(path).ok().map(|size| size.trim().to_owned())
    };
    let sizes: Vec<_> = [0, 2, 3].into_iter().filter_map(size).collect();
    if sizes.is_empty() { "of unknown size".to_owned() } else { sizes.join(", ") }
}

fn main() {
    let (many, adds) = match options() {
        Ok(options) => options,
        Err(wrong) => {
            eprintln!("million: {wrong}");
            std::process::exit(2);
        }
    };
    print_caption("million");
    let windrow = |many| {
        let (add, sum) = (|one: &Counter, _: At| one.increment(), |one: &Counter, _| one.sum());
        measure("windrow", (many, adds), |_| Counter::new(), add, sum)
    };
    let rows: &'static Rows = Box::leak(Box::new(Rows::new(many)));
    let more: &'static Rows = Box::leak(Box::new(Rows::new(many)));
    let here = || {
        let (add, sum) =
            (|(): &(), at: At| rows.add(at.index, at.core), |(): &(), at| rows.sum(at));
        measure("plain add, its number in an array", (many, adds), |_| (), add, sum)
    };
    let elsewhere = || {
        measure(
            "plain add, its number elsewhere",
            (many, adds),
            |index| [index; 3], // as long as a counter
            |where_to, at| more.add(where_to[0], at.core),
            |where_to, _| more.sum(where_to[0]),
        )
    };
    let atomic = || {
        let add = |one: &AtomicU64, _: At| _ = black_box(one).fetch_add(1, Ordering::Relaxed);
        let sum = |one: &AtomicU64, _| one.load(Ordering::Relaxed);
        measure("AtomicU64", (many, adds), |_| AtomicU64::new(0), add, sum)
    };
    let contatori = || {
        use contatori::counters::{Observable, unsigned::Unsigned};
        let sum = |one: &Unsigned, _| one.value().as_u64();
        let add = |one: &Unsigned, _: At| one.add(1);
        measure("contatori", (FEW.min(many), adds), |_| Unsigned::new(), add, sum)
    };
    let mut rows = [windrow(many), elsewhere(), here(), atomic(), contatori(), windrow(1)];
    rows[1..3].iter_mut().for_each(|floor| "-".clone_into(&mut floor[2])); // made elsewhere
    eprint!("                                          \r");
    print_table(&["contender", "counters", "bytes each", "ns of CPU time a random add"], &rows);
    println!("\ncaches: {}. Totals exact.", caches());
}

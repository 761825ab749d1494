//! A million counters: what they take in resident memory, and what an add to a random one of them
//! costs. `cargo run --release -p windrow-benches --bin million`; `--counters N`, `--adds N` (per
//! thread, in millions).

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use windrow::Counter;
use windrow_benches::harness::{cores, keep_to_core, time};
use windrow_benches::terminal::{option, print_caption, print_table};

/// How many of contatori's are made: at 16 KB each, a million do not fit.
const FEW: usize = 20_000;

/// Resident bytes of this process.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = pages.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}

/// A cheap sequence of numbers that look random (Marsaglia, *Xorshift RNGs*, 2003).
fn next(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state as usize
}

/// One row of the table: makes `many`, has every core add to random ones, and checks the total.
fn measure<T: Sync>(
    name: &str,
    (many, adds): (usize, u64),
    make: impl Fn() -> T,
    add: impl Fn(&T) + Sync,
    sum: impl Fn(&T) -> u64,
) -> Vec<String> {
    eprint!("{name}: making {many} ...            \r");
    let before = resident();
    let all: Vec<T> = (0..many).map(|_| make()).collect();
    // Every core adds to every counter once, so that whatever it takes to count there is there.
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
    on_every_core(&|_| all.iter().for_each(&add));
    let bytes = (resident() - before) as f64 / many as f64;
    eprint!("{name}: adding ...                 \r");
    let spent = AtomicU64::new(0);
    on_every_core(&|core| {
        let mut state = 0x9e37_79b9_7f4a_7c15 ^ (core as u64 + 1);
        let took: Duration = time(|| (0..adds).for_each(|_| add(&all[next(&mut state) % many])));
        spent.fetch_add(took.as_nanos() as u64, Ordering::Relaxed);
    });
    let total: u64 = all.iter().map(sum).sum();
    let expected = (many as u64 + adds) * cores() as u64;
    assert_eq!(total, expected, "{name} has lost counts");
    let nanos = spent.into_inner() as f64 / (adds * cores() as u64) as f64;
    vec![name.to_owned(), many.to_string(), format!("{bytes:.1}"), format!("{nanos:.1}")]
}

/// The sizes of this machine's caches, as the system tells them.
fn caches() -> String {
    let size = |index| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size");
        std::fs::read_to_string(path).ok().map(|size| size.trim().to_owned())
    };
    let sizes: Vec<_> = [0, 2, 3].into_iter().filter_map(size).collect();
    if sizes.is_empty() { "of unknown size".to_owned() } else { sizes.join(", ") }
}

fn main() {
    let many = option("--counters", 1_000_000) as usize;
    let adds = option("--adds", 10) * 1_000_000;
    if many == 0 || adds == 0 {
        eprintln!("million: --counters and --adds must be above 0");
        std::process::exit(2);
    }
    print_caption("million");
    let atomic = |atomic: &AtomicU64| _ = black_box(atomic).fetch_add(1, Ordering::Relaxed);
    let load = |atomic: &AtomicU64| atomic.load(Ordering::Relaxed);
    let rows = [
        measure("windrow", (many, adds), Counter::new, Counter::increment, Counter::sum),
        measure("windrow", (1, adds), Counter::new, Counter::increment, Counter::sum),
        measure("AtomicU64", (many, adds), AtomicU64::default, atomic, load),
        measure(
            "contatori",
            (FEW.min(many), adds),
            contatori::counters::unsigned::Unsigned::new,
            |counter| counter.add(1),
            |counter| contatori::counters::Observable::value(counter).as_u64(),
        ),
    ];
    eprint!("                                          \r");
    print_table(&["contender", "counters", "bytes each", "ns of CPU time a random add"], &rows);
    println!("\ncaches: {}. Totals exact.", caches());
}

//! Loops of adds, in one strategy: a process that the comparison of the strategies asks, in turns
//! with others (`benches/src/lab/strategies.rs`). It chooses nothing itself: its environment does,
//! since windrow chooses once for a whole process.
//!
//! It first prints its strategy; then each line read is a question, and each line printed an
//! answer. Words are separated by tabs.
//!
//! ```text
//!                          ->  is    STRATEGY of counters  STRATEGY of windows  LEASES, a bool
//! loop   NAME  TIMES       ->  done  CPU_NS  WALL_NS
//! beside ROTATIONS         ->  done  six figures, as `beside::Found` has them
//! choice TARGET THREADS BETWEEN_READS warm|cold TIMES  ->  nanos  NS
//! anything else            ->  none
//! ```
//!
//! Each loop makes its counters and windows anew: no figure depends on one address, and no clock's
//! thread runs while other processes are measured.

mod beside;
mod choice;
mod counters;
mod windows;

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::io::{BufRead, Write, stdin, stdout};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use core_affinity::CoreId;
use cpu_time::ThreadTime;

/// The number of counters or windows in turn: enough that no add waits for the store of the last
/// one to the same cell.
const TURNS: u64 = 16;
/// Adds before the clock starts: threads are registered, rows opened, pages mapped.
const WARM_UP: u64 = 64;

/// CPU time and wall time.
type Took = (Duration, Duration);

/// Makes something, and adds to it so often.
type Loop = fn(u64) -> Took;

/// Returns a loop on one of what `make` makes.
fn one<T>(times: u64, make: impl FnOnce() -> T, add: impl Fn(&T, u64)) -> Took {
    let (target, n) = (make(), black_box(1));
    let target = black_box(&target); // seen elsewhere, or the compiler keeps it in registers
    timed(times, |times| (0..times).for_each(|_| add(target, n)))
}

/// Times the loop on sixteen of them in turn.
fn in_turn<T>(times: u64, make: impl FnMut() -> T, add: impl Fn(&T, u64)) -> Took {
    let mut make = make;
    let targets: [T; TURNS as usize] = std::array::from_fn(|_| make());
    let (targets, n) = (black_box(&targets), black_box(1)); // as above
    timed(times, |times| (0..times).for_each(|turn| add(&targets[(turn % TURNS) as usize], n)))
}

fn timed(times: u64, work: impl Fn(u64)) -> Took {
    work(WARM_UP);
    let (wall, cpu) = (Instant::now(), ThreadTime::now());
    work(black_box(times));
    (cpu.elapsed(), wall.elapsed())
}

/// Returns what this process is.
fn is() -> String {
    let (counters, windows) = (windrow::diagnostics::strategy(), windows::strategy());
    format!("is\t{counters:?}\t{windows:?}\t{}", leases())
}

#[cfg(not(feature = "before"))]
fn leases() -> bool {
    windrow::diagnostics::leases()
}

#[cfg(feature = "before")]
fn leases() -> bool {
    false
}

fn answer(line: &str) -> Option<String> {
    let words: Vec<&str> = line.split('\t').collect();
    match words[..] {
        ["loop", name, times] => {
            let mut all = counters::LOOPS.iter().chain(windows::LOOPS);
            let (_, run) = all.find(|(known, _)| *known == name)?;
            let (cpu, wall) = run(times.parse().ok()?);
            Some(format!("done\t{}\t{}", cpu.as_nanos(), wall.as_nanos()))
        }
        ["beside", rotations] => {
            let found = beside::run(rotations.parse().ok()?);
            Some(format!("done\t{}", found.map(|figure| figure.to_string()).join("\t")))
        }
        ["choice", ref asked @ ..] => choice::answer(asked).map(|nanos| format!("nanos\t{nanos}")),
        _ => None,
    }
}

fn main() {
    // Before this thread is kept to one core, which would pass for the whole machine.
    windrow::diagnostics::strategy();
    keep_to_core(0);
    let mut said = is();
    let mut lines = stdin().lock().lines().map_while(Result::ok);
    loop {
        println!("{said}");
        if stdout().flush().is_err() {
            return; // the reader has left
        }
        let Some(line) = lines.next() else { return };
        said = answer(&line).unwrap_or_else(|| "none".to_owned());
    }
}

/// The cores that the process may use. A thread that is kept to one core may use that one alone,
/// and so may the threads that it starts, so the first call tells.
static CORES: OnceLock<Vec<CoreId>> = OnceLock::new();

/// Keeps this thread on one core.
fn keep_to_core(index: usize) {
    let allowed = CORES.get_or_init(|| core_affinity::get_core_ids().unwrap_or_default());
    if let Some(core) = allowed.get(index % allowed.len().max(1)) {
        core_affinity::set_for_current(*core);
    }
}

/// The system's allocator, and the number of its allocations.
struct Counting(AtomicU64);

#[global_allocator]
static HEAP: Counting = Counting(AtomicU64::new(0));

// SAFETY: every call is passed to the system's allocator as it is; the number beside it is an
// atomic, which allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.0.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on; every block came from the system's allocator.
        unsafe { System.dealloc(block, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_loop_adds() {
        for (name, run) in counters::LOOPS.iter().chain(windows::LOOPS) {
            let (_, wall) = run(1000);
            assert!(wall > Duration::ZERO, "{name}");
        }
    }

    /// Threads of a thread that is kept to a core, too.
    #[test]
    fn threads_are_kept_to_different_cores() {
        let cores = || core_affinity::get_core_ids().unwrap_or_default();
        let kept = std::thread::spawn(move || {
            keep_to_core(0);
            let first = cores();
            let other = std::thread::spawn(move || {
                keep_to_core(1);
                cores()
            });
            (first, other.join().expect("a thread"))
        });
        let (first, other) = kept.join().expect("a thread");
        assert_eq!(first == other, cores().len() < 2, "{first:?}, {other:?}");
    }

    #[test]
    fn what_makes_no_sense_is_not_answered() {
        for line in ["", "loop", "loop\tno\t5", "loop\tcounter, one\tx", "beside\t-1"] {
            assert_eq!(answer(line), None, "{line}");
        }
        assert!(answer("loop\tcounter, one\t5").is_some_and(|said| said.starts_with("done\t")));
    }
}

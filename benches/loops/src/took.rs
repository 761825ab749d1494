//! A loop: what it is, how it is timed, and the core that its thread is kept to.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use core_affinity::CoreId;
use cpu_time::ThreadTime;

/// The number of counters or windows in turn: enough that no add waits for the store of the last
/// one to the same cell.
const TURNS: u64 = 16;
/// Adds before the clock starts: threads are registered, rows opened, pages mapped.
pub(crate) const WARM_UP: u64 = 64;

/// CPU time and wall time.
pub(crate) type Took = (Duration, Duration);

/// Makes something, and adds to it so often.
pub(crate) type Loop = fn(u64) -> Took;

/// Returns a loop on one of what `make` makes.
pub(crate) fn one<T>(times: u64, make: impl FnOnce() -> T, add: impl Fn(&T, u64)) -> Took {
    let (target, n) = (make(), black_box(1));
    let target = black_box(&target); // seen elsewhere, or the compiler keeps it in registers
    timed(times, |times| (0..times).for_each(|_| add(target, n)))
}

/// Times the loop on sixteen of them in turn.
pub(crate) fn in_turn<T>(times: u64, make: impl FnMut() -> T, add: impl Fn(&T, u64)) -> Took {
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

/// The cores that the process may use. A thread that is kept to one core may use that one alone,
/// and so may the threads that it starts, so the first call tells.
static CORES: OnceLock<Vec<CoreId>> = OnceLock::new();

/// Keeps this thread on one core.
pub(crate) fn keep_to_core(index: usize) {
    let allowed = CORES.get_or_init(|| core_affinity::get_core_ids().unwrap_or_default());
    if let Some(core) = allowed.get(index % allowed.len().max(1)) {
        core_affinity::set_for_current(*core);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}

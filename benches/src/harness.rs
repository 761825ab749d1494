//! The one way in which everything is measured.

use std::hint::{black_box, spin_loop};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

use crate::lab::stats::Sample;

/// Something that counts. Each implementation is measured by the loops provided here: they are
/// compiled once per rival, so that `add` is inlined into them and a `&dyn Rival` costs one
/// virtual call per loop, not per add.
pub trait Rival: Send + Sync {
    /// Counts `n`.
    fn add(&self, n: u64);

    /// Returns the sum, over the window if there is one.
    fn sum(&self) -> u64;

    /// Adds one, `times` times.
    fn add_many(&self, times: u64) {
        for _ in 0..times {
            self.add(black_box(1));
        }
    }

    /// Reads `times` times.
    fn sum_many(&self, times: u64) {
        for _ in 0..times {
            black_box(self.sum());
        }
    }
}

/// Makes a rival of a type, by what an add does and by the sum.
macro_rules! rival {
    ($type:ty: add($own:ident, $n:ident) => $add:expr; sum($this:ident) => $sum:expr;) => {
        impl Rival for $type {
            #[inline]
            fn add(&$own, $n: u64) {
                $add;
            }

            #[inline]
            fn sum(&$this) -> u64 {
                $sum
            }
        }
    };
}
pub(crate) use rival;

/// A rival and what the tables call it.
pub struct Contender {
    /// The name in tables.
    pub name: &'static str,
    /// The rival that is measured.
    pub rival: Box<dyn Rival>,
}

impl Contender {
    /// Names `rival`.
    pub fn new(name: &'static str, rival: impl Rival + 'static) -> Contender {
        Contender { name, rival: Box::new(rival) }
    }
}

/// Returns the number of threads that run at once. Asked for once: the system answers out of files.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
}

/// Keeps this thread on one core, the next one for the next `index`. Left alone on a busy machine,
/// two threads may well take turns on one core, and then nothing is contended.
pub fn keep_to_core(index: usize) {
    let allowed = core_affinity::get_core_ids().unwrap_or_default();
    if let Some(core) = allowed.get(index % allowed.len().max(1)) {
        core_affinity::set_for_current(*core);
    }
}

/// The number of iterations of a loop before the clock starts: enough to register the thread where
/// threads are registered, and to warm its cache lines.
pub const WARM_UP: u64 = 64;

/// The CPU time of a thread's work, its begin and its end.
type Ran = (Duration, Instant, Instant);

fn ran(work: impl FnOnce()) -> Ran {
    let (begin, cpu) = (Instant::now(), ThreadTime::now());
    work();
    (cpu.elapsed(), begin, Instant::now())
}

/// Returns what threads spent on work that they did at once.
///
/// CPU time and not wall time: with more threads than cores, or with a busy machine, a thread
/// waits for its turn, and that is no part of the work.
fn together(all: &[Ran]) -> Sample {
    let cpu: f64 = all.iter().map(|(cpu, ..)| cpu.as_secs_f64()).sum();
    let begin = all.iter().map(|(_, begin, _)| *begin).min().expect("a thread");
    let end = all.iter().map(|(.., end)| *end).max().expect("a thread");
    let possible = (end - begin).as_secs_f64() * all.len().min(cores()) as f64;
    // A little more than one is possible, since the clocks are read one after the other.
    Sample { ns: cpu * 1e9 / all.len() as f64, running: (cpu / possible).min(1.0) }
}

/// Measures work on this thread.
pub fn time(work: impl FnOnce()) -> Sample {
    together(&[ran(work)])
}

/// Has `threads` new threads, spread over the cores, do `work` together, each once it has done
/// `before`. Both are given the thread's index.
///
/// Always new threads, and never the caller's: striped counters deal out their stripes in the order
/// of arrival, so threads that arrive together get neighbouring stripes, as the threads of a pool
/// would.
///
/// # Panics
/// If `before` or `work` panics.
pub fn at_once(
    threads: usize,
    before: &(dyn Fn(usize) + Sync),
    work: &(dyn Fn(usize) + Sync),
) -> Sample {
    let waiting = AtomicUsize::new(threads);
    let one_thread = &|index| {
        keep_to_core(index);
        before(index);
        waiting.fetch_sub(1, Ordering::SeqCst);
        while waiting.load(Ordering::SeqCst) > 0 {
            if threads > cores() {
                thread::yield_now();
            } else {
                spin_loop();
            }
        }
        ran(|| work(index))
    };
    let all: Vec<Ran> = thread::scope(|scope| {
        let running: Vec<_> =
            (0..threads).map(|index| scope.spawn(move || one_thread(index))).collect();
        running.into_iter().map(|thread| thread.join().expect("a rival panicked")).collect()
    });
    together(&all)
}

/// Does `work` on one core after the other.
///
/// # Panics
/// If `work` panics.
pub fn on_every_core(work: &(dyn Fn() + Sync)) {
    for core in 0..cores() {
        thread::scope(|scope| {
            let working = scope.spawn(|| {
                keep_to_core(core);
                work();
            });
            // By name: without, a scope ends before what its threads leave behind is dropped.
            working.join().expect("a rival panicked");
        });
    }
}

/// Adds `times` times on each of `threads` threads at once.
pub fn time_adds(rival: &dyn Rival, threads: usize, times: u64) -> Sample {
    at_once(threads, &|_| rival.add_many(WARM_UP), &|_| rival.add_many(times))
}

/// Reads `times` times on this thread, once all that a read touches is near.
pub fn time_sums(rival: &dyn Rival, times: u64) -> Sample {
    rival.sum_many(WARM_UP.min(times));
    time(|| rival.sum_many(times))
}

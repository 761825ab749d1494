//! The one way in which everything is measured.

use std::hint::{black_box, spin_loop};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, SamplingMode};

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

    /// Adds one, `times` times, each after a `step` that moves the clock.
    fn add_many_after(&self, times: u64, step: &dyn Fn()) {
        for _ in 0..times {
            step();
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
    /// The name in tables and in Criterion's reports.
    pub name: &'static str,
    /// The rival that is measured.
    pub rival: Box<dyn Rival>,
}

impl Contender {
    /// Names `rival`.
    pub fn new(name: &'static str, rival: impl Rival + 'static) -> Contender {
        Contender { name, rival: Box::new(rival) }
    }

    /// Takes the one called `name` out of `contenders`.
    ///
    /// # Panics
    /// Panics if there is no contender of this name.
    pub fn take(contenders: &mut Vec<Contender>, name: &str) -> Contender {
        let at = contenders.iter().position(|contender| contender.name == name);
        contenders.swap_remove(at.unwrap_or_else(|| panic!("no contender is called {name}")))
    }

    /// Returns the contender under another name.
    #[must_use]
    pub fn called(self, name: &'static str) -> Contender {
        Contender { name, ..self }
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

/// The work of one thread.
#[derive(Clone, Copy)]
pub struct Ran {
    cpu: Duration,
    begin: Instant,
    end: Instant,
}

/// The time that threads spent on work that they did at once.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    /// CPU time, the mean over the threads.
    pub cpu: Duration,
    /// Wall time, from the first thread's begin to the last one's end.
    pub wall: Duration,
    /// The share of that time in which the cores that the threads could use ran them, from 0 to 1.
    /// If it is low, another process had a core, and the threads took turns on the others.
    pub running: f64,
}

impl Spent {
    /// Returns what the threads of `ran` spent together.
    ///
    /// # Panics
    /// Panics if there are no threads.
    pub fn of(ran: &[Ran]) -> Spent {
        let threads = u32::try_from(ran.len()).expect("few threads");
        let cpu: Duration = ran.iter().map(|thread| thread.cpu).sum();
        let begin = ran.iter().map(|thread| thread.begin).min().expect("a thread");
        let end = ran.iter().map(|thread| thread.end).max().expect("a thread");
        let wall = end - begin;
        let possible = wall.as_secs_f64() * ran.len().min(cores()) as f64;
        // A little more than one is possible, since the clocks are read one after the other.
        let running = (cpu.as_secs_f64() / possible).min(1.0);
        Spent { cpu: cpu / threads, wall, running }
    }
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
) -> Vec<Ran> {
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
        let (begin, cpu) = (Instant::now(), ThreadTime::now());
        work(index);
        Ran { cpu: cpu.elapsed(), begin, end: Instant::now() }
    };
    thread::scope(|scope| {
        let running: Vec<_> =
            (0..threads).map(|index| scope.spawn(move || one_thread(index))).collect();
        running.into_iter().map(|thread| thread.join().expect("a rival panicked")).collect()
    })
}

/// Adds `times` times on each of `threads` threads at once.
pub fn spend_on_adds(rival: &dyn Rival, threads: usize, times: u64) -> Spent {
    Spent::of(&at_once(threads, &|_| rival.add_many(WARM_UP), &|_| rival.add_many(times)))
}

/// Measures adds while one more thread reads over and over; also returns the nanoseconds of CPU
/// time of a read.
pub fn spend_while_reading(rival: &dyn Rival, threads: usize, times: u64) -> (Spent, f64) {
    let (adding, reads) = (AtomicUsize::new(threads), AtomicU64::new(0));
    let work = |index| {
        if index < threads {
            rival.add_many(times);
            adding.fetch_sub(1, Ordering::Relaxed);
        } else {
            while adding.load(Ordering::Relaxed) > 0 {
                black_box(rival.sum());
                reads.fetch_add(1, Ordering::Relaxed);
            }
        }
    };
    let ran = at_once(threads + 1, &|_| rival.add_many(WARM_UP), &work);
    let read_ns = ran[threads].cpu.as_nanos() as f64 / reads.into_inner().max(1) as f64;
    (Spent { running: Spent::of(&ran).running, ..Spent::of(&ran[..threads]) }, read_ns)
}

/// Returns the CPU time that adding takes a thread, of `threads` that add `times` times each.
///
/// CPU time and not wall time: with more threads than cores, or with a busy machine, a thread
/// waits for its turn, and that is no part of an add.
pub fn time_adds(rival: &dyn Rival, threads: usize, times: u64) -> Duration {
    spend_on_adds(rival, threads, times).cpu
}

/// Reads `times` times on this thread, once all that a read touches is near; returns the CPU time.
pub fn time_sums(rival: &dyn Rival, times: u64) -> Duration {
    spend_on_sums(rival, times).cpu
}

/// Measures reads, with the wall time.
pub fn spend_on_sums(rival: &dyn Rival, times: u64) -> Spent {
    rival.sum_many(WARM_UP.min(times));
    let (begin, cpu) = (Instant::now(), ThreadTime::now());
    rival.sum_many(times);
    Spent::of(&[Ran { cpu: cpu.elapsed(), begin, end: Instant::now() }])
}

/// CPU time that `work` takes on this thread.
pub fn time(work: impl FnOnce()) -> Duration {
    let begin = ThreadTime::now();
    work();
    begin.elapsed()
}

/// Has each of `contenders` do `work` once in each of `rounds` rounds, in an order that turns by
/// one from round to round.
pub fn in_rounds<T>(rounds: usize, contenders: &mut [T], mut work: impl FnMut(&mut T)) {
    let count = contenders.len();
    for round in 0..rounds {
        (0..count).for_each(|turn| work(&mut contenders[(round + turn) % count]));
    }
}

/// Makes a group quick: half a second of measuring per contender after a fifth of warming up. All
/// samples are alike, so that with more threads than cores each spans several turns of each
/// thread.
pub fn quick(group: &mut BenchmarkGroup<'_, WallTime>) {
    group
        .sample_size(10)
        .sampling_mode(SamplingMode::Flat)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(500));
}

/// The benchmark body for adds, over all `contenders`.
pub fn bench_adds(
    group: &mut BenchmarkGroup<'_, WallTime>,
    contenders: &[Contender],
    threads: usize,
) {
    quick(group);
    for Contender { name, rival } in contenders {
        group.bench_function(*name, |bencher| {
            bencher.iter_custom(|times| time_adds(&**rival, threads, times));
        });
    }
}

/// The benchmark body for reads, over all `contenders`.
pub fn bench_reads(group: &mut BenchmarkGroup<'_, WallTime>, contenders: &[Contender]) {
    quick(group);
    for Contender { name, rival } in contenders {
        group.bench_function(*name, |bencher| {
            bencher.iter_custom(|times| time_sums(&**rival, times));
        });
    }
}

//! `cold [--rounds N]`: an add whose memory is not in the nearest caches, beside rivals.
//!
//! Prints a table for each kind and number of threads. Each time a thread reads other memory, adds
//! to one thing, and then to another of its kind. The first of the two finds nothing of the kind
//! near. The second finds what all things of the kind share, as all but the first count of a
//! request do. The last columns are ratios to an atomic's time within a round.
//!
//! Interleaved rounds: in each of them every contender runs once for each amount of memory. All
//! threads add to the same two things. A figure of a round is the mean of the middle half of the
//! times, less that of adding nothing.

use std::cell::Cell;
use std::hint::black_box;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Instant;

use contatori::counters::unsigned::Unsigned;
use crossbeam_utils::CachePadded;
use fast_counter::ConcurrentCounter;
use windrow::{Counter, Family, labels};
use windrow_benches::harness::{WARM_UP, cores, keep_to_core};
use windrow_benches::lab::progress::Progress;
use windrow_benches::lab::stats::{Spread, digits};
use windrow_benches::rivals::published;
use windrow_benches::terminal::{Options, options, print_caption, print_table};

labels! { struct Route { route: str } }

/// The bytes that are read before an add, with their names.
const BETWEEN: [(usize, &str); 3] =
    [(64 << 10, "64 KiB"), (512 << 10, "512 KiB"), (4 << 20, "4 MiB")];
/// The bytes of a cache line.
const LINE: usize = 64;
/// The times that are taken in a round.
const TIMES: usize = 101;
/// The number of things of a kind. The first and the last of them are added to.
const APART: usize = 64;
/// The name of the yardstick.
const ATOMIC: &str = "AtomicU64, in a box";

static ATOMICS: [CachePadded<AtomicU64>; 2] = [const { CachePadded::new(AtomicU64::new(0)) }; 2];
static COUNTERS: [CachePadded<Counter>; 2] = [const { CachePadded::new(Counter::new()) }; 2];
static ROUTES: Family<Route, Counter> = Family::new();

/// A title, contenders, and a number of threads.
type Part = (&'static str, fn() -> Vec<Contender>, usize);

/// Nanoseconds of the first and of the second add.
type Pair = [f64; 2];

/// A contender, which measures itself with a number of bytes between, on a number of threads.
struct Contender {
    name: &'static str,
    measure: Box<dyn Fn(usize, usize) -> Pair>,
    /// By amount of memory; one in each round.
    found: [Vec<Pair>; BETWEEN.len()],
}

impl Contender {
    /// Two things behind pointers. An add begins with a thing's address: it does not wait for the
    /// pointer.
    fn new<P: Deref<Target: Sync> + Sync + 'static>(
        name: &'static str,
        things: [P; 2],
        first: impl Fn(&P::Target) + Copy + Send + Sync + 'static,
        second: impl Fn(&P::Target) + Copy + Send + Sync + 'static,
    ) -> Contender {
        let measure = move |between, threads| {
            let begin = Barrier::new(threads);
            let all: Vec<Pair> = thread::scope(|scope| {
                let (things, begin) = (&things, &begin);
                let run = move |index| {
                    keep_to_core(index);
                    let things = things.each_ref().map(|thing| black_box(&**thing));
                    (0..WARM_UP).for_each(|_| (first(things[0]), second(things[1])).1);
                    begin.wait();
                    cold(between, || first(things[0]), || second(things[1]))
                };
                let threads: Vec<_> =
                    (0..threads).map(|index| scope.spawn(move || run(index))).collect();
                threads.into_iter().map(|one| one.join().expect("a thread that adds")).collect()
            });
            [0, 1].map(|at| all.iter().map(|pair| pair[at]).sum::<f64>() / threads as f64)
        };
        Contender { name, measure: Box::new(measure), found: [const { Vec::new() }; 3] }
    }

    /// Two things of a kind, each in a box.
    fn boxed<T: Sync + 'static>(
        name: &'static str,
        make: impl Fn() -> T,
        add: impl Fn(&T) + Copy + Send + Sync + 'static,
    ) -> Contender {
        Contender::behind(name, || Box::new(make()), add)
    }

    /// Two things of a kind behind such pointers, and apart: others of the kind were made in
    /// between.
    fn behind<P: Deref<Target: Sync> + Sync + 'static>(
        name: &'static str,
        make: impl Fn() -> P,
        add: impl Fn(&P::Target) + Copy + Send + Sync + 'static,
    ) -> Contender {
        let things: Vec<P> = (0..APART).map(|_| make()).collect();
        for thing in &things {
            add(thing); // a counter takes its place now
        }
        let mut things = things.into_iter();
        let both = [things.next(), things.next_back()].map(|thing| thing.expect("at least two"));
        std::mem::forget(things);
        Contender::new(name, both, add, add)
    }
}

/// Times two adds, each by itself, after other memory was read.
fn cold(between: usize, first: impl Fn(), second: impl Fn()) -> Pair {
    let other = vec![1_u8; between];
    let mut times = [const { Vec::new() }; 2];
    for _ in 0..TIMES {
        let read = other.iter().step_by(LINE).fold(0_u8, |all, byte| all.wrapping_add(*byte));
        black_box(read);
        let begin = Instant::now();
        first();
        let middle = Instant::now();
        second();
        let end = Instant::now();
        times[0].push((middle - begin).as_nanos() as u64);
        times[1].push((end - middle).as_nanos() as u64);
    }
    times.map(|mut times| {
        times.sort_unstable();
        let middle = &times[TIMES / 4..TIMES - TIMES / 4];
        middle.iter().sum::<u64>() as f64 / middle.len() as f64
    })
}

fn nothing() -> Contender {
    Contender::boxed("nothing", || (), |()| _ = black_box(1))
}

fn atomic() -> Contender {
    Contender::boxed(ATOMIC, AtomicU64::default, |atomic| {
        atomic.fetch_add(1, Ordering::Relaxed);
    })
}

/// Returns the contenders; nothing and the yardstick come first.
fn counters() -> Vec<Contender> {
    let made = Cell::new(0);
    let handle = || {
        made.set(made.get() + 1);
        ROUTES.handle(Route { route: &format!("/carts/{}", made.get()) })
    };
    let concurrent = || ConcurrentCounter::new(cores());
    vec![
        nothing(),
        atomic(),
        Contender::new(
            "AtomicU64, static",
            [Box::new(()), Box::new(())],
            |()| _ = ATOMICS[0].fetch_add(1, Ordering::Relaxed),
            |()| _ = ATOMICS[1].fetch_add(1, Ordering::Relaxed),
        ),
        Contender::boxed("windrow, in a box", Counter::new, Counter::increment),
        Contender::new(
            "windrow, static",
            [Box::new(()), Box::new(())],
            |()| COUNTERS[0].increment(),
            |()| COUNTERS[1].increment(),
        ),
        Contender::behind("windrow, a family's series", handle, Counter::increment),
        Contender::boxed("AtomicU64, in an Arc in a box", Arc::<AtomicU64>::default, |atomic| {
            atomic.fetch_add(1, Ordering::Relaxed);
        }),
        Contender::boxed("windrow, a handle in a box", handle, |series| {
            series.increment(); // a method of the handle, or of its counter in earlier versions
        }),
        Contender::boxed(published::CONTATORI, Unsigned::new, |counter| counter.add(1)),
        Contender::boxed(published::FAST_COUNTER, concurrent, |counter| counter.add(1)),
    ]
}

/// Returns what a contender takes, which is more than nothing, by amount of memory and round.
fn more(contender: &Contender, nothing: &Contender) -> [Vec<Pair>; BETWEEN.len()] {
    [0, 1, 2].map(|size| {
        let both = contender.found[size].iter().zip(&nothing.found[size]);
        both.map(|(one, nothing)| [one[0] - nothing[0], one[1] - nothing[1]]).collect()
    })
}

/// Prints the table of a part.
fn print(title: &str, all: &[Contender]) {
    let yardstick = more(&all[1], &all[0]);
    let median = |rounds: &[Pair], at: usize| Spread::of(rounds.iter().map(|pair| pair[at]));
    let mut rows = Vec::new();
    for contender in &all[1..] {
        let found = more(contender, &all[0]);
        let times =
            found.iter().flat_map(|rounds| [0, 1].map(|at| digits(median(rounds, at).median)));
        let ratios = [1, 2].map(|size| {
            let both = found[size].iter().zip(&yardstick[size]);
            Spread::of(both.map(|(one, atomic)| one[0] / atomic[0])).show()
        });
        rows.push([contender.name.to_owned()].into_iter().chain(times).chain(ratios).collect());
    }
    let mut heads = vec![title.to_owned()];
    heads.extend(
        BETWEEN.iter().flat_map(|(_, name)| [format!("{name}, ns"), "the next".to_owned()]),
    );
    heads.extend(BETWEEN[1..].iter().map(|(_, name)| format!("of an atomic's, {name}")));
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    print_table(&heads, &rows);
    println!();
}

fn main() {
    let usual = Options { rounds: 21, ..Options::default() };
    let Options { rounds, .. } = options("cold", &["rounds"], usual);
    print_caption("cold");
    let parts: [Part; 2] =
        [("Counters, on one thread", counters, 1), ("Counters, on all cores", counters, cores())];
    for (title, contenders, threads) in parts {
        let mut progress = Progress::begin(title);
        let mut all = contenders();
        let count = all.len();
        for round in 0..rounds {
            progress.step("round", round, rounds);
            for turn in 0..count {
                let Contender { measure, found, .. } = &mut all[(round + turn) % count];
                for ((between, _), found) in BETWEEN.iter().zip(found) {
                    found.push(measure(*between, threads));
                }
            }
        }
        progress.end();
        print(title, &all);
    }
}

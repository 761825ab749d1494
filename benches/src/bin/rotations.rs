//! `rotations DIRECTORY [--rounds N]`: the slowest adds of two threads while buckets of a
//! millisecond come and go, beside adds of the same threads to one atomic.
//!
//! Writes a page with a table, and a picture, into the directory. Each add is timed alone, by the
//! wall clock. Interleaved rounds: in each of them every contender runs once. The first row counts
//! nothing: it is what the clock, the scheduler and the host do to a thread that is timed.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use hdrhistogram::Histogram;
use windrow::clock::{Clock, Precise, Ticker};
use windrow::{SlidingWindow, events};
use windrow_benches::harness::keep_to_core;
use windrow_benches::lab::chart::{Line, lines};
use windrow_benches::lab::environment::{Environment, Others};
use windrow_benches::lab::progress::Progress;
use windrow_benches::lab::stats::{Spread, digits};
use windrow_benches::rivals::leap_array::LeapArray;
use windrow_benches::rivals::mutex_ring::MutexRing;
use windrow_benches::rivals::{LEAP_ARRAY, MUTEX_RING, Ring};
use windrow_benches::terminal::{directory_and_rounds, markdown};

events! { enum Http { Pass: Count } }

const LENGTH: Duration = Duration::from_millis(1);
const BUCKETS: usize = 60;
/// The ticker's period.
const TICK: Duration = Duration::from_micros(100);
const THREADS: usize = 2;
/// The time for which a contender runs in a round.
const RUN: Duration = Duration::from_millis(150);
/// The ranks that are shown, in percent.
const RANKS: [f64; 5] = [50.0, 99.0, 99.9, 99.99, 99.999];
/// The longest time that is distinguished, in nanoseconds.
const LONGEST: u64 = 1_000_000_000;

type Add = Box<dyn Fn() + Sync>;

struct Contender {
    name: &'static str,
    add: Add,
    /// In each round, nanoseconds by rank.
    found: Vec<[f64; RANKS.len()]>,
}

impl Contender {
    fn new(name: &'static str, add: impl Fn() + Sync + 'static) -> Contender {
        Contender { name, add: Box::new(add), found: Vec::new() }
    }

    /// Runs one round.
    fn run(&mut self) {
        let stop = AtomicBool::new(false);
        let mut all = Histogram::<u64>::new_with_max(LONGEST, 3).expect("sound bounds");
        thread::scope(|scope| {
            let (add, stop) = (&self.add, &stop);
            let one = move |index| {
                keep_to_core(index);
                let mut times = Histogram::<u64>::new_with_max(LONGEST, 3).expect("sound bounds");
                while !stop.load(Ordering::Relaxed) {
                    let begin = Instant::now();
                    add();
                    times.saturating_record(begin.elapsed().as_nanos() as u64);
                }
                times
            };
            let threads: Vec<_> = (0..THREADS).map(|at| scope.spawn(move || one(at))).collect();
            thread::sleep(RUN);
            stop.store(true, Ordering::Relaxed);
            for thread in threads {
                all += thread.join().expect("a thread that adds");
            }
        });
        self.found.push(RANKS.map(|rank| all.value_at_percentile(rank) as f64));
    }

    fn rank(&self, at: usize) -> Spread {
        Spread::of(self.found.iter().map(|ranks| ranks[at]))
    }

    /// Returns the ratios to another's, round by round.
    fn to(&self, other: &Contender, at: usize) -> Spread {
        Spread::of(self.found.iter().zip(&other.found).map(|(one, other)| one[at] / other[at]))
    }
}

/// A window. With a ticker given, that closes its buckets.
fn window<C: Clock + Send + Sync + 'static>(
    name: &'static str,
    clock: C,
    closer: Option<&Ticker>,
) -> Contender {
    let builder = SlidingWindow::<Http>::builder().interval(LENGTH * BUCKETS as u32);
    let window = builder.buckets(BUCKETS).clock(clock).build().expect("sound settings");
    let window = Arc::new(window);
    if let Some(ticker) = closer {
        window.close_on(ticker);
    }
    Contender::new(name, move || window.add(Http::Pass, 1))
}

fn ring<R: Ring + 'static>(name: &'static str, make: fn(u64, usize) -> R) -> Contender {
    let ring = make((LENGTH * BUCKETS as u32).as_nanos() as u64, BUCKETS);
    let clock = Precise::default();
    Contender::new(name, move || {
        ring.add_at(clock.now().as_nanos(), 1);
    })
}

/// Returns the contenders; nothing and the yardstick come first.
fn contenders() -> Vec<Contender> {
    let atomic = CachePadded::new(AtomicU64::new(0));
    let ticker = Ticker::start(TICK);
    vec![
        Contender::new("the clock alone", || ()),
        Contender::new("AtomicU64", move || _ = atomic.fetch_add(1, Ordering::Relaxed)),
        window("windrow, Ticker", ticker.clone(), None),
        window("windrow, Ticker, close_on", ticker.clone(), Some(&ticker)),
        window("windrow, Precise", Precise::default(), None),
        window("windrow, Precise, close_on", Precise::default(), Some(&ticker)),
        ring(LEAP_ARRAY, LeapArray::new),
        ring(MUTEX_RING, MutexRing::new),
    ]
}

fn table(all: &[Contender]) -> String {
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|contender| {
            let ranks = (0..RANKS.len()).map(|at| digits(contender.rank(at).median));
            let ratios = [3, 4].map(|at| contender.to(&all[1], at).show());
            [contender.name.to_owned()].into_iter().chain(ranks).chain(ratios).collect()
        })
        .collect();
    let ranks = RANKS.map(|rank| format!("{rank} %"));
    let ratios = [3, 4].map(|at| format!("of the atomic's, {} %", RANKS[at]));
    let heads: Vec<&str> =
        ["ns"].into_iter().chain(ranks.iter().chain(&ratios).map(String::as_str)).collect();
    markdown(&heads, &rows)
}

fn main() -> Result<(), Box<dyn Error>> {
    let (directory, rounds) = directory_and_rounds("rotations", 21)?;
    fs::create_dir_all(&directory)?;
    let others = Others::watch();
    let mut all = contenders();
    let count = all.len();
    let mut progress = Progress::begin("the slowest adds while buckets come and go");
    for round in 0..rounds {
        progress.step("round", round, rounds);
        for turn in 0..count {
            all[(round + turn) % count].run();
        }
    }
    progress.end();
    let command = "cargo run --release -p windrow-benches --bin rotations -- DIRECTORY".to_owned();
    let environment = Environment::new(command, false, &others, Vec::new());
    let mut page = format!("# Adds beside rotations\n\n{}\n", environment.caption());
    // Writing to a `String` cannot fail.
    let _ = write!(
        page,
        "\nNanoseconds of an add by rank, each timed alone, while two threads add and buckets of a \
         millisecond\ncome and go: medians of {rounds} interleaved rounds. The last columns have \
         medians (least to greatest)\nof the ratios to an atomic's same rank within a \
         round.\n\n![by rank](rotations.svg)\n\n{}",
        table(&all),
    );
    fs::write(directory.join("rotations.md"), page)?;
    let marks = RANKS.map(|rank| format!("{rank} %"));
    let drawn = all.iter().map(|contender| Line {
        label: contender.name.to_owned(),
        points: (0..RANKS.len()).map(|at| Some(contender.rank(at).median)).collect(),
    });
    let title = "Adds of two threads beside rotations of a millisecond: ns by rank";
    let machine = format!("{}, {} cores", environment.processor, environment.cores);
    let picture = lines(title, &machine, &marks, &drawn.collect::<Vec<_>>());
    fs::write(directory.join("rotations.svg"), picture)?;
    Ok(())
}

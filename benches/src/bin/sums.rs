//! Measures the sum of a window while two threads never stop adding, by the way in which they and
//! the buckets disturb it.
//!
//! `cargo run --release -p windrow-benches --bin sums`. Each sum is timed alone, by the wall clock,
//! which takes some 25 ns of each figure. All cases run in turn, round by round; a figure is the
//! median of the rounds, by rank. A sum by a walk over the buckets takes 200 ns and more.

use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use windrow::clock::{Clock, Precise, Ticker};
use windrow::{SlidingWindow, Timestamp, events};
use windrow_benches::lab::stats::Spread;
use windrow_benches::terminal::{print_caption, print_table};

events! { enum Http { Pass: Count } }

const ROUNDS: usize = 11;
const BUCKETS: u32 = 10;
const LONG: Duration = Duration::from_millis(100);
const SHORT: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
/// The ticker's period.
const TICK: Duration = Duration::from_micros(100);
/// The distance between the clocks of two threads.
const APART: Duration = Duration::from_micros(50);
/// The time for which a case runs in a round, once its ring is full.
const RUN: Duration = Duration::from_millis(500);
/// The ranks that are shown, in percent.
const RANKS: [f64; 3] = [50.0, 95.0, 99.0];
/// The longest time that is distinguished, in nanoseconds.
const LONGEST: u64 = 1_000_000_000;

thread_local! {
    /// The time by which this thread's clock is ahead.
    static AHEAD: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// A clock that each thread reads a little differently.
#[derive(Clone, Default)]
struct Unequal(Precise);

impl Clock for Unequal {
    #[inline]
    fn now(&self) -> Timestamp {
        self.0.now() + AHEAD.get()
    }

    fn resolution(&self) -> Duration {
        self.0.resolution()
    }
}

/// A way to disturb a sum.
struct Case {
    name: &'static str,
    length: Duration,
    writers: u32,
    /// The distance between the threads' clocks.
    apart: Duration,
    /// The time from one back-dated add to the next.
    back_dated: Option<Duration>,
}

/// The case in which nothing does.
const CALM: Case =
    Case { name: "nobody adds", length: LONG, writers: 0, apart: Duration::ZERO, back_dated: None };
const BUSY: Case = Case { name: "buckets of 100 ms", writers: 2, ..CALM };
const CASES: [Case; 8] = [
    CALM,
    BUSY,
    Case { name: "of 1 ms", length: SHORT, ..BUSY },
    Case { name: "100 ms, clocks 50 us apart", apart: APART, ..BUSY },
    Case { name: "1 ms, clocks 50 us apart", length: SHORT, apart: APART, ..BUSY },
    Case { name: "100 ms, a back-dated add a second", back_dated: Some(SECOND), ..BUSY },
    Case { name: "100 ms, one a bucket", back_dated: Some(LONG), ..BUSY },
    Case { name: "1 ms, one a bucket", length: SHORT, back_dated: Some(SHORT), ..BUSY },
];

impl Case {
    /// Returns nanoseconds of a sum, by rank.
    fn run(&self, ticker: &Ticker) -> [f64; RANKS.len()] {
        if self.apart.is_zero() {
            self.run_by(ticker.clone())
        } else {
            self.run_by(Unequal::default())
        }
    }

    fn run_by<C: Clock + Clone + Send + Sync>(&self, clock: C) -> [f64; RANKS.len()] {
        let builder = SlidingWindow::<Http>::builder().interval(self.length * BUCKETS);
        let window = builder.buckets(BUCKETS as usize).clock(clock).build().expect("sound");
        let stop = AtomicBool::new(false);
        let times = thread::scope(|scope| {
            let (window, stop) = (&window, &stop);
            for writer in 0..self.writers {
                scope.spawn(move || {
                    AHEAD.set(self.apart * writer);
                    while !stop.load(Ordering::Relaxed) {
                        window.add(Http::Pass, 1);
                    }
                });
            }
            thread::sleep(self.length * (BUCKETS + 1));
            let times = scope.spawn(|| self.sums(window)).join();
            stop.store(true, Ordering::Relaxed);
            times.expect("a thread that sums")
        });
        RANKS.map(|rank| times.value_at_percentile(rank) as f64)
    }

    fn sums<C: Clock>(&self, window: &SlidingWindow<Http, C>) -> Histogram<u64> {
        let mut times = Histogram::new_with_max(LONGEST, 3).expect("sound bounds");
        let from = Instant::now();
        let mut next = from;
        while from.elapsed() < RUN {
            if let Some(pause) = self.back_dated
                && Instant::now() >= next
            {
                next += pause;
                // Refused, if this thread was stopped in between for longer than the ring.
                let _ = window.add_at(window.now() - self.length, Http::Pass, 1);
            }
            let begin = Instant::now();
            black_box(window.sum(Http::Pass));
            times.saturating_record(begin.elapsed().as_nanos() as u64);
        }
        times
    }
}

fn main() {
    print_caption("sums");
    let ticker = Ticker::start(TICK);
    let mut found = [const { Vec::new() }; CASES.len()];
    for round in 0..ROUNDS {
        eprint!("round {} of {ROUNDS}\r", round + 1);
        for (case, found) in CASES.iter().zip(&mut found) {
            found.push(case.run(&ticker));
        }
    }
    eprint!("                    \r");
    let rows = CASES.iter().zip(&found).map(|(case, found)| {
        let rank = |at: usize| Spread::of(found.iter().map(|ranks| ranks[at])).median;
        let ranks = (0..RANKS.len()).map(|at| format!("{:.0}", rank(at)));
        [case.name.to_owned()].into_iter().chain(ranks).collect()
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let ranks = RANKS.map(|rank| format!("ns, {rank} %"));
    let heads: Vec<&str> = ["sum"].into_iter().chain(ranks.iter().map(String::as_str)).collect();
    print_table(&heads, &rows);
}

//! Measures the work of a circuit breaker for each call, which is to record its outcome and to read
//! the totals: by the last calls, by a window of time, and by a list under a mutex. Beside them a
//! `Breaker` does all of its work for a call, before and after it.
//!
//! `cargo run --release -p windrow-benches --bin last_calls`. The contenders run in turn, round by
//! round; a figure is the median of the rounds, in nanoseconds of CPU time for a call.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use windrow::breaker::Settings;
use windrow::last_calls::{CallTotals, Outcome};
use windrow::{Breaker, LastCalls, SlidingWindow, events};
use windrow_benches::harness::{Spent, at_once, cores};
use windrow_benches::lab::stats::Spread;
use windrow_benches::terminal::{print_caption, print_table};

const ROUNDS: usize = 41;
const CALLS: u64 = 200_000;
const SIZE: usize = 100;

events! { enum Ended { All: Count, Failed: Count, Slow: Count } }

/// A call that ends so.
type Call<'c> = &'c (dyn Fn(Outcome) -> u64 + Sync);

/// A list of the last calls, and its totals.
#[derive(Default)]
struct List {
    calls: VecDeque<Outcome>,
    totals: CallTotals,
}

impl List {
    fn record(&mut self, outcome: Outcome) -> CallTotals {
        if self.calls.len() == SIZE {
            let left = self.calls.pop_front().unwrap_or_default();
            self.totals.calls -= 1;
            self.totals.failed -= u64::from(left.failed);
            self.totals.slow -= u64::from(left.slow);
        }
        self.calls.push_back(outcome);
        self.totals.calls += 1;
        self.totals.failed += u64::from(outcome.failed);
        self.totals.slow += u64::from(outcome.slow);
        self.totals
    }
}

/// Makes `CALLS` calls, of which each `failing`-th one fails; none if that is 0.
fn make(call: Call<'_>, failing: u64) {
    for number in 0..CALLS {
        let failed = failing > 0 && number % failing == 0;
        black_box(call(black_box(Outcome { failed, slow: false })));
    }
}

fn main() {
    let calls = LastCalls::new(SIZE).expect("a sound size");
    let window = SlidingWindow::<Ended>::builder().interval(Duration::from_secs(10)).buckets(10);
    let (window, list) = (window.build().expect("a sound geometry"), Mutex::new(List::default()));
    let by_number = |outcome: Outcome| {
        calls.record(outcome);
        calls.totals().failed
    };
    let by_time = |outcome: Outcome| {
        window.add(Ended::All, 1);
        if outcome.failed {
            window.add(Ended::Failed, 1);
        }
        window.totals().sum(Ended::Failed)
    };
    let by_list =
        |outcome| list.lock().unwrap_or_else(PoisonError::into_inner).record(outcome).failed;
    let breaker = |settings: Settings| {
        let breaker = Breaker::of(settings.failed_percent(100));
        move |outcome: Outcome| match breaker.try_call() {
            Ok(call) if outcome.failed => (call.failure(), 1).1,
            Ok(call) => (call.success(), 0).1,
            Err(_) => unreachable!("most calls are good"),
        }
    };
    let breaker_by_number = breaker(Settings::last_calls(SIZE));
    let breaker_by_time = breaker(Settings::interval(Duration::from_secs(10), 10));
    let contenders: [(&str, Call<'_>); 5] = [
        ("`LastCalls`", &by_number),
        ("`SlidingWindow`", &by_time),
        ("`Mutex<VecDeque>`", &by_list),
        ("`Breaker`, by number", &breaker_by_number),
        ("`Breaker`, by time", &breaker_by_time),
    ];
    let cases = [(1, 0), (1, 3), (cores(), 0), (cores(), 3)];

    print_caption("last_calls");
    let mut times = vec![vec![Vec::new(); cases.len()]; contenders.len()];
    for round in 0..ROUNDS {
        eprint!("round {} of {ROUNDS}\r", round + 1);
        for (case, &(threads, failing)) in cases.iter().enumerate() {
            for ((_, call), times) in contenders.iter().zip(&mut times) {
                let ran = at_once(threads, &|_| (), &|_| make(*call, failing));
                times[case].push(Spent::of(&ran).cpu.as_nanos() as f64 / CALLS as f64);
            }
        }
    }
    eprint!("                    \r");
    let rows = contenders.iter().zip(&times).map(|((name, _), times)| {
        let median = |times: &Vec<f64>| Spread::of(times.iter().copied()).show_median();
        [(*name).to_owned()].into_iter().chain(times.iter().map(median)).collect()
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let many = format!("{} threads, all good", cores());
    let heads = ["ns a call", "1 thread, all good", "a third fails", &many, "a third fails"];
    print_table(&heads, &rows);
}

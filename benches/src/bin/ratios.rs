//! The speed targets as ratios, all contenders of a strategy in one process and one interleaved
//! run.
//!
//! In each round every contender runs once, in an order that is turned by one from round to
//! round; a ratio is taken between two figures of the same round, so that a machine which is
//! slow for a while slows both. The verdict goes by the median of these ratios.
//!
//! Where windrow counts per core, a second process with `WINDROW_STRATEGY=portable` follows for
//! the targets of the portable strategy.
//!
//! Options: `--rounds` (31), `--adds` per contender, thread and round (1 000 000).

use std::env;
use std::io::{Write, stderr};
use std::process::{Command, ExitCode};
use std::time::Duration;

use windrow::clock::Ticker;
use windrow::{Strategy, strategy};
use windrow_benches::harness::{Contender, cores, time_adds};
use windrow_benches::rivals::counters::{atomic, fast_counter, pinned_add, plain_add};
use windrow_benches::{ours, terminal};

/// The limit of a target that says "no worse than": one, and what two equals differ by from run to
/// run.
const NO_WORSE: f64 = 1.05;

/// One thing to measure in every round.
struct Measurement {
    contender: Contender,
    threads: usize,
    /// Nanoseconds an add, by round.
    costs: Vec<f64>,
}

/// One target: its `contender` may cost at most `limit` times as much as its `yardstick`.
struct Target {
    name: &'static str,
    contender: usize,
    yardstick: usize,
    limit: f64,
}

/// The targets, and what is measured for them.
#[derive(Default)]
struct Plan {
    measurements: Vec<Measurement>,
    targets: Vec<Target>,
}

impl Plan {
    /// The targets of a strategy. A new one is a new line here.
    fn new(strategy: Strategy) -> Plan {
        let mut plan = Plan::default();
        let ticker = Ticker::start(Duration::from_millis(1));
        let counter = || ours::counter().called("windrow Counter::add");
        let window = || {
            let window = ours::window(Duration::from_secs(1), 2, ticker.clone());
            window.called("windrow window add, Ticker")
        };
        let all = cores();
        if strategy == Strategy::PerCore {
            plan.add("T1", counter(), 1, plain_add(), 1, 1.4);
            plan.add("T1", counter(), 1, atomic(), 1, 0.4);
            plan.add("T2", counter(), all, atomic(), all, 0.1);
            plan.add("T2", counter(), all, fast_counter(), all, 1.0 / 3.0);
            plan.add("T3", window(), 1, atomic(), 1, 0.7);
            plan.add("T3", window(), all, atomic(), 1, 0.7);
        } else {
            for threads in [1, all] {
                plan.add("T5", counter(), threads, fast_counter(), threads, NO_WORSE);
                plan.add("T6", window(), threads, pinned_add(), threads, 1.2);
            }
        }
        plan
    }

    /// Adds a target: `contender` on `threads`, compared with `yardstick` on `yard_threads`.
    fn add(
        &mut self,
        name: &'static str,
        contender: Contender,
        threads: usize,
        yardstick: Contender,
        yard_threads: usize,
        limit: f64,
    ) {
        let contender = self.measure(contender, threads);
        let yardstick = self.measure(yardstick, yard_threads);
        self.targets.push(Target { name, contender, yardstick, limit });
    }

    /// The index of a measurement, which several targets may share.
    fn measure(&mut self, contender: Contender, threads: usize) -> usize {
        let same = |other: &Measurement| {
            (other.contender.name, other.threads) == (contender.name, threads)
        };
        self.measurements.iter().position(same).unwrap_or_else(|| {
            self.measurements.push(Measurement { contender, threads, costs: Vec::new() });
            self.measurements.len() - 1
        })
    }

    fn run(&mut self, rounds: usize, adds: u64) {
        let count = self.measurements.len();
        for round in 0..rounds {
            eprint!("\rround {} of {rounds}", round + 1);
            let _ = stderr().flush();
            for turn in 0..count {
                let measurement = &mut self.measurements[(round + turn) % count];
                let rival = &*measurement.contender.rival;
                let spent = time_adds(rival, measurement.threads, adds);
                measurement.costs.push(spent.as_nanos() as f64 / adds as f64);
            }
        }
        eprintln!();
    }

    fn print_costs(&self) {
        let row = |measurement: &Measurement| {
            let spread = Spread::of(measurement.costs.iter().copied());
            vec![measurement.contender.name.into(), measurement.threads.to_string(), spread.show(1)]
        };
        let rows: Vec<_> = self.measurements.iter().map(row).collect();
        terminal::print_table(
            &["contender", "threads", "ns of CPU time an add: median (min to max)"],
            &rows,
        );
    }

    fn print_targets(&self) {
        let row = |target: &Target| {
            let contender = &self.measurements[target.contender];
            let yardstick = &self.measurements[target.yardstick];
            let pairs = contender.costs.iter().zip(&yardstick.costs);
            let spread = Spread::of(pairs.map(|(cost, yard)| cost / yard));
            vec![
                target.name.into(),
                format!("{} / {}", contender.contender.name, yardstick.contender.name),
                format!("{} / {}", contender.threads, yardstick.threads),
                format!("{:.2}", target.limit),
                spread.show(2),
                spread.verdict(target.limit).into(),
            ]
        };
        let rows: Vec<_> = self.targets.iter().map(row).collect();
        let heads = ["target", "ratio", "threads", "at most", "median (min to max)", "verdict"];
        terminal::print_table(&heads, &rows);
    }
}

/// The middle and the ends of some figures.
struct Spread {
    min: f64,
    median: f64,
    max: f64,
}

impl Spread {
    fn of(figures: impl Iterator<Item = f64>) -> Spread {
        let mut figures: Vec<f64> = figures.collect();
        figures.sort_by(f64::total_cmp);
        let last = figures.len() - 1;
        Spread { min: figures[0], median: figures[last / 2], max: figures[last] }
    }

    fn show(&self, decimals: usize) -> String {
        let Spread { min, median, max } = self;
        format!("{median:.decimals$} ({min:.decimals$} to {max:.decimals$})")
    }

    fn verdict(&self, limit: f64) -> &'static str {
        if self.median <= limit {
            "met"
        } else if self.min <= limit {
            "missed, but not in every round"
        } else {
            "missed in every round"
        }
    }
}

/// Runs this program again with the portable strategy.
fn run_portable() -> ExitCode {
    let portable = env::current_exe().and_then(|program| {
        Command::new(program)
            .args(env::args_os().skip(1))
            .env("WINDROW_STRATEGY", "portable")
            .status()
    });
    match portable {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        outcome => {
            eprintln!("the portable run: {outcome:?}");
            ExitCode::FAILURE
        }
    }
}

fn main() -> ExitCode {
    let rounds = terminal::option("--rounds", 31).max(1) as usize;
    let adds = terminal::option("--adds", 1_000_000).max(1);
    let strategy = strategy();
    terminal::print_caption("ratios");
    let mut plan = Plan::new(strategy);
    plan.run(rounds, adds);
    plan.print_costs();
    println!();
    plan.print_targets();
    println!();
    if strategy == Strategy::PerCore { run_portable() } else { ExitCode::SUCCESS }
}

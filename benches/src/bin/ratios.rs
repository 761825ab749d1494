//! The speed targets as ratios, all in one process and one interleaved run.
//!
//! In each round every contender runs once, in an order that is turned by one from round to
//! round; a ratio is taken between two figures of the same round, so that a machine which is
//! slow for a while slows both. The verdict goes by the median of these ratios.
//!
//! Options: `--rounds` (31), `--adds` per contender, thread and round (1 000 000).

use std::io::{Write, stderr};
use std::time::Duration;

use windrow::clock::Ticker;
use windrow_benches::harness::{Contender, cores, time_adds};
use windrow_benches::rivals::counters::{FAST_COUNTER, PINNED_ADD, fast_counter, pinned_add};
use windrow_benches::{ours, terminal};

/// The limit of a target that says "no worse than": one, and what two equals differ by from run to
/// run.
const NO_WORSE: f64 = 1.05;

/// One target: `contender` may cost at most `limit` times as much as `yardstick`.
struct Target {
    name: &'static str,
    contender: usize,
    yardstick: usize,
    threads: usize,
    limit: f64,
}

/// One thing to measure in every round.
struct Measurement {
    label: &'static str,
    contender: Contender,
    threads: usize,
    /// Nanoseconds an add, by round.
    costs: Vec<f64>,
}

/// The measurements and the targets on them. A new target is a new line in [`Plan::new`].
#[derive(Default)]
struct Plan {
    measurements: Vec<Measurement>,
    targets: Vec<Target>,
}

impl Plan {
    fn new() -> Plan {
        let mut plan = Plan::default();
        let ticker = Ticker::start(Duration::from_millis(1));
        let window = || ours::window(Duration::from_secs(1), 2, ticker.clone());
        for threads in [1, cores()] {
            let contender = plan.measure("windrow Counter::add", ours::counter(), threads);
            let yardstick = plan.measure(FAST_COUNTER, fast_counter(), threads);
            plan.targets.push(Target {
                name: "T5",
                contender,
                yardstick,
                threads,
                limit: NO_WORSE,
            });

            let contender = plan.measure("windrow window add, Ticker", window(), threads);
            let yardstick = plan.measure(PINNED_ADD, pinned_add(), threads);
            plan.targets.push(Target { name: "T6", contender, yardstick, threads, limit: 1.2 });
        }
        plan
    }

    fn measure(&mut self, label: &'static str, contender: Contender, threads: usize) -> usize {
        self.measurements.push(Measurement { label, contender, threads, costs: Vec::new() });
        self.measurements.len() - 1
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
            vec![measurement.label.into(), measurement.threads.to_string(), spread.show(1)]
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
                format!("{} / {}", contender.label, yardstick.label),
                target.threads.to_string(),
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

fn main() {
    terminal::print_caption("ratios");
    let rounds = terminal::option("--rounds", 31).max(1) as usize;
    let adds = terminal::option("--adds", 1_000_000).max(1);
    let mut plan = Plan::new();
    plan.run(rounds, adds);
    plan.print_costs();
    println!();
    plan.print_targets();
}

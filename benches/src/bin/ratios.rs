//! The speed targets, all contenders of a strategy in one process and in interleaved runs.
//!
//! In each round every contender runs once, in an order that is turned by one from round to
//! round; contenders are compared by two figures of the same round, so that a machine which is
//! slow for a while slows both. The verdict goes by the median over the rounds.
//!
//! Where windrow counts per core, a second process with `WINDROW_STRATEGY=portable` follows for
//! the targets of the portable strategy.
//!
//! Options: `--rounds` (31), `--adds` per contender, thread and round (1 000 000); of reads there
//! are a twentieth.
//!
//! With the feature `sentinel`, sentinel-core takes part. Its ticker cannot be stopped, so whatever
//! is to be measured without it has rounds of its own, before all others.

use std::io::{Write, stderr};
use std::process::ExitCode;
use std::time::Duration;

use windrow::clock::{Coarse, Ticker};
use windrow::{Clock, Strategy, strategy};
use windrow_benches::harness::{Contender, cores, time_adds, time_sums};
use windrow_benches::ours::{self, WINDROW};
use windrow_benches::rivals::LEAP_ARRAY;
use windrow_benches::rivals::counters::{atomic, fast_counter, pinned_add, plain_add};
use windrow_benches::terminal;

/// The limit of a target that says "no worse than": one, and what two equals differ by from run to
/// run.
const NO_WORSE: f64 = 1.05;
/// How many adds there are for each read.
const ADDS_PER_READ: u64 = 20;

/// One thing to measure in every round.
struct Measurement {
    contender: Contender,
    work: Work,
    /// Nanoseconds each, by round.
    costs: Vec<f64>,
}

/// What a contender does over and over.
#[derive(Clone, Copy)]
enum Work {
    /// Adds, on so many threads at once.
    Add(usize),
    /// Reads, on one thread.
    Read,
}

impl Work {
    fn threads(self) -> usize {
        match self {
            Work::Add(threads) => threads,
            Work::Read => 1,
        }
    }
}

/// One target: what is compared, and what it may come to; nothing if it is only to be shown.
struct Target {
    name: &'static str,
    compared: Compared,
    limit: Option<f64>,
}

/// Indexes of measurements, and what is done with their costs.
#[derive(Clone, Copy)]
enum Compared {
    /// The first as a multiple of the second.
    Ratio(usize, usize),
    /// What the first takes more than the second, in nanoseconds.
    Excess(usize, usize),
    /// What the one takes, in nanoseconds.
    Cost(usize),
}

impl Compared {
    fn unit(self) -> &'static str {
        if let Compared::Ratio(..) = self { "" } else { " ns" }
    }

    /// How many decimals tell a figure from `limit`.
    fn decimals(self, limit: Option<f64>) -> usize {
        match self {
            Compared::Ratio(..) if limit.is_some_and(|limit| limit < 0.2) => 3,
            Compared::Ratio(..) => 2,
            Compared::Excess(..) | Compared::Cost(_) => 1,
        }
    }
}

/// What is measured in the same rounds, and the targets that go by it.
#[derive(Default)]
struct Plan {
    measurements: Vec<Measurement>,
    targets: Vec<Target>,
}

impl Plan {
    /// The targets of windows on the coarse clock.
    fn coarse() -> Plan {
        let mut plan = Plan::default();
        let windows = || two_half_seconds(&Coarse::default());
        for threads in threads() {
            let window = Contender::take(&mut windows(), WINDROW);
            let window = plan.adds(window.called("windrow window add, Coarse"), threads);
            let clock = plan.adds(ours::coarse_read(), threads);
            plan.target("T4", Compared::Excess(window, clock), 5.0);
            #[cfg(feature = "sentinel")]
            plan.sentinel("T4", window, "sentinel-core, no ticker", threads, 1.0 / 8.0);
        }
        plan
    }

    /// All other targets of the per-core strategy.
    fn per_core() -> Plan {
        let mut plan = Plan::default();
        let (one, all) = (1, cores());
        let atomic_one = plan.adds(atomic(), one);

        let counter = || ours::counter().called("windrow Counter::add");
        let counter_one = plan.adds(counter(), one);
        let floor = plan.adds(plain_add(), one);
        plan.target("T1", Compared::Ratio(counter_one, floor), 1.4);
        plan.target("T1", Compared::Ratio(counter_one, atomic_one), 0.4);

        let counter_all = plan.adds(counter(), all);
        let atomic_all = plan.adds(atomic(), all);
        let fast = plan.adds(fast_counter(), all);
        plan.target("T2", Compared::Ratio(counter_all, atomic_all), 0.1);
        plan.target("T2", Compared::Ratio(counter_all, fast), 1.0 / 3.0);

        let ticker = Ticker::start(Duration::from_millis(1));
        for threads in threads() {
            let mut windows = two_half_seconds(&ticker);
            let window = Contender::take(&mut windows, WINDROW);
            let window = plan.adds(window.called("windrow window add, Ticker"), threads);
            plan.target("T3", Compared::Ratio(window, atomic_one), 0.7);
            #[cfg(feature = "sentinel")]
            plan.sentinel("T3", window, "sentinel-core, its ticker", threads, 1.0 / 12.0);
            let leap_array = Contender::take(&mut windows, LEAP_ARRAY);
            let leap_array = leap_array.called("reset-lock LeapArray, Ticker");
            let leap_array = plan.adds(leap_array, threads);
            plan.show("T3", Compared::Ratio(window, leap_array));
        }

        plan.reads(atomic_one);
        plan
    }

    /// The targets of the portable strategy.
    fn portable() -> Plan {
        let mut plan = Plan::default();
        let ticker = Ticker::start(Duration::from_millis(1));
        for threads in threads() {
            let counter = plan.adds(ours::counter().called("windrow Counter::add"), threads);
            let fast = plan.adds(fast_counter(), threads);
            plan.target("T5", Compared::Ratio(counter, fast), NO_WORSE);

            let mut windows = two_half_seconds(&ticker);
            let window = Contender::take(&mut windows, WINDROW);
            let window = plan.adds(window.called("windrow window add, Ticker"), threads);
            let pinned = plan.adds(pinned_add(), threads);
            plan.target("T6", Compared::Ratio(window, pinned), 1.2);
            let leap_array = Contender::take(&mut windows, LEAP_ARRAY);
            let leap_array = leap_array.called("reset-lock LeapArray, Ticker");
            let leap_array = plan.adds(leap_array, threads);
            plan.show("T6", Compared::Ratio(window, leap_array));
        }
        let atomic = plan.adds(atomic(), 1);
        plan.reads(atomic);
        plan
    }

    /// The targets of reads, the same for both strategies. `atomic` is what does not change with
    /// windows but does with the machine.
    fn reads(&mut self, atomic: usize) {
        let windows = [
            (2, "windrow sum of 2 buckets", "reset-lock LeapArray, sum of 2", Some(40.0)),
            (60, "windrow sum of 60 buckets", "reset-lock LeapArray, sum of 60", Some(150.0)),
            (600, "windrow sum of 600 buckets", "reset-lock LeapArray, sum of 600", None),
        ];
        for (buckets, name, rival, limit) in windows {
            let mut windows = ours::full_windows(buckets);
            let mut take = |name, called| {
                let contender = Contender::take(&mut windows, name).called(called);
                self.measure(contender, Work::Read)
            };
            let (window, rival) = (take(WINDROW, name), take(LEAP_ARRAY, rival));
            let compared = Compared::Cost(window);
            self.targets.push(Target { name: "T7", compared, limit });
            self.show("T7", Compared::Ratio(window, atomic));
            self.show("T7", Compared::Ratio(window, rival));
        }
    }

    /// sentinel-core, and the target of a window beside it.
    #[cfg(feature = "sentinel")]
    fn sentinel(
        &mut self,
        target: &'static str,
        window: usize,
        called: &'static str,
        threads: usize,
        limit: f64,
    ) {
        let sentinel = windrow_benches::rivals::sentinel::window(2).called(called);
        let sentinel = self.adds(sentinel, threads);
        self.target(target, Compared::Ratio(window, sentinel), limit);
    }

    fn target(&mut self, name: &'static str, compared: Compared, limit: f64) {
        self.targets.push(Target { name, compared, limit: Some(limit) });
    }

    fn show(&mut self, name: &'static str, compared: Compared) {
        self.targets.push(Target { name, compared, limit: None });
    }

    fn adds(&mut self, contender: Contender, threads: usize) -> usize {
        self.measure(contender, Work::Add(threads))
    }

    /// The new measurement's index.
    fn measure(&mut self, contender: Contender, work: Work) -> usize {
        self.measurements.push(Measurement { contender, work, costs: Vec::new() });
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
                let (spent, times) = match measurement.work {
                    Work::Add(threads) => (time_adds(rival, threads, adds), adds),
                    Work::Read => {
                        let reads = adds.div_ceil(ADDS_PER_READ);
                        (time_sums(rival, reads), reads)
                    }
                };
                measurement.costs.push(spent.as_nanos() as f64 / times as f64);
            }
        }
        eprintln!();
    }

    fn costs(&self) -> impl Iterator<Item = Vec<String>> {
        self.measurements.iter().map(|Measurement { contender, work, costs }| {
            let spread = Spread::of(costs.iter().copied());
            vec![contender.name.into(), work.threads().to_string(), spread.show(1)]
        })
    }

    fn verdicts(&self) -> impl Iterator<Item = Vec<String>> {
        self.targets.iter().map(|&Target { name, compared, limit }| {
            let (unit, decimals) = (compared.unit(), compared.decimals(limit));
            let (what, threads) = self.describe(compared);
            let spread = self.spread(compared);
            vec![
                name.into(),
                what,
                threads,
                limit.map_or("-".into(), |limit| format!("{limit:.decimals$}{unit}")),
                format!("{}{unit}", spread.show(decimals)),
                limit.map_or("-", |limit| spread.verdict(limit)).into(),
            ]
        })
    }

    /// What is compared, and on how many threads.
    fn describe(&self, compared: Compared) -> (String, String) {
        let name = |index: usize| self.measurements[index].contender.name;
        let threads = |index: usize| self.measurements[index].work.threads();
        let both = |one, other| format!("{} / {}", threads(one), threads(other));
        match compared {
            Compared::Ratio(one, other) => {
                (format!("{} / {}", name(one), name(other)), both(one, other))
            }
            Compared::Excess(one, other) => {
                (format!("{} - {}", name(one), name(other)), both(one, other))
            }
            Compared::Cost(one) => (name(one).into(), threads(one).to_string()),
        }
    }

    fn spread(&self, compared: Compared) -> Spread {
        let costs = |index: usize| self.measurements[index].costs.iter();
        match compared {
            Compared::Ratio(one, other) => {
                Spread::of(costs(one).zip(costs(other)).map(|(one, other)| one / other))
            }
            Compared::Excess(one, other) => {
                Spread::of(costs(one).zip(costs(other)).map(|(one, other)| one - other))
            }
            Compared::Cost(one) => Spread::of(costs(one).copied()),
        }
    }
}

/// Every window of two half seconds, on `clock`.
fn two_half_seconds<C>(clock: &C) -> Vec<Contender>
where
    C: Clock + Clone + Send + Sync + 'static,
{
    ours::windows(Duration::from_secs(1), 2, clock)
}

/// One thread, and as many as there are cores.
fn threads() -> [usize; 2] {
    [1, cores()]
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

fn main() -> ExitCode {
    let rounds = terminal::option("--rounds", 31).max(1) as usize;
    let adds = terminal::option("--adds", 1_000_000).max(1);
    let plans: &[fn() -> Plan] = match strategy() {
        Strategy::PerCore => &[Plan::coarse, Plan::per_core],
        _ => &[Plan::portable],
    };
    terminal::print_caption("ratios");
    let run = |make: &fn() -> Plan| {
        let mut plan = make();
        plan.run(rounds, adds);
        // Whatever is measured without sentinel-core's ticker, has been.
        #[cfg(feature = "sentinel")]
        windrow_benches::rivals::sentinel::start_ticker();
        plan
    };
    let plans: Vec<Plan> = plans.iter().map(run).collect();
    let costs: Vec<_> = plans.iter().flat_map(Plan::costs).collect();
    let heads = ["contender", "threads", "ns of CPU time each: median (min to max)"];
    terminal::print_table(&heads, &costs);
    println!();
    let verdicts: Vec<_> = plans.iter().flat_map(Plan::verdicts).collect();
    let heads = ["target", "compared", "threads", "at most", "median (min to max)", "verdict"];
    terminal::print_table(&heads, &verdicts);
    terminal::repeat_portable()
}

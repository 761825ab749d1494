//! Programs before and after: tower's retry budget on a window of windrow's, and stretto's metrics
//! on its counters. `cargo xtask compare ports`; `--quick` for fewer rounds.
//!
//! Both copies of a crate are in this process and take turns, round by round; ratios are taken
//! within a round.

mod budget;
mod cache;

use std::env;
use std::process::{Command, Stdio};

use lexopt::Arg::Long;
use lexopt::{Parser, ValueExt};
use windrow_benches::harness::{Rival, WARM_UP, cores, spend_on_adds};
use windrow_benches::lab::stats::{MARK, Sample, Spread};
use windrow_benches::terminal::{print_table, processor};

/// The crate as it is published.
const OWN: &str = "its own";
/// The name of the copy with a file of ours.
const PORTED: &str = "windrow's";
/// That, by a clock that is cheaper than the crate's.
const COARSE: &str = "windrow's, Coarse";

/// One thing that a program does, by one of the copies of its crate.
struct Contender {
    what: &'static str,
    whose: &'static str,
    rival: Box<dyn Rival>,
}

impl Contender {
    fn new(what: &'static str, whose: &'static str, rival: impl Rival + 'static) -> Contender {
        Contender { what, whose, rival: Box::new(rival) }
    }
}

/// Something that a program does, over and over.
struct Call<F>(F);

impl<F: Fn() + Send + Sync> Rival for Call<F> {
    #[inline]
    fn add(&self, _n: u64) {
        (self.0)();
    }

    /// Its counts are not checked here, but in the crates' own tests.
    fn sum(&self) -> u64 {
        0
    }
}

/// The time of an empty loop, which is not part of a call.
const NOTHING: &str = "an empty loop";

fn contenders() -> Vec<Contender> {
    let mut all = budget::contenders();
    all.extend(cache::contenders());
    all
}

/// The number of calls in a sample of each thread, and the number of samples.
struct Effort {
    calls: u64,
    rounds: usize,
}

fn measure(all: &[Contender], threads: usize, effort: &Effort) -> Vec<Vec<Sample>> {
    let mut samples = vec![Vec::new(); all.len()];
    for round in 0..effort.rounds {
        for turn in 0..all.len() {
            let at = (round + turn) % all.len();
            let spent = spend_on_adds(&*all[at].rival, threads, effort.calls);
            samples[at].push(Sample::new(spent, 0.0, effort.calls));
        }
    }
    samples
}

/// Instructions of one call, by callgrind, which knows no restartable sequences: those of the
/// portable strategy. Counted is the loop around the calls, which is a function of its own.
fn instructions(index: usize, calls: u64) -> Option<f64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"]);
    command.arg("--toggle-collect=*add_many*").arg(env::current_exe().ok()?);
    command.args(["--once", &index.to_string(), "--calls", &calls.to_string()]);
    let output = command.stdout(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|line| line.split_once("Collected : "))?;
    let counted: f64 = collected.1.split_whitespace().next()?.parse().ok()?;
    output.status.success().then(|| counted / (calls + WARM_UP) as f64)
}

/// The parsed command line.
enum Asked {
    /// Everything.
    Tables { quick: bool },
    /// A number of calls to one contender, to be counted.
    Once { index: usize, calls: u64 },
}

fn asked() -> Result<Asked, lexopt::Error> {
    let (mut quick, mut once, mut calls) = (false, None, 0);
    let mut arguments = Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("quick") => quick = true,
            Long("once") => once = Some(arguments.value()?.parse()?),
            Long("calls") => calls = arguments.value()?.parse()?,
            other => return Err(other.unexpected()),
        }
    }
    Ok(once.map_or(Asked::Tables { quick }, |index| Asked::Once { index, calls }))
}

fn tables(quick: bool) {
    let all = contenders();
    let effort = Effort { calls: 20_000, rounds: if quick { 9 } else { 61 } };
    let by_threads = [1, cores()].map(|threads| measure(&all, threads, &effort));
    let counted: Vec<_> = (0..=all.len()).map(|index| instructions(index, 10_000)).collect();
    let empty = counted[all.len()].unwrap_or(0.0);

    println!("{}, {} cores, {:?}", processor(), cores(), windrow::diagnostics::strategy());
    println!("{} rounds of {} calls a thread\n", effort.rounds, effort.calls);
    let names = ["1 thread".to_owned(), format!("{} threads", cores())];
    for (alone, (threads, samples)) in [true, false].into_iter().zip(names.iter().zip(&by_threads))
    {
        let row = |(at, contender): (usize, &Contender)| {
            let own = all.iter().position(|own| own.what == contender.what).expect("itself");
            let ratio =
                || Spread::of_both(&samples[at], &samples[own], |one, own| one / own).show();
            let mut cells = vec![
                contender.what.to_owned(),
                contender.whose.to_owned(),
                Spread::of_samples(&samples[at], |sample| sample.cpu_ns).show(),
                if at == own { "-".to_owned() } else { ratio() },
            ];
            if alone {
                let less = |counted: f64| format!("{:.0}", counted - empty);
                cells.push(counted[at].map_or("-".to_owned(), less));
            }
            cells
        };
        let rows: Vec<_> = all.iter().enumerate().map(row).collect();
        let heads = ["what", "whose", threads, "ratio to its own", "instructions"];
        print_table(if alone { &heads } else { &heads[..4] }, &rows);
        println!();
    }
    println!(
        "ns of CPU time a call and thread: median (least to greatest) over the rounds. {MARK}"
    );
    println!("Instructions: of a call, by callgrind, on windrow's portable strategy.");
}

fn main() -> Result<(), lexopt::Error> {
    cores(); // before any thread is kept to one
    match asked()? {
        Asked::Tables { quick } => tables(quick),
        Asked::Once { index, calls } => {
            let mut all = contenders();
            all.push(Contender::new(NOTHING, OWN, Call(|| ())));
            let Contender { rival, .. } = &all[index];
            rival.add_many(WARM_UP);
            rival.add_many(calls);
        }
    }
    Ok(())
}

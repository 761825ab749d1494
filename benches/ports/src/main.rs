//! Programs before and after: tower's retry budget on a window of windrow's, stretto's metrics,
//! prometheus' integer counters, tokio-metrics' sums and pingora-limits' estimates on its counters,
//! governor's limiters on its pace. `cargo xtask compare ports`; `--quick` for fewer rounds,
//! `--only tower` for one crate.
//!
//! Both copies of a crate are in this process and take turns, round by round; ratios are taken
//! within a round.

mod budget;
mod cache;
mod contender;
mod counts;
mod limits;
mod polls;
mod rates;

use std::env;
use std::process::{Command, Stdio};

use contender::{Call, Contender, OWN};
use lexopt::Arg::Long;
use lexopt::{Parser, ValueExt};
use windrow_benches::harness::{WARM_UP, cores, spend_on_adds};
use windrow_benches::lab::stats::{MARK, Sample, Spread};
use windrow_benches::terminal::{print_table, processor};

/// The time of an empty loop, which is not part of a call.
const NOTHING: &str = "an empty loop";

/// Returns those whose names begin with `only`.
fn contenders(only: &str) -> Vec<Contender> {
    let mut all = budget::contenders();
    all.extend(cache::contenders());
    all.extend(counts::contenders());
    all.extend(limits::contenders());
    all.extend(polls::contenders());
    all.extend(rates::contenders());
    all.retain(|contender| contender.what.starts_with(only));
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
fn instructions(only: &str, index: usize, calls: u64) -> Option<f64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"]);
    command.arg("--toggle-collect=*add_many*").arg(env::current_exe().ok()?);
    command.args(["--once", &index.to_string(), "--calls", &calls.to_string()]);
    command.args(["--only", only]);
    let output = command.stdout(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|line| line.split_once("Collected : "))?;
    let counted: f64 = collected.1.split_whitespace().next()?.parse().ok()?;
    output.status.success().then(|| counted / (calls + WARM_UP) as f64)
}

/// The parsed command line.
struct Asked {
    /// Fewer rounds.
    quick: bool,
    /// The beginning of the names that are meant.
    only: String,
    /// The one of them that is called, to be counted, and not measured.
    once: Option<usize>,
    /// The number of those calls.
    calls: u64,
}

fn asked() -> Result<Asked, lexopt::Error> {
    let (mut quick, mut only, mut once, mut calls) = (false, String::new(), None, 0);
    let mut arguments = Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("quick") => quick = true,
            Long("only") => only = arguments.value()?.parse()?,
            Long("once") => once = Some(arguments.value()?.parse()?),
            Long("calls") => calls = arguments.value()?.parse()?,
            other => return Err(other.unexpected()),
        }
    }
    Ok(Asked { quick, only, once, calls })
}

fn tables(quick: bool, only: &str) {
    let all = contenders(only);
    let effort = Effort { calls: 20_000, rounds: if quick { 9 } else { 61 } };
    let by_threads = [1, cores()].map(|threads| measure(&all, threads, &effort));
    let counted: Vec<_> = (0..=all.len()).map(|index| instructions(only, index, 10_000)).collect();
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
    let Asked { quick, only, once, calls } = asked()?;
    match once {
        None => tables(quick, &only),
        Some(index) => {
            let mut all = contenders(&only);
            all.push(Contender::new(NOTHING, OWN, Call(|| ())));
            let Contender { rival, .. } = &all[index];
            rival.add_many(WARM_UP);
            rival.add_many(calls);
        }
    }
    Ok(())
}

//! Measures heavy keys: which are found, the errors of their weights, bytes, and the time of an
//! add, beside other ways to find the keys with the most weight.
//!
//! `cargo run --release -p windrow-benches --features heavy --bin heavy -- [--held] [FILE]`. The
//! streams are an access log that is shipped, the clients of the log in a file, if one is named,
//! and a million keys: of Zipf's distribution with several exponents, also with shifts, equally
//! likely, new ones with a heavy key among them, and in an order that is meant to evict. All
//! contenders run in turn, round by round; a figure of a time is the median of the rounds. Adds of
//! held keys are compared with those to a `HashMap` under a mutex; `--held` does only this.

mod accuracy;
mod finds;
mod held;
mod locked;
mod log;
mod rivals;
mod streams;
mod time;

use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::Arg::{Long, Value};
use lexopt::Parser;
use rivals::ALL;
use streams::Stream;
use time::time;
use windrow_benches::harness::cores;
use windrow_benches::lab::stats::Spread;
use windrow_benches::terminal::{print_caption, print_table};

const ROUNDS: usize = 9;

/// The options.
#[derive(Default)]
struct Asked {
    /// Held keys, and nothing else.
    held: bool,
    log: Option<PathBuf>,
}

fn asked() -> Result<Asked, lexopt::Error> {
    let mut asked = Asked::default();
    let mut arguments = Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("held") => asked.held = true,
            Value(path) if asked.log.is_none() => asked.log = Some(path.into()),
            other => return Err(other.unexpected()),
        }
    }
    Ok(asked)
}

/// Returns the streams of logs, and all others.
fn streams(log: Option<&PathBuf>) -> Result<Vec<Stream>, String> {
    let logs = [log::paths()].into_iter().chain(log.map(|path| log::clients(path)));
    let mut streams = logs.collect::<Result<Vec<_>, _>>()?;
    streams.extend(streams::all());
    Ok(streams)
}

fn main() -> ExitCode {
    let asked = asked().map_err(|error| error.to_string());
    let streams = asked.and_then(|asked| Ok((asked.held, streams(asked.log.as_ref())?)));
    let (held, streams) = match streams {
        Ok(streams) => streams,
        Err(wrong) => {
            eprintln!("heavy: {wrong}");
            return ExitCode::from(2);
        }
    };
    print_caption("heavy");
    let threads = if cores() > 1 { vec![1, cores()] } else { vec![1] };
    for threads in &threads {
        println!("\nCPU time of an add of a held key, in nanoseconds, on {threads} threads:\n");
        held::print(*threads);
    }
    if held {
        return ExitCode::SUCCESS;
    }
    println!("\nKeys with more than total / capacity, and the greatest error in parts of that:\n");
    accuracy::print(&streams);
    accuracy::HEAP.stop(true);
    for threads in threads {
        println!("\nCPU time of an add, in nanoseconds, on {threads} threads:\n");
        print_times(&streams, threads);
    }
    ExitCode::SUCCESS
}

/// Prints the medians of the times of all contenders.
fn print_times(streams: &[Stream], threads: usize) {
    let heads: Vec<&str> = ["stream"].into_iter().chain(ALL.map(|(name, _)| name)).collect();
    let mut rows = Vec::new();
    for Stream { name, keys } in streams {
        let mut times = vec![Vec::new(); ALL.len()];
        for round in 0..ROUNDS {
            eprint!("{name}: round {} of {ROUNDS}\r", round + 1);
            for ((_, make), times) in ALL.iter().zip(&mut times) {
                let finds = make();
                times.push(time(&*finds, keys, threads));
            }
        }
        let median = |times: &Vec<f64>| Spread::of(times.iter().copied()).show_median();
        rows.push([(*name).to_owned()].into_iter().chain(times.iter().map(median)).collect());
    }
    eprint!("{:40}\r", "");
    print_table(&heads, &rows);
}

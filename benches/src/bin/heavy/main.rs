//! Measures heavy keys: which are found, the errors of their weights, bytes, and the time of an
//! add, beside other ways to find the keys with the most weight.
//!
//! `cargo run --release -p windrow-benches --features heavy --bin heavy -- [--held | FILE]`. The
//! streams are an access log that is shipped, the clients of the log in a file, if one is named,
//! and a million keys: of Zipf's distribution with several exponents, also with shifts, equally
//! likely, new ones with a heavy key among them, and in an order that is meant to evict. Adds of
//! held keys are compared with those to a `HashMap` under a mutex, which has no window, no bound of
//! its memory, and std's hasher: what a program would write by itself. `--held` does only this.

mod accuracy;
mod finds;
mod locked;
mod log;
mod rivals;
mod streams;

use std::path::Path;
use std::process::ExitCode;

use finds::Finds;
use rivals::{ALL, HELD, Make};
use streams::Stream;
use windrow_benches::harness::{at_once, cores};
use windrow_benches::lab::entries::{Entry, measure, print_rows};
use windrow_benches::lab::stats::Sample;
use windrow_benches::terminal::print_caption;

/// Returns the nanoseconds of CPU time of an add, the mean over the threads.
fn time(finds: &dyn Finds, keys: &[u64], threads: usize) -> Sample {
    let part = keys.len() / threads;
    let work = |thread: usize| finds.add_all(&keys[thread * part..][..part]);
    at_once(threads, &|_| finds.add_all(&keys[..64]), &work).each(part as u64)
}

/// Measures adds of each stream to each contender, made anew.
fn adds<'s>(
    streams: &'s [Stream],
    rounds: usize,
    threads: usize,
    makers: &[Make],
) -> Vec<Entry<'s>> {
    let entry = |Stream { name, keys }: &'s Stream| {
        makers.iter().fold(Entry::new(*name), |entry, &make| {
            entry.column(move || time(&*make(), keys, threads))
        })
    };
    let mut entries: Vec<_> = streams.iter().map(entry).collect();
    measure("adds", rounds, &mut entries);
    entries
}

/// Returns the streams of logs, and all others.
fn streams(log: Option<&str>) -> Result<Vec<Stream>, String> {
    let mut streams = vec![log::paths()?];
    if let Some(path) = log {
        streams.push(log::clients(Path::new(path))?);
    }
    streams.extend(streams::all());
    Ok(streams)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let streams = match &*arguments {
        [] => streams(None),
        [held] if held == "--held" => Ok(Vec::new()),
        [path] => streams(Some(path)),
        _ => Err("the arguments are `--held`, or a file".to_owned()),
    };
    let streams = match streams {
        Ok(streams) => streams,
        Err(wrong) => {
            eprintln!("heavy: {wrong}");
            return ExitCode::from(2);
        }
    };
    print_caption("heavy");
    let held = streams::held();
    let threads = if cores() > 1 { vec![1, cores()] } else { vec![1] };
    for threads in &threads {
        println!("\nCPU time of an add of a held key, in nanoseconds, on {threads} threads:\n");
        let heads = ["stream", "HashMap, locked", "windrow", "ratio", "on a ticker", "ratio"];
        print_rows(&heads, &adds(&held, 31, *threads, &HELD), |stream| {
            let cost = |at| stream.cost(at).show_median();
            let ratio = |at| stream.ratio(at, stream, 0).show();
            vec![cost(0), cost(1), ratio(1), cost(2), ratio(2)]
        });
    }
    if streams.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("\nKeys with more than total / capacity, and the greatest error in parts of that:\n");
    accuracy::print(&streams);
    accuracy::HEAP.stop(true);
    let heads: Vec<&str> = ["stream"].into_iter().chain(ALL.map(|(name, _)| name)).collect();
    for threads in threads {
        println!("\nCPU time of an add, in nanoseconds, on {threads} threads:\n");
        print_rows(&heads, &adds(&streams, 9, threads, &ALL.map(|(_, make)| make)), |stream| {
            (0..ALL.len()).map(|at| stream.cost(at).show_median()).collect()
        });
    }
    ExitCode::SUCCESS
}

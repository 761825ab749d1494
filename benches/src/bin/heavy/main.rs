//! Measures heavy keys: an add, and the difference of bounds, beside other ways to find the keys
//! with the most weight.
//!
//! `cargo run --release -p windrow-benches --bin heavy`. The streams are a million keys: of Zipf's
//! distribution with several exponents, equally likely, new ones with a heavy key among them, and
//! in an order that is meant to evict. All contenders run in turn, round by round; a figure is the
//! median of the rounds.

mod rivals;
mod streams;

use std::collections::HashMap;

use rivals::{ALL, Finds};
use streams::Stream;
use windrow_benches::harness::{at_once, cores};
use windrow_benches::terminal::{print_caption, print_table};

const ROUNDS: usize = 9;

fn main() {
    print_caption("heavy");
    let streams = streams::all();
    println!(
        "\nHow far the bounds are apart, in parts of total / capacity, and the heaviest found:\n"
    );
    print_errors(&streams);
    for threads in if cores() > 1 { vec![1, cores()] } else { vec![1] } {
        println!("\nCPU time of an add, in nanoseconds, on {threads} threads:\n");
        print_times(&streams, threads);
    }
}

/// Prints the greatest error and the recall of the heaviest keys.
fn print_errors(streams: &[Stream]) {
    let heads = ["stream", "contender", "greatest error", "of the 20 heaviest", "keys held"];
    let mut rows = Vec::new();
    for Stream { name, keys } in streams {
        let mut truth: HashMap<u64, u64> = HashMap::new();
        for key in keys {
            *truth.entry(*key).or_default() += 1;
        }
        let mut weights: Vec<u64> = truth.values().copied().collect();
        weights.sort_unstable_by(|one, other| other.cmp(one));
        let twentieth = weights[19.min(weights.len() - 1)];
        for (contender, make) in ALL {
            let finds = make();
            finds.add_all(keys);
            let found = finds.found();
            for (key, [least, most]) in &found {
                assert!((least..=most).contains(&&truth[key]), "{contender} breaks a bound");
            }
            // Of an estimate, the true weight stands for the lower bound.
            let above = |(key, weight): (&u64, &u64)| Some(finds.estimate(*key)? - weight);
            let of_estimates = truth.iter().filter_map(above).max();
            let of_found = found.iter().map(|(_, [least, most])| most - least).max();
            let error = of_estimates.or(of_found).unwrap_or(0);
            let part = error as f64 * rivals::CAPACITY as f64 / keys.len() as f64;
            let hits = found.iter().take(20).filter(|(key, _)| truth[key] >= twentieth).count();
            rows.push(vec![
                (*name).to_owned(),
                contender.to_owned(),
                format!("{part:.2}"),
                of_estimates.map_or(hits.to_string(), |_| "-".to_owned()),
                found.len().to_string(),
            ]);
        }
    }
    print_table(&heads, &rows);
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
        let median = |times: &mut Vec<f64>| {
            times.sort_unstable_by(f64::total_cmp);
            format!("{:.0}", times[ROUNDS / 2])
        };
        rows.push([(*name).to_owned()].into_iter().chain(times.iter_mut().map(median)).collect());
    }
    eprint!("{:40}\r", "");
    print_table(&heads, &rows);
}

/// Returns the nanoseconds of CPU time of an add, the mean over the threads.
fn time(finds: &dyn Finds, keys: &[u64], threads: usize) -> f64 {
    let part = keys.len() / threads;
    let work = |thread: usize| finds.add_all(&keys[thread * part..][..part]);
    let before = |_| finds.add_all(&keys[..64]);
    let spent = windrow_benches::harness::Spent::of(&at_once(threads, &before, &work));
    spent.cpu.as_nanos() as f64 / part as f64
}

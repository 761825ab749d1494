//! `gates [--rounds N] [--seconds N]`: the cost of a decision, and the excess of each limiter over
//! its limit: windrow's gate, governor, tower's budget and rate limit, a lock around a ring, a
//! window that is asked before it is added to; with the feature `sentinel`, sentinel-core's flow
//! rule.
//!
//! `gates keyed [--rounds N]`: what a key takes, and what a decision costs, where each key has a
//! limiter.
//!
//! `gates replay FILE [--limit N] [--interval SECONDS] [--buckets N] [--by-client]`: an access log
//! through those whose time can be driven.

mod keyed;
mod opening;
mod overshoot;
mod replay;
mod speed;

use std::path::PathBuf;
use std::time::Duration;

use lexopt::Arg::{Long, Value};
use lexopt::{Parser, ValueExt};
use windrow::diagnostics::strategy;
use windrow_benches::heap::Counting;
use windrow_benches::lab::stats::MARK;
use windrow_benches::limits::Terms;
use windrow_benches::terminal::print_caption;

#[global_allocator]
static HEAP: Counting = Counting::new();

/// The parsed arguments.
enum Asked {
    Tables { rounds: usize, length: Duration },
    Keyed { rounds: usize },
    Replay { log: PathBuf, terms: Terms, by_client: bool },
}

fn asked() -> Result<Asked, lexopt::Error> {
    let (mut rounds, mut length, mut by_client) = (15, Duration::from_secs(2), false);
    let mut terms = Terms { limit: 10, interval: Duration::from_secs(1), buckets: 10 };
    let mut words: Vec<PathBuf> = Vec::new();
    let mut arguments = Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("rounds") => rounds = arguments.value()?.parse()?,
            Long("seconds") => length = Duration::from_secs(arguments.value()?.parse()?),
            Long("limit") => terms.limit = arguments.value()?.parse()?,
            Long("interval") => terms.interval = Duration::from_secs(arguments.value()?.parse()?),
            Long("buckets") => terms.buckets = arguments.value()?.parse()?,
            Long("by-client") => by_client = true,
            Value(word) => words.push(word.into()),
            other => return Err(other.unexpected()),
        }
    }
    let sound = rounds > 0 && !length.is_zero() && terms.limit > 0 && terms.buckets > 0;
    if !sound || terms.interval.is_zero() {
        return Err("a number must be above 0".into());
    }
    match &*words {
        [] => Ok(Asked::Tables { rounds, length }),
        [word] if word.as_os_str() == "keyed" => Ok(Asked::Keyed { rounds }),
        [word, log] if word.as_os_str() == "replay" => {
            Ok(Asked::Replay { log: log.clone(), terms, by_client })
        }
        _ => Err("there is `gates`, `gates keyed`, and `gates replay FILE`".into()),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let asked = asked()?;
    print_caption("gates");
    match asked {
        Asked::Replay { log, terms, by_client } => replay::run(&log, terms, by_client)?,
        Asked::Keyed { rounds } => {
            keyed::run(&HEAP, rounds);
            println!("{MARK}");
        }
        Asked::Tables { rounds, length } => {
            HEAP.stop(true);
            println!("windrow is {:?}\n", strategy());
            speed::run(rounds);
            println!("{MARK}\n");
            opening::run(rounds);
            println!();
            overshoot::run(length);
        }
    }
    Ok(())
}

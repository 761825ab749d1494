//! `gates [--rounds N] [--seconds N]`: the cost of a decision, and the excess of each limiter over
//! its limit: windrow's gate, governor, a lock around a ring, a
//! window that is asked before it is added to; with the feature `sentinel`, sentinel-core's flow
//! rule.
//!
//! `gates keyed [--rounds N]`: what a key takes, and what a decision costs, where each key has a
//! limiter.

mod keyed;
mod opening;
mod overshoot;
mod speed;

use std::time::Duration;

use lexopt::Arg::{Long, Value};
use lexopt::{Parser, ValueExt};
use windrow::diagnostics::strategy;
use windrow_benches::heap::Counting;
use windrow_benches::lab::stats::MARK;
use windrow_benches::terminal::print_caption;

#[global_allocator]
static HEAP: Counting = Counting::new();

/// The parsed arguments.
enum Asked {
    Tables { rounds: usize, length: Duration },
    Keyed { rounds: usize },
}

fn asked() -> Result<Asked, lexopt::Error> {
    let (mut rounds, mut length, mut is_keyed) = (15, Duration::from_secs(2), false);
    let mut arguments = Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("rounds") => rounds = arguments.value()?.parse()?,
            Long("seconds") => length = Duration::from_secs(arguments.value()?.parse()?),
            Value(word) if word == "keyed" => is_keyed = true,
            other => return Err(other.unexpected()),
        }
    }
    if rounds == 0 || length.is_zero() {
        return Err("a number must be above 0".into());
    }
    Ok(if is_keyed { Asked::Keyed { rounds } } else { Asked::Tables { rounds, length } })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let asked = asked()?;
    print_caption("gates");
    match asked {
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

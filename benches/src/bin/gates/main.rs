//! `gates [--rounds N] [--seconds N]`: the cost of a decision, and the excess of each limiter over
//! its limit: windrow's gate, governor, a lock around a ring, a window that is asked before it is
//! added to; with the feature `sentinel`, sentinel-core's flow rule.

mod opening;
mod overshoot;
mod speed;

use std::time::Duration;

use lexopt::Arg::Long;
use lexopt::{Parser, ValueExt};
use windrow::diagnostics::strategy;
use windrow_benches::lab::stats::MARK;
use windrow_benches::terminal::print_caption;

/// Returns the number of rounds, and the time in which each limiter is asked for too much.
fn asked() -> Result<(usize, Duration), lexopt::Error> {
    let (mut rounds, mut length) = (15, Duration::from_secs(2));
    let mut arguments = Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("rounds") => rounds = arguments.value()?.parse()?,
            Long("seconds") => length = Duration::from_secs(arguments.value()?.parse()?),
            other => return Err(other.unexpected()),
        }
    }
    if rounds == 0 || length.is_zero() {
        return Err("a number must be above 0".into());
    }
    Ok((rounds, length))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (rounds, length) = asked()?;
    print_caption("gates");
    println!("windrow is {:?}\n", strategy());
    speed::run(rounds);
    println!("{MARK}\n");
    opening::run(rounds);
    println!();
    overshoot::run(length);
    Ok(())
}

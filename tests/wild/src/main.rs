//! Runs everything once, and ends with an error if a total is not exact.

use std::process::ExitCode;

use windrow_wild::{Loss, run};

/// The number of adds of a thread, without an argument.
const TIMES: u64 = 2_000;

fn main() -> ExitCode {
    let times = std::env::args().nth(1).and_then(|times| times.parse().ok()).unwrap_or(TIMES);
    match Loss::from_environment().and_then(|loss| run(times, loss)) {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            println!("NOT EXACT: {why}");
            ExitCode::FAILURE
        }
    }
}

//! Everything at once, for minutes: exact at every rest, and no more memory, descriptors and
//! threads in the end than after the warm-up. The exit status is 1 if not.

use std::process::ExitCode;

use lexopt::Arg::Long;
use lexopt::{Parser, ValueExt};

#[cfg(target_os = "linux")]
fn soak(minutes: f64) -> Result<(), String> {
    windrow_litmus::soak::run(std::time::Duration::from_secs_f64(minutes * 60.0))
}

#[cfg(not(target_os = "linux"))]
fn soak(_: f64) -> Result<(), String> {
    Err("the figures of a process are read from /proc, which only Linux has".to_owned())
}

/// Parses the arguments: the number of minutes.
fn minutes() -> Result<f64, lexopt::Error> {
    let mut arguments = Parser::from_env();
    let mut minutes = 1.0;
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("minutes") => minutes = arguments.value()?.parse()?,
            other => return Err(other.unexpected()),
        }
    }
    Ok(minutes)
}

fn main() -> ExitCode {
    windrow_litmus::end_on_panic();
    let outcome = match minutes() {
        Ok(minutes) if (0.1..1e6).contains(&minutes) => soak(minutes),
        _ => {
            eprintln!("usage: soak [--minutes N], N at least 0.1; 1 unless said");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(wrong) => {
            eprintln!("soak: {wrong}");
            ExitCode::FAILURE
        }
    }
}

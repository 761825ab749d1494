//! `windrow-top ADDRESS`, `windrow-top FILE`: the first screen of a console, or the counters of a
//! mapped file, in a terminal.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    match windrow_top::run(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("windrow-top: {error}");
            ExitCode::from(error.status())
        }
    }
}

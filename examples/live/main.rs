//! A live service under real load, and a window that loses nothing of it.
//!
//! Starts an HTTP service on loopback, sends it real requests from concurrent clients, counts every
//! one into a single [`windrow::SlidingWindow`] and redraws once a second what the window says. At
//! the end it puts what the service itself counted beside what the window counted.
//!
//! ```text
//! cargo run --release --example live
//! cargo run --release --example live -- --hammer --seconds 3
//! cargo run --release --example live -- --help
//! ```
//!
//! It exits with 1 when the two counts differ, and with 2 when the arguments are at fault.

use std::process::ExitCode;

#[path = "../common/arguments.rs"]
mod arguments;
mod client;
mod display;
mod hammer;
#[path = "../common/numbers.rs"]
mod numbers;
mod options;
mod run;
mod service;
mod verdict;

use lexopt::Parser;
use options::Parsed;

fn main() -> ExitCode {
    let options = match options::parse(Parser::from_env()) {
        Ok(Parsed::Run(options)) => options,
        Ok(Parsed::Help) => {
            print!("{}", options::USAGE);
            return ExitCode::SUCCESS;
        }
        Err(error) => return arguments::refuse("live", &error.to_string()),
    };
    let rows = if options.hammer {
        hammer::run(&options)
    } else {
        let listener = match service::listen(options.port) {
            Ok(listener) => listener,
            Err(message) => return arguments::refuse("live", &message),
        };
        match run::run(&options, listener) {
            Ok(rows) => rows,
            Err(error) => {
                eprintln!("live: the run broke off: {error}");
                return ExitCode::FAILURE;
            }
        }
    };
    verdict::give(&rows)
}

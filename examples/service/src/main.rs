#![doc = include_str!("../README.md")]

use std::process::ExitCode;

mod app;
#[path = "../../common/arguments.rs"]
mod arguments;
mod book;
mod client;
mod counts;
mod display;
mod hammer;
mod listen;
mod load;
#[path = "../../common/numbers.rs"]
mod numbers;
mod options;
mod run;
mod server;
mod shop;
mod stop;
mod verdict;

use lexopt::Parser;
use options::Parsed;

const NAME: &str = "windrow-service";

fn main() -> ExitCode {
    let rows = match options::parse(Parser::from_env()) {
        Ok(Parsed::Run(options)) => {
            let listener = match listen::on(options.port) {
                Ok(listener) => listener,
                Err(message) => return arguments::refuse(NAME, &message),
            };
            match run::run(&options, listener) {
                Ok(rows) => rows,
                Err(error) => {
                    eprintln!("{NAME}: the run broke off: {error}");
                    return ExitCode::FAILURE;
                }
            }
        }
        Ok(Parsed::Hammer(how)) => hammer::run(&how),
        Ok(Parsed::Help) => {
            print!("{}", options::USAGE);
            return ExitCode::SUCCESS;
        }
        Err(error) => return arguments::refuse(NAME, &error.to_string()),
    };
    verdict::give(&rows)
}

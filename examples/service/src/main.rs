#![doc = include_str!("../README.md")]

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

// The service.
mod app;
mod body;
mod counts;
mod health;
mod shared;
mod shop;

// Settings, and the log.
mod log;
mod options;
mod settings;

// Connections, from the first to the last.
mod listen;
mod patience;
mod server;
mod stop;
mod streams;

// Its load, and the books.
#[path = "../../common/arguments.rs"]
mod arguments;
mod book;
mod display;
mod hammer;
mod load;
#[path = "../../common/numbers.rs"]
mod numbers;
mod run;
mod verdict;

use lexopt::Parser;
use options::Parsed;

const NAME: &str = "windrow-service";

/// Returns the variables of the environment. (One that is not in Unicode breaks the rule of each
/// setting.)
fn environment() -> impl Iterator<Item = (String, String)> {
    let text = |text: OsString| text.to_string_lossy().into_owned();
    env::vars_os().map(move |(name, value)| (text(name), text(value)))
}

fn main() -> ExitCode {
    let (rows, export) = match options::parse(Parser::from_env(), environment()) {
        Ok(Parsed::Run(options)) => {
            log::begin(options.log_level());
            let listener = match listen::on(options.settings.listen) {
                Ok(listener) => listener,
                // Not 2, as of settings that are refused: another attempt may succeed.
                Err(error) => {
                    eprintln!("{NAME}: {error}");
                    return ExitCode::FAILURE;
                }
            };
            match run::run(&options, listener) {
                Ok(end) => (end.rows, end.export),
                Err(error) => {
                    eprintln!("{NAME}: the run broke off: {error}");
                    return ExitCode::FAILURE;
                }
            }
        }
        Ok(Parsed::Hammer(how)) => (hammer::run(&how), Ok(())),
        Ok(Parsed::Help) => {
            display::say(options::USAGE);
            return ExitCode::SUCCESS;
        }
        Err(error) => return arguments::refuse(NAME, &error.to_string()),
    };
    let verdict = verdict::give(&rows);
    if let Err(error) = export {
        eprintln!("{NAME}: the last export was not written: {error}");
        return ExitCode::FAILURE;
    }
    verdict
}

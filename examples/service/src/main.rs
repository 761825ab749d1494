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
mod load;
#[path = "../../common/numbers.rs"]
mod numbers;
mod run;
mod verdict;

use lexopt::Parser;

const NAME: &str = "windrow-service";

/// Returns the variables of the environment. (One that is not in Unicode breaks the rule of each
/// setting.)
fn environment() -> impl Iterator<Item = (String, String)> {
    let text = |text: OsString| text.to_string_lossy().into_owned();
    env::vars_os().map(move |(name, value)| (text(name), text(value)))
}

fn main() -> ExitCode {
    let options = match options::parse(Parser::from_env(), environment()) {
        Ok(Some(options)) => options,
        Ok(None) => {
            display::say(options::USAGE);
            return ExitCode::SUCCESS;
        }
        Err(error) => return arguments::refuse(NAME, &error.to_string()),
    };
    log::begin(options.log_level());
    let listener = listen::on(options.settings.listen);
    let end = match listener.and_then(|listener| run::run(&options, listener)) {
        Ok(end) => end,
        // Not 2, as of settings that are refused: another attempt may succeed.
        Err(error) => {
            eprintln!("{NAME}: {error}");
            return ExitCode::FAILURE;
        }
    };
    let verdict = verdict::give(&end.rows);
    if let Err(error) = end.export {
        eprintln!("{NAME}: the last export was not written: {error}");
        return ExitCode::FAILURE;
    }
    verdict
}

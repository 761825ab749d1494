#![doc = include_str!("../README.md")]

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
mod server;
mod stop;
mod streams;

// Its load, and the books.
mod book;
mod display;
mod load;
mod run;
mod verdict;

use options::Options;

const NAME: &str = "windrow-service";

fn main() -> ExitCode {
    let options = Options::read();
    log::begin(options.log_level());
    let listener = listen::on(options.settings.listen);
    listener.and_then(|listener| run::run(&options, listener)).unwrap_or_else(|error| {
        eprintln!("{NAME}: {error}");
        ExitCode::FAILURE // not 2, as of settings that are refused: another attempt may succeed
    })
}

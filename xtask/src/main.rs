//! The project's own commands: `cargo xtask <command>`.
//!
//! `check` is for after an edit, `test` for before sending a change; with `ci` it is everything
//! that must pass before the change goes in. They need cargo, rustfmt and clippy and nothing else
//! (without valgrind, portable paths are not counted). `verify` takes longer. The others are their
//! parts. A command that needs more programs says so.

// Commands, and the suites of them.
mod copy;
mod steps;
mod suites;
mod tools;
mod workers;

// What each file must keep to.
mod arrows;
mod interface;
mod lines;
mod names;
mod paragraphs;
mod sources;
mod words;

// Tests.
mod beside;
mod library;
mod litmus;
mod strategies;
mod wild;

// Models.
mod models;
mod orderings;
mod twins;

// Machine code, weight, other systems.
mod assembly;
mod instructions;
#[cfg(unix)]
mod platforms;
mod portable;
mod weight;

// Figures and pictures.
mod compare;
mod integrations;
mod pictures;

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::Arg::{Long, Short, Value};
use lexopt::{Parser, ValueExt};
use steps::{Failed, Steps};

/// The text of `cargo xtask help`.
const HELP: &str = include_str!("../help.txt");

fn main() -> ExitCode {
    let mut steps = Steps::begin(&root());
    let mut arguments = Parser::from_env();
    let outcome = match arguments.next() {
        Ok(Some(Value(command))) if command != "help" => {
            command.string().and_then(|name| run(&mut steps, &name, &mut arguments))
        }
        Ok(Some(Value(_) | Short('h') | Long("help"))) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Ok(Some(option)) => Err(option.unexpected()),
        Ok(None) => Err("no command".into()),
        Err(error) => Err(error),
    };
    match outcome {
        Ok(outcome) => steps.summarise(&outcome),
        Err(misuse) => {
            eprintln!("xtask: {misuse}; `cargo xtask help` lists the commands");
            ExitCode::from(2)
        }
    }
}

/// Runs a command. Returns its outcome, or the error of a call that misuses it.
fn run(
    steps: &mut Steps,
    command: &str,
    arguments: &mut Parser,
) -> Result<Result<(), Failed>, lexopt::Error> {
    if command == "compare" {
        return Ok(compare::run(steps, arguments.raw_args()?.collect()));
    }
    let option = match command {
        "orderings" => "check",
        "instructions" => "write",
        "browser" => "screenshots",
        "cluster" => "keep",
        _ => "",
    };
    let Rest { word, option } = Rest::read(arguments, option)?;
    Ok(match command {
        // With a name, or the beginning of a path.
        "models" => models::run(steps, &word),
        "twins" => twins::run(steps, &word),
        "orderings" if !option => orderings::run(steps, &word),
        "words" => words::run(steps, &word),
        #[cfg(unix)]
        "elsewhere" => platforms::run(steps, &word),
        // With a number.
        "shuttle" => models::shuttle(steps, number(&word, 1_000)?),
        "torture" => suites::torture(steps, number(&word, 60)?),
        "soak" => litmus::soak(steps, number(&word, 10)?),
        "weight" => weight::run(steps, number(&word, 1)?),
        // Alone, or with an option.
        _ if !word.is_empty() => return Err(Value(word.into()).unexpected()),
        "check" => suites::check(steps),
        "test" => suites::test(steps),
        "ci" => suites::ci(steps),
        "verify" => suites::verify(steps),
        "orderings" => orderings::check(steps),
        "portable" => portable::run(steps),
        "static" => portable::linked_statically(steps),
        "wild" => wild::run(steps),
        "arrows" => arrows::run(steps),
        "names" => names::run(steps),
        "interface" => interface::run(steps),
        "browser" if option => beside::screenshots(steps),
        "browser" => beside::browser(steps),
        "cluster" => beside::cluster(steps, option),
        "dependencies" => integrations::dependencies(steps),
        "pictures" => pictures::run(steps),
        "assembly" => assembly::run(steps).map(drop),
        "instructions" => instructions::run(steps, option),
        _ => return Err(format!("there is no command `{command}`").into()),
    })
}

/// The arguments of a command: one word at most, and the option that it knows.
struct Rest {
    word: String,
    option: bool,
}

impl Rest {
    fn read(arguments: &mut Parser, option: &str) -> Result<Rest, lexopt::Error> {
        let mut rest = Rest { word: String::new(), option: false };
        while let Some(argument) = arguments.next()? {
            match argument {
                Long(name) if name == option => rest.option = true,
                Value(word) if rest.word.is_empty() => rest.word = word.string()?,
                other => return Err(other.unexpected()),
            }
        }
        Ok(rest)
    }
}

/// Reads a whole number above 0. Without a word, it is the `usual` one.
fn number(word: &str, usual: u64) -> Result<u64, lexopt::Error> {
    if word.is_empty() {
        return Ok(usual);
    }
    let number: Result<NonZeroU64, _> = word.parse();
    number.map(NonZeroU64::get).map_err(|error| format!("`{word}`: {error}").into())
}

/// The workspace's root.
fn root() -> PathBuf {
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    package.parent().map_or(package.clone(), PathBuf::from)
}

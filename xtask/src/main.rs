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

use std::env;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::process::ExitCode;

use steps::{Failed, Steps};

/// The text of `cargo xtask help`.
const HELP: &str = include_str!("../help.txt");

fn main() -> ExitCode {
    let mut steps = Steps::begin(&root());
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&mut steps, &arguments) {
        Ok(outcome) => steps.summarise(&outcome),
        Err(misuse) => {
            eprintln!("xtask: {misuse}; `cargo xtask help` lists the commands");
            ExitCode::from(2)
        }
    }
}

/// Runs a command, which has one word or option at most. Returns its outcome, or the error of a
/// call that misuses it.
fn run(steps: &mut Steps, arguments: &[&str]) -> Result<Result<(), Failed>, String> {
    let (command, word) = match arguments {
        ["compare", passed_on @ ..] => return Ok(compare::run(steps, passed_on)),
        [command] => (*command, ""),
        [command, word] => (*command, *word),
        [] => return Err("no command".to_owned()),
        [.., last] => return Err(format!("unexpected argument `{last}`")),
    };
    Ok(match (command, word) {
        ("help" | "-h" | "--help", "") => {
            print!("{HELP}");
            std::process::exit(0);
        }
        // With an option.
        ("orderings", "--check") => orderings::check(steps),
        ("instructions", "--write") => instructions::run(steps, true),
        ("browser", "--screenshots") => beside::screenshots(steps),
        ("cluster", "--keep") => beside::cluster(steps, true),
        (_, option) if option.starts_with('-') => {
            return Err(format!("`{command}` has no option `{option}`"));
        }
        // With a name, or the beginning of a path.
        ("models", name) => models::run(steps, name),
        ("twins", name) => twins::run(steps, name),
        ("orderings", names) => orderings::run(steps, names),
        ("words", path) => words::run(steps, path),
        #[cfg(unix)]
        ("elsewhere", name) => platforms::run(steps, name),
        // With a number.
        ("shuttle", schedules) => models::shuttle(steps, number(schedules, 1_000)?),
        ("torture", seconds) => suites::torture(steps, number(seconds, 60)?),
        ("soak", minutes) => litmus::soak(steps, number(minutes, 10)?),
        ("weight", rounds) => weight::run(steps, number(rounds, 1)?),
        // Alone.
        ("check", "") => suites::check(steps),
        ("test", "") => suites::test(steps),
        ("ci", "") => suites::ci(steps),
        ("verify", "") => suites::verify(steps),
        ("portable", "") => portable::run(steps),
        ("static", "") => portable::linked_statically(steps),
        ("wild", "") => wild::run(steps),
        ("arrows", "") => arrows::run(steps),
        ("names", "") => names::run(steps),
        ("interface", "") => interface::run(steps),
        ("browser", "") => beside::browser(steps),
        ("cluster", "") => beside::cluster(steps, false),
        ("dependencies", "") => integrations::dependencies(steps),
        ("pictures", "") => pictures::run(steps),
        ("assembly", "") => assembly::run(steps).map(drop),
        ("instructions", "") => instructions::run(steps, false),
        _ => return Err(format!("there is no command `{}`", arguments.join(" "))),
    })
}

/// Reads a whole number above 0. Without a word, it is the `usual` one.
fn number(word: &str, usual: u64) -> Result<u64, String> {
    if word.is_empty() {
        return Ok(usual);
    }
    let number: Result<NonZeroU64, _> = word.parse();
    number.map(NonZeroU64::get).map_err(|error| format!("`{word}`: {error}"))
}

/// The workspace's root.
fn root() -> PathBuf {
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    package.parent().map_or(package.clone(), PathBuf::from)
}

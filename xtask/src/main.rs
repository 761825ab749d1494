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
mod before;
mod compare;
mod earlier;
mod integrations;
mod pictures;

use std::ffi::OsString;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::Arg::{Long, Short, Value};
use lexopt::{Parser, ValueExt};
use steps::{Failed, Steps};

/// The text of `cargo xtask help`.
const HELP: &str = include_str!("../help.txt");

type Suite = fn(&mut Steps) -> Result<(), Failed>;

/// The commands without arguments.
const SUITES: &[(&str, Suite)] = &[
    ("check", suites::check),
    ("test", suites::test),
    ("ci", suites::ci),
    ("verify", suites::verify),
    ("arrows", arrows::run),
    ("names", names::run),
    ("interface", interface::run),
    ("portable", portable::run),
    ("static", portable::linked_statically),
    ("wild", wild::run),
    ("pictures", pictures::run),
    ("dependencies", integrations::dependencies),
];

/// The error of a call.
enum Problem {
    Failed(Failed),
    /// The command was misused.
    Misused(lexopt::Error),
}

impl From<Failed> for Problem {
    fn from(failed: Failed) -> Problem {
        Problem::Failed(failed)
    }
}

impl From<lexopt::Error> for Problem {
    fn from(error: lexopt::Error) -> Problem {
        Problem::Misused(error)
    }
}

fn main() -> ExitCode {
    let mut steps = Steps::begin(&root());
    let mut arguments = Parser::from_env();
    let outcome = match arguments.next() {
        Ok(Some(Value(command))) if command != "help" => command
            .string()
            .map_err(Problem::from)
            .and_then(|name| run(&mut steps, &name, &mut arguments)),
        Ok(Some(Value(_) | Short('h') | Long("help"))) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Ok(Some(option)) => Err(option.unexpected().into()),
        Ok(None) => Err(lexopt::Error::from("no command").into()),
        Err(error) => Err(error.into()),
    };
    match outcome {
        Ok(()) => steps.summarise(&Ok(())),
        Err(Problem::Failed(failed)) => steps.summarise(&Err(failed)),
        Err(Problem::Misused(what)) => {
            eprintln!("xtask: {what}; `cargo xtask help` lists the commands");
            ExitCode::from(2)
        }
    }
}

fn run(steps: &mut Steps, command: &str, arguments: &mut Parser) -> Result<(), Problem> {
    if let Some((_, suite)) = SUITES.iter().find(|(name, _)| *name == command) {
        Rest::read(arguments, None)?.alone()?;
        return Ok(suite(steps)?);
    }
    if command == "compare" {
        let asked = compare::Asked::parse(arguments.raw_args()?).map_err(lexopt::Error::from)?;
        match asked {
            compare::Asked::Earlier { commit, program, passed_on } => {
                earlier::run(steps, &commit, &program, &passed_on)?;
            }
            compare::Asked::Lab { publish, passed_on } => {
                compare::run(steps, publish, passed_on)?;
            }
        }
        return Ok(());
    }
    if command == "weight" {
        let asked = weight::Asked::parse(arguments)?;
        return Ok(weight::run(steps, &asked)?);
    }
    let option = match command {
        "orderings" => Some("check"),
        "instructions" => Some("write"),
        "soak" => Some("minutes"),
        "browser" => Some("screenshots"),
        "cluster" => Some("keep"),
        _ => None,
    };
    let rest = Rest::read(arguments, option)?;
    match command {
        "models" => models::run(steps, &rest.word()?)?,
        "twins" => twins::run(steps, &rest.word()?)?,
        "orderings" if rest.option => {
            rest.alone()?;
            orderings::check(steps)?;
        }
        "orderings" => orderings::run(steps, &rest.word()?)?,
        #[cfg(unix)]
        "elsewhere" => platforms::run(steps, &rest.word()?)?,
        "shuttle" => models::shuttle(steps, rest.number()?)?,
        "torture" => suites::torture(steps, rest.number()?.unwrap_or(60))?,
        "soak" if rest.option && rest.word.is_none() => {
            return Err(lexopt::Error::from("--minutes lacks its number").into());
        }
        "soak" => litmus::soak(steps, rest.number()?.unwrap_or(10))?,
        "cluster" => beside::cluster(steps, rest.alone()?)?,
        "browser" if rest.alone()? => beside::screenshots(steps)?,
        "browser" => beside::browser(steps)?,
        "words" => words::run(steps, &rest.word()?)?,
        "assembly" => {
            rest.alone()?;
            assembly::run(steps)?;
        }
        "instructions" => instructions::run(steps, rest.alone()?)?,
        _ => return Err(lexopt::Error::from(format!("there is no command `{command}`")).into()),
    }
    Ok(())
}

/// The arguments of a command: one word at most, and the option that it knows.
struct Rest {
    word: Option<OsString>,
    option: bool,
}

impl Rest {
    fn read(arguments: &mut Parser, option: Option<&str>) -> Result<Rest, lexopt::Error> {
        let mut rest = Rest { word: None, option: false };
        while let Some(argument) = arguments.next()? {
            match argument {
                Long(name) if Some(name) == option => rest.option = true,
                Value(word) if rest.word.is_none() => rest.word = Some(word),
                other => return Err(other.unexpected()),
            }
        }
        Ok(rest)
    }

    /// Demands that there is no word, and returns whether the option is there.
    fn alone(&self) -> Result<bool, lexopt::Error> {
        match &self.word {
            Some(word) => Err(Value(word.clone()).unexpected()),
            None => Ok(self.option),
        }
    }

    fn word(self) -> Result<String, lexopt::Error> {
        self.word.unwrap_or_default().string()
    }

    /// A whole number above 0, if there is a word.
    fn number(self) -> Result<Option<u64>, lexopt::Error> {
        let number = |word: OsString| word.parse_with(|text| text.parse().map(NonZeroU64::get));
        self.word.map(number).transpose()
    }
}

/// The workspace's root.
fn root() -> PathBuf {
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    package.parent().map_or(package.clone(), PathBuf::from)
}

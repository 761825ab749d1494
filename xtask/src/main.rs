//! The project's own commands: `cargo xtask <command>`.
//!
//! `check` is for after an edit, `test` for before sending a change; with `ci` it is everything that must pass
//! before the change goes in. They need cargo, rustfmt and clippy and nothing else (without valgrind,
//! portable paths are not counted). `verify` is what takes longer. The others are their parts. What
//! needs more says so.

mod assembly;
mod compare;
mod copy;
mod fuzz;
mod instructions;
mod litmus;
mod models;
mod mutants;
mod orderings;
mod sanitizers;
mod steps;
mod suites;
mod twin;
mod twins;

use std::path::PathBuf;
use std::process::ExitCode;

use steps::{Failed, Steps};

const HELP: &str = "\
usage: cargo xtask <command>

  check           after each edit: format, lints, unit and contract tests
  test            before sending a change: also docs, all tests, machine code, a first round of models
  ci              before it goes in, after `test`: the other models, broken twins, the table of orders
  verify          before a release: all that takes longer: hours

  models [NAME]   the loom models, over both reclaimers and per core; NAME: only those whose path
                  begins with it
  twins [NAME]    the broken twins, each of which must be noticed; NAME: only those whose name
                  contains it
  orderings [NAME]
                  weakens each memory order, which a model must notice, and writes the table in
                  docs/orderings.md; NAME: only sites whose names contain it
  orderings --check
                  whether that table is about the sources as they are
  promela         the model of the rotation (spin and a C compiler)
  shuttle [SCHEDULES]
                  models and histories under shuttle, each in so many random orders

  torture [SECONDS]
                  counters and windows under everything that interrupts a thread (60)
  litmus [SECONDS]
                  the litmus programs, each for so long in each strategy (60)
  soak [--minutes N]
                  everything at once in each strategy, watching what the process holds (10)
  mutants [PATH]  small changes to src/PATH*, each of which a test must notice (cargo-mutants)
  sanitizers      AddressSanitizer and ThreadSanitizer (a nightly compiler), and valgrind
  fuzz [SECONDS]  histories from a fuzzer, so long per strategy (a nightly compiler, cargo-fuzz) (60)
  assembly        reads the machine code of the hot paths
  instructions    counts their instructions (valgrind), and compares with xtask/instructions.txt;
                  --write: writes that

  compare [PART]...
                  windrow and its rivals, side by side: tables, data and pictures in target/compare;
                  --quick: in a minute or two; --publish: into docs/performance.md as well;
                  PART: memory, speed, losses, sealed, rotation, latency, first, instructions
  help            this
";

/// Why a call came to nothing.
enum Problem {
    Failed(Failed),
    /// What is wrong with the command.
    Misused(String),
}

impl From<Failed> for Problem {
    fn from(failed: Failed) -> Problem {
        Problem::Failed(failed)
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if let ["help" | "-h" | "--help"] = arguments[..] {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let mut steps = Steps::begin(&root());
    match run(&mut steps, &arguments) {
        Ok(()) => steps.summarise(&Ok(())),
        Err(Problem::Failed(failed)) => steps.summarise(&Err(failed)),
        Err(Problem::Misused(what)) => {
            eprintln!("xtask: {what}; `cargo xtask help` lists the commands");
            ExitCode::from(2)
        }
    }
}

fn run(steps: &mut Steps, arguments: &[&str]) -> Result<(), Problem> {
    match *arguments {
        ["check"] => suites::check(steps)?,
        ["test"] => suites::test(steps)?,
        ["ci"] => suites::ci(steps)?,
        ["verify"] => suites::verify(steps)?,
        ["models"] => models::run(steps, "")?,
        ["models", name] => models::run(steps, name)?,
        ["twins"] => twin::run(steps, "")?,
        ["twins", name] => twin::run(steps, name)?,
        ["orderings"] => orderings::run(steps, "")?,
        ["orderings", "--check"] => orderings::check(steps)?,
        ["orderings", name] => orderings::run(steps, name)?,
        ["promela"] => suites::promela(steps)?,
        ["shuttle"] => models::shuttle(steps, None)?,
        ["shuttle", schedules] => models::shuttle(steps, Some(number(schedules)?))?,
        ["torture"] => suites::torture(steps, 60)?,
        ["torture", seconds] => suites::torture(steps, number(seconds)?)?,
        ["compare", ref what @ ..] => {
            compare::run(steps, &compare::Asked::parse(what).map_err(Problem::Misused)?)?;
        }
        ["litmus"] => litmus::run(steps, "60")?,
        ["litmus", seconds] => litmus::run(steps, seconds)?,
        ["soak"] => litmus::soak(steps, 10)?,
        ["soak", "--minutes", minutes] => litmus::soak(steps, number(minutes)?)?,
        ["mutants"] => mutants::run(steps, "")?,
        ["mutants", path] => mutants::run(steps, path)?,
        ["sanitizers"] => sanitizers::run(steps)?,
        ["fuzz"] => fuzz::run(steps, 60)?,
        ["fuzz", seconds] => fuzz::run(steps, number(seconds)?)?,
        ["assembly"] => _ = assembly::run(steps)?,
        ["instructions"] => instructions::run(steps, false)?,
        ["instructions", "--write"] => instructions::run(steps, true)?,
        [] => return Err(Problem::Misused("no command".to_owned())),
        [_, ..] => {
            let all = arguments.join(" ");
            return Err(Problem::Misused(format!("cannot make sense of `{all}`")));
        }
    }
    Ok(())
}

/// A whole number above 0.
fn number(text: &str) -> Result<u64, Problem> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(Problem::Misused(format!("`{text}` is no whole number above 0"))),
    }
}

/// The workspace's root.
fn root() -> PathBuf {
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    package.parent().map_or(package.clone(), PathBuf::from)
}

//! The project's own commands: `cargo xtask <command>`.
//!
//! `test` is everything that must pass before a change goes in; `models` and `twins` are two of its
//! parts alone. They need cargo, rustfmt and clippy, and nothing else.

mod assembly;
mod copy;
mod litmus;
mod models;
mod orderings;
mod steps;
mod twin;
mod twins;

use std::path::PathBuf;
use std::process::ExitCode;

use steps::{Failed, Steps};

const HELP: &str = "\
usage: cargo xtask <command>

  test            format, lints, docs, tests, models and broken twins: all that must pass
  models [NAME]   the loom models, over both reclaimers; NAME: only those whose path begins with it
  shuttle [SCHEDULES]
                  models and histories under shuttle, each in so many random orders
  twins [NAME]    the broken twins, each of which a model must kill; NAME: only those whose name
                  contains it
  orderings [NAME]
                  weakens each memory order, which a model must notice, and writes the table in
                  docs/orderings.md; NAME: only sites whose names contain it. Takes its time
  orderings --check
                  whether that table is about the sources as they are
  assembly        reads the machine code of a caller of Counter::add
  torture [SECONDS]
                  counters and windows under everything that interrupts a thread, for longer
  litmus [SECONDS]
                  the litmus programs, each for so long in each strategy (60)
  soak [--minutes N]
                  everything at once in each strategy, watching what the process holds (10)
  help            this
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut steps = Steps::begin(&root());
    let outcome = match arguments[..] {
        ["test"] => test(&mut steps),
        ["models"] => models::run(&mut steps, ""),
        ["models", name] => models::run(&mut steps, name),
        ["shuttle"] => models::shuttle(&mut steps, None),
        ["shuttle", schedules] => match schedules.parse::<usize>() {
            Ok(number) if number > 0 => models::shuttle(&mut steps, Some(schedules)),
            _ => return misused(&format!("`{schedules}` is no number of schedules above 0")),
        },
        ["twins"] => twin::run(&mut steps, ""),
        ["twins", name] => twin::run(&mut steps, name),
        ["orderings"] => orderings::run(&mut steps, ""),
        ["orderings", "--check"] => orderings::check(&mut steps),
        ["orderings", name] => orderings::run(&mut steps, name),
        ["assembly"] => assembly::run(&mut steps),
        ["torture"] => torture(&mut steps, 60),
        ["torture", seconds] => match seconds.parse() {
            Ok(seconds) if seconds > 0 => torture(&mut steps, seconds),
            _ => return misused(&format!("`{seconds}` is no number of seconds above 0")),
        },
        ["litmus"] => litmus::run(&mut steps, "60"),
        ["litmus", seconds] => litmus::run(&mut steps, seconds),
        ["soak"] => litmus::soak(&mut steps, "10"),
        ["soak", "--minutes", minutes] => litmus::soak(&mut steps, minutes),
        ["help" | "-h" | "--help"] => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        [] => return misused("no command"),
        [unknown, ..] => return misused(&format!("cannot make sense of `{unknown}`")),
    };
    steps.summarise(&outcome)
}

/// One line that says what is wrong, and where help is.
fn misused(what: &str) -> ExitCode {
    eprintln!("xtask: {what}; `cargo xtask help` lists the commands");
    ExitCode::from(2)
}

/// The workspace's root.
fn root() -> PathBuf {
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    package.parent().map_or(package.clone(), PathBuf::from)
}

/// Everything that must pass before a change goes in, the quick steps first.
fn test(steps: &mut Steps) -> Result<(), Failed> {
    const STRICT_DOCS: [(&str, &str); 1] = [("RUSTDOCFLAGS", "-D warnings")];
    steps.cargo("format", &["fmt", "--all", "--", "--check"], &[])?;
    let clippy = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    steps.cargo("lints", &clippy, &[])?;
    steps.cargo("docs", &["doc", "--workspace", "--no-deps"], &STRICT_DOCS)?;
    let private = ["doc", "--workspace", "--no-deps", "--document-private-items"];
    steps.cargo("docs, private items too", &private, &[])?;
    let tests = ["test", "--workspace", "--lib", "--bins", "--tests", "--examples"];
    steps.cargo("unit, integration and example tests", &tests, &[])?;
    steps.cargo("tests in the docs", &["test", "--workspace", "--doc"], &[])?;
    litmus::quick(steps)?;
    assembly::run(steps)?;
    models::lint(steps)?;
    models::run(steps, "")?;
    twin::run(steps, "")
}

/// The tests that interrupt and race threads, for longer than in `test`, in both strategies.
fn torture(steps: &mut Steps, seconds: u64) -> Result<(), Failed> {
    let (time, cases) = (seconds.to_string(), (seconds * 50).to_string());
    let longer = [("WINDROW_TORTURE_SECONDS", time.as_str()), ("PROPTEST_CASES", cases.as_str())];
    let tests = ["test", "--release", "--package", "windrow", "--test"];
    let run = |steps: &mut Steps, test: &str, variables: &[(&str, &str)]| {
        let arguments = [&tests[..], &[test, "--", "--nocapture"]].concat();
        steps.cargo(&format!("{test}, for longer"), &arguments, variables)
    };
    run(steps, "torture", &longer)?;
    for strategy in ["", "portable"] {
        let variables = [&longer[..], &[("WINDROW_STRATEGY", strategy)]].concat();
        run(steps, "storm", &variables)?;
        run(steps, "oracle", &variables)?;
    }
    Ok(())
}

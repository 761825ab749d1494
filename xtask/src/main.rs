//! The project's own commands: `cargo xtask <command>`.
//!
//! `test` is everything that must pass before a change goes in; `models` and `twins` are two of its
//! parts alone. They need cargo, rustfmt and clippy, and nothing else; what needs more says so.

mod assembly;
mod fuzz;
mod models;
mod mutants;
mod sanitizers;
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
  assembly        reads the machine code of a caller of Counter::add
  torture [SECONDS]
                  counters and windows under everything that interrupts a thread, for longer
  sanitizers      AddressSanitizer and ThreadSanitizer (a nightly compiler), and valgrind
  fuzz [SECONDS]  histories from a fuzzer, so long per strategy (a nightly compiler, cargo-fuzz)
  mutants [PATH]  small changes to src/PATH*, each of which a test must notice (cargo-mutants)
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
        ["assembly"] => assembly::run(&mut steps),
        ["sanitizers"] => sanitizers::run(&mut steps),
        ["mutants"] => mutants::run(&mut steps, ""),
        ["mutants", path] => mutants::run(&mut steps, path),
        ["torture"] => torture(&mut steps, 60),
        ["fuzz"] => fuzz::run(&mut steps, 60),
        [what @ ("torture" | "fuzz"), seconds] => match seconds.parse() {
            Ok(seconds) if seconds > 0 && what == "fuzz" => fuzz::run(&mut steps, seconds),
            Ok(seconds) if seconds > 0 => torture(&mut steps, seconds),
            _ => return misused(&format!("`{seconds}` is no number of seconds above 0")),
        },
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

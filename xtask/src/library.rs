//! The tests of the library: all of them, in two streams at a time.
//!
//! Half of the programs mostly wait: for children, for signals, for a compiler, for the end of a
//! torture. So they run beside those that compute, and beside the tests in the docs, which one core
//! compiles.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread;

use crate::steps::{Failed, Steps, cargo};
use crate::tools::{said, succeeds};

/// Tests of the library.
const LIBRARY: &str = "test --package=windrow --features windrow/serde";

/// The programs of tests that mostly wait.
const WAITING: [&str; 5] = ["refused", "steady", "storm", "survival", "torture"];

/// The numbers of histories and of rounds, and the seconds of tortures, before a change is sent.
const QUICK: [(&str, &str); 3] =
    [("PROPTEST_CASES", "80"), ("TEST_PERCENT", "30"), ("TORTURE_SECONDS", "0.3")];

/// The numbers before a change goes in: those without these variables.
const FULL: [(&str, &str); 3] =
    [("PROPTEST_CASES", "256"), ("TEST_PERCENT", "100"), ("TORTURE_SECONDS", "0.6")];

/// Runs all tests, of histories and tortures fewer or shorter ones.
pub(crate) fn quick(steps: &mut Steps) -> Result<(), Failed> {
    steps.cargo("tests of the library, built", &format!("{LIBRARY} --tests --no-run"), &[])?;
    let root = steps.root().to_owned();
    let name = "tests of the library, and in its docs";
    let programs = programs(&root).map_err(|why| Failed::new(name, why))?;
    let (waiting, computing): (Vec<String>, Vec<String>) =
        programs.into_iter().partition(|program| WAITING.contains(&program.as_str()));
    let waits = format!("{LIBRARY} --test={}", waiting.join(" --test="));
    let computes = format!("{LIBRARY} --lib --examples --test={}", computing.join(" --test="));
    let docs = format!("{LIBRARY} --doc");
    let shown = format!("cargo {computes}\n    cargo {docs}\n    beside them: cargo {waits}");
    let command = |arguments: &str| {
        let mut command = cargo(&root);
        command.args(arguments.split_whitespace()).envs(QUICK);
        command
    };
    steps.step(name, &shown, || {
        thread::scope(|scope| {
            let waits = scope.spawn(|| said(&mut command(&waits))); // in one piece, at the end
            let outcome = succeeds(&mut command(&computes));
            let outcome = outcome.and_then(|()| succeeds(&mut command(&docs)));
            let waited = waits.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            println!("{}", waited?);
            outcome
        })
    })
}

/// Runs the histories and the tortures with their own numbers.
pub(crate) fn full(steps: &mut Steps) -> Result<(), Failed> {
    let tests = format!("{LIBRARY} --test exact --test oracle --test torture");
    steps.cargo("histories and tortures, in full", &tests, &FULL)
}

/// Returns the names of the programs in `tests`.
fn programs(root: &Path) -> Result<BTreeSet<String>, String> {
    let wrong = |error: std::io::Error| format!("tests: {error}");
    let mut programs = BTreeSet::new();
    for entry in fs::read_dir(root.join("tests")).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        let is_program = path.extension().is_some_and(|kind| kind == "rs");
        if is_program || path.join("main.rs").is_file() {
            programs.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    Ok(programs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_program_that_waits_is_there() {
        let programs = programs(&crate::root()).unwrap();
        assert!(WAITING.iter().all(|program| programs.contains(*program)), "{programs:?}");
        assert!(programs.contains("exact") && programs.contains("contract"), "{programs:?}");
    }
}

//! Mutants of the logic: each small change to the library must make an ordinary test fail.
//!
//! `cargo mutants` makes the changes and runs tests against each. A change that no test notices
//! must stand in `tests/mutants.txt`, with the reason why that is right; and a line there without a
//! survivor is a failure too, so that the file cannot rot. `.cargo/mutants.toml` says what to leave
//! out; the models cover orders of memory.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::process::Command;

use crate::sanitizers::needs;
use crate::steps::{Failed, Steps};

/// The tests that are run against each change, or against those that the first round has left.
struct Round {
    /// Histories of each random test.
    cases: &'static str,
    tests: &'static [&'static str],
}

/// The quickest, which nearly all changes fail; then what takes some seconds.
const ROUNDS: [Round; 2] = [
    Round { cases: "12", tests: &["lib", "oracle"] },
    Round { cases: "64", tests: &["lib", "contract", "exact", "families", "refused", "steady"] },
];

/// Survivors that are known, each with a reason behind ` -- `.
const KNOWN: &str = "tests/mutants.txt";

/// The exit codes of cargo-mutants after all were tried: none missed, some missed, some took too
/// long.
const TRIED: [i32; 3] = [0, 2, 3];

/// Tries all changes to the files whose path begins with `filter`.
pub(crate) fn run(steps: &mut Steps, filter: &str) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    let output = root.join("target/mutants");
    steps.step("mutants", &format!("cargo mutants, src/{filter}*"), || {
        needs("cargo", &["mutants", "--version"])?;
        fs::create_dir_all(&output).map_err(|error| format!("cannot write: {error}"))?;
        for (index, round) in ROUNDS.iter().enumerate() {
            let mut command = Command::new("cargo");
            command.current_dir(&root).args(["mutants", "--no-shuffle", "--jobs=2", "--output"]);
            command.arg(&output).args(["--file", &format!("src/{filter}*")]);
            command.args(["--file", &format!("src/{filter}*/**")]);
            command.args(round.tests.iter().map(|test| match *test {
                "lib" => "--cargo-arg=--lib".to_owned(),
                test => format!("--cargo-arg=--test={test}"),
            }));
            command.args((index > 0).then_some("--iterate"));
            // Those of `exact::conformance`: seconds each.
            command.args(["--", "--", "--skip", "concurrent::"]);
            command.env("PROPTEST_CASES", round.cases);
            command.env("PROPTEST_MAX_SHRINK_ITERS", "0"); // failures need not be shrunk
            let status = command.status().map_err(|error| format!("cannot run cargo: {error}"))?;
            if !status.code().is_some_and(|code| TRIED.contains(&code)) {
                return Err(status.to_string());
            }
            noticed_by_time(&output.join("mutants.out"))?;
        }
        compare(&root, &output.join("mutants.out/missed.txt"), &format!("src/{filter}"))
    })
}

/// Returns what no longer ends has been noticed, and need not be tried in the next round.
fn noticed_by_time(output: &Path) -> Result<(), String> {
    let append = || {
        let late = fs::read(output.join("timeout.txt"))?;
        OpenOptions::new().append(true).open(output.join("caught.txt"))?.write_all(&late)
    };
    append().map_err(|error: io::Error| format!("{}: {error}", output.display()))
}

/// Demands that the survivors are those that are known.
fn compare(root: &Path, missed: &Path, filter: &str) -> Result<(), String> {
    let read = |path: &Path| {
        fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
    };
    let (missed, known) = (read(missed)?, read(&root.join(KNOWN))?);
    // The number of mutants without a line about them.
    let mut unknown: BTreeMap<String, i32> = BTreeMap::new();
    for survivor in missed.lines() {
        *unknown.entry(placeless(survivor)).or_default() += 1;
    }
    for line in known.lines().filter(|line| line.starts_with(filter)) {
        let Some((survivor, _)) = line.split_once(" -- ") else {
            return Err(format!("{KNOWN}: `{line}` gives no reason behind ` -- `"));
        };
        *unknown.entry(survivor.to_owned()).or_default() -= 1;
    }
    unknown.retain(|_, count| *count != 0);
    for (mutant, count) in &unknown {
        let what = if *count > 0 { "SURVIVED" } else { "known, but no longer a survivor:" };
        println!("{what} {mutant} ({})", count.abs());
    }
    if unknown.is_empty() { Ok(()) } else { Err(format!("not as {KNOWN} says, see above")) }
}

/// Returns a mutant's name without line and column, which change with every edit.
fn placeless(mutant: &str) -> String {
    let mut parts = mutant.splitn(4, ':');
    match (parts.next(), parts.nth(2)) {
        (Some(file), Some(what)) => format!("{file}:{what}"),
        _ => mutant.to_owned(),
    }
}

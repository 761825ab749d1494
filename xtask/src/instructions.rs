//! The guard of the hot paths: the numbers of their instructions, beside those in
//! `xtask/instructions.txt`.
//!
//! Instructions are the one measure of cost that no neighbour and no clock frequency changes. The
//! portable paths are counted by callgrind, which knows no restartable sequences; the per-core
//! paths are read from the machine code ([`assembly`]). A path that has grown by more than the
//! tolerance is a failure that names both numbers. Another compiler may make other code: the file
//! says which one it was. Another processor does: where there is no per-core strategy, nothing is
//! counted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::assembly;
use crate::sources;
use crate::steps::{Failed, Steps, target_directory};
use crate::tools::needs;

/// The expected numbers, a line for each path.
const EXPECTED: &str = "xtask/instructions.txt";

/// The program that calls each path, by its name.
const PROGRAM: [&str; 2] = [include_str!("../counted.rs"), include_str!("../counted/reads.rs")];

/// The path that counts the loop itself.
const NOTHING: &str = "nothing";

/// Calls of each: enough that one-time costs (a first rotation, a late page) are lost in rounding.
const TIMES: u32 = 10_000;

/// The part of itself by which a path may have grown.
const TOLERANCE: f64 = 0.02;

/// Instructions of one call, by path and strategy.
type Counts = BTreeMap<String, f64>;

/// Counts, and compares the numbers with the expected ones; or writes them.
pub(crate) fn run(steps: &mut Steps, write: bool) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    let lengths = assembly::run(steps)?;
    if !assembly::THERE {
        return Ok(());
    }
    let per_core = |(name, length)| (format!("per core, {name}"), length as f64);
    let mut counts: Counts = lengths.into_iter().map(per_core).collect();
    if let Err(why) = needs("valgrind", &["--version"]) {
        if write {
            return Err(Failed::new("instructions, portable", why));
        }
        // Without valgrind there are still the tests; CI has it.
        steps.leave_out("instructions, portable", &why);
    } else {
        steps.step("instructions, portable", "callgrind of xtask/counted.rs", || {
            let program = compile(&root)?;
            let empty = count(&program, NOTHING)?;
            for path in paths() {
                counts.insert(format!("portable, {path}"), count(&program, path)? - empty);
            }
            Ok(())
        })?;
    }
    steps.step("instructions of the hot paths", EXPECTED, || {
        let path = root.join(EXPECTED);
        if write {
            return sources::write(&path, &shown(&counts)?);
        }
        judge(&parse(&sources::read(&path)?)?, &counts)
    })
}

/// Returns the paths of the program: the arms of its matches.
fn paths() -> impl Iterator<Item = &'static str> {
    let arm = |line: &'static str| line.trim_start().strip_prefix('"')?.split_once("\" =>");
    let arms = PROGRAM.into_iter().flat_map(str::lines).filter_map(arm);
    arms.map(|(path, _)| path).filter(|path| *path != NOTHING)
}

/// Makes the program.
fn compile(root: &Path) -> Result<PathBuf, String> {
    let built = target_directory()?.join("release");
    let program = built.join("counted");
    let source = root.join("xtask/counted.rs");
    assembly::compile(&mut assembly::rustc(), &[built], &source, &program)?;
    Ok(program)
}

/// Instructions of one round of the loop around `path`.
fn count(program: &Path, path: &str) -> Result<f64, String> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"]);
    command.args(["--toggle-collect=counted::counted*"]).arg(program).arg(path);
    command.arg(TIMES.to_string()).env("WINDROW_STRATEGY", "portable");
    let output = command.output().map_err(|error| format!("cannot run valgrind: {error}"))?;
    let words = String::from_utf8_lossy(&output.stderr);
    let total: Option<f64> =
        words.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    match total {
        Some(total) if output.status.success() && total > 0.0 => Ok(total / f64::from(TIMES)),
        _ => Err(format!("callgrind of `{path}`: {words}")),
    }
}

/// The file, for these counts.
fn shown(counts: &Counts) -> Result<String, String> {
    let compiler = assembly::rustc().arg("--version").output();
    let compiler = compiler.map_err(|error| format!("cannot run rustc: {error}"))?;
    let compiler = String::from_utf8_lossy(&compiler.stdout);
    let lines = counts.iter().map(|(path, count)| format!("{count:7.1}  {path}\n"));
    let head = format!(
        "# Instructions of one call. `cargo xtask instructions` compares, with `--write` it writes this.\n\
         # {compiler}",
    );
    Ok(std::iter::once(head).chain(lines).collect())
}

/// Reads the file.
fn parse(text: &str) -> Result<Counts, String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let pair = |line: &str| {
        let (count, path) = line.trim_start().split_once("  ")?;
        Some((path.to_owned(), count.parse().ok()?))
    };
    lines
        .map(|line| pair(line).ok_or(format!("{EXPECTED}: no count and path in `{line}`")))
        .collect()
}

/// Demands that no path has grown, and that the file lists all of them.
fn judge(expected: &Counts, counts: &Counts) -> Result<(), String> {
    let mut wrong = Vec::new();
    for (path, &count) in counts {
        let Some(&before) = expected.get(path) else {
            wrong.push(format!("{path}: {count:.1} instructions, and {EXPECTED} does not list it"));
            continue;
        };
        println!("    {path}: {count:.1} instructions, expected {before:.1}");
        if count > before * (1.0 + TOLERANCE) {
            wrong.push(format!("{path}: {count:.1} instructions, where there were {before:.1}"));
        } else if count < before * (1.0 - TOLERANCE) {
            println!("    fewer than before: keep it with `cargo xtask instructions --write`");
        }
    }
    // A strategy may be absent here as a whole; a path of one that is there may not.
    let here = |path: &str| counts.keys().any(|other| strategy(other) == strategy(path));
    for path in expected.keys().filter(|path| here(path) && !counts.contains_key(*path)) {
        wrong.push(format!("{path} is in {EXPECTED}, and was not counted"));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Returns the strategy that a path is of.
fn strategy(path: &str) -> &str {
    path.split_once(", ").map_or(path, |(strategy, _)| strategy)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# rustc\n   11.0  portable, Counter::add\n   18.0  per core, add_one\n";

    fn judged(add: f64) -> Result<(), String> {
        judge(&parse(FILE)?, &BTreeMap::from([("portable, Counter::add".to_owned(), add)]))
    }

    #[test]
    fn growth_fails_with_both_numbers() {
        assert_eq!(judged(11.2), Ok(()));
        assert_eq!(judged(7.0), Ok(()));
        let why = judged(11.3).unwrap_err();
        assert!(why.contains("11.3") && why.contains("11.0"), "{why}");
    }

    #[test]
    fn the_file_has_the_paths_of_the_program() {
        let expected = parse(include_str!("../instructions.txt")).unwrap();
        let portable = expected.keys().filter_map(|path| path.strip_prefix("portable, "));
        let program: std::collections::BTreeSet<&str> = paths().collect();
        // Read from the machine code.
        let leased = "Counter::add, in a leased row";
        assert!(portable.filter(|path| *path != leased).eq(program));
    }

    #[test]
    fn the_file_tells_of_every_path() {
        let mut counts = parse(FILE).unwrap();
        counts.insert("portable, Counter::sub".to_owned(), 1.0);
        assert!(judge(&parse(FILE).unwrap(), &counts).is_err());
        counts.clear();
        counts.insert("portable, Counter::add".to_owned(), 11.0);
        assert!(judge(&parse(FILE).unwrap(), &counts).is_ok()); // nothing per core here
        counts.insert("per core, add_two".to_owned(), 1.0);
        assert!(judge(&parse(FILE).unwrap(), &counts).unwrap_err().contains("add_one"));
        assert!(parse("18 add").is_err());
    }
}

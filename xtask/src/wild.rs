//! Exact totals in builds and hosts that the tests do not have: `tests/wild`, built in many ways,
//! on its own and as a shared object in Python and in Node.

use std::path::Path;
use std::process::Command;

use crate::steps::{Failed, Steps};
use crate::strategies::WAYS;
use crate::tools::said;

mod builds;
mod hosts;

use builds::{BUILDS, Made};

/// The number of adds of a thread.
const TIMES: &str = "2000";

/// Ways to count beside those that all longer runs have.
const MORE_WAYS: [(&str, [(&str, &str); 2]); 2] = [
    ("rows by processor", [("WINDROW_STRATEGY", "cpu-id"), ("WINDROW_LEASES", "")]),
    ("portable without leases", [("WINDROW_STRATEGY", "portable"), ("WINDROW_LEASES", "off")]),
];

/// The folder of the builds, below the root.
const FOLDER: &str = "target/wild";

/// The variable that has an add left out, which the program must notice.
const LOSE: &str = "WILD_LOSE";

/// The adds that can be left out: `PARTS` in `tests/wild/src/loss.rs`.
const PARTS: &str = include_str!("../../tests/wild/src/loss.rs");

/// Builds in each way, and runs the program under each strategy and in each host.
pub(crate) fn run(steps: &mut Steps) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    let folder = root.join(FOLDER);
    let mut outcomes = Vec::new();
    for (at, build) in BUILDS.iter().enumerate() {
        outcomes.push(steps.step(&format!("wild, {}", build.0), &builds::shown(build), || {
            let made = builds::make(build, &root, &folder)?;
            let bites = || if at == 0 { bites(&made, &root, &folder) } else { Ok(()) };
            let outcome = bites().and_then(|()| everywhere(&made, &root, &folder));
            outcome.inspect_err(|why| println!("    {why}")) // the other builds go on
        }));
    }
    Failed::all(outcomes)
}

/// Runs everything that was made, under each strategy.
fn everywhere(made: &Made, root: &Path, folder: &Path) -> Result<(), String> {
    for (name, way) in WAYS.into_iter().chain(MORE_WAYS) {
        let text = said(Command::new(&made.program).arg(TIMES).envs(way))?;
        println!("    {name}: {}", text.replace('\n', "\n        "));
        for (host, mut command) in hosts::commands(made, root, folder)? {
            let text =
                said(command.arg(TIMES).envs(way)).map_err(|why| format!("{host}: {why}"))?;
            println!("        {}", text.lines().last().unwrap_or_default());
        }
    }
    Ok(())
}

/// Leaves out each add in turn, which the checks must notice.
fn bites(made: &Made, root: &Path, folder: &Path) -> Result<(), String> {
    let noticed = |what: &str, command: &mut Command| match said(command) {
        Ok(said) => Err(format!("{what} is left out, and nothing notices: {said}")),
        Err(why) if why.contains("NOT EXACT") => Ok(()),
        Err(why) => Err(format!("{what} is left out: {why}")),
    };
    for part in parts() {
        noticed(part, Command::new(&made.program).arg(TIMES).env(LOSE, part))?;
    }
    for (host, mut command) in hosts::commands(made, root, folder)? {
        noticed(host, command.arg(TIMES).env(LOSE, "host"))?;
    }
    println!("    adds left out on purpose, one by one: each is noticed");
    Ok(())
}

/// Returns the names of the adds that can be left out.
fn parts() -> impl Iterator<Item = &'static str> {
    let list = PARTS.split_once("] = [").and_then(|(_, rest)| rest.split_once("];"));
    list.map_or("", |(list, _)| list).split('"').skip(1).step_by(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_adds_that_can_be_left_out_are_found() {
        let parts: Vec<_> = parts().collect();
        assert!(parts.len() > 10 && parts.contains(&"counter") && parts.contains(&"fork"));
    }

    #[test]
    fn builds_have_folders_of_their_own() {
        for (at, (name, _)) in BUILDS.iter().enumerate() {
            assert!(BUILDS[..at].iter().all(|(other, _)| other != name), "{name}");
        }
    }
}

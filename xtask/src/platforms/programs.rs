//! The test programs, and how they run on this machine's own kernel.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::libraries::{self, RANDOM};
use super::targets::{Target, Tested};

/// The name of the program with the library's own tests.
pub(super) const LIBRARY: &str = "windrow";

/// A run of a test program.
#[derive(Clone, Copy)]
pub(super) struct Program {
    /// The test program.
    pub(super) test: &'static str,
    /// The part of it: the beginning of the names of tests, and options.
    pub(super) arguments: &'static str,
    /// The variables that it sees, as a shell reads them.
    pub(super) variables: &'static str,
}

/// The files of test programs, by their names.
pub(super) type Built = BTreeMap<&'static str, PathBuf>;

impl Program {
    /// Returns the name of the run.
    pub(super) fn name(&self) -> String {
        match self.arguments.split_once("::") {
            None => self.test.to_owned(),
            Some((part, _)) => format!("{}/{part}", self.test),
        }
    }
}

/// All of a program.
pub(super) const fn all(test: &'static str) -> Program {
    Program { test, arguments: "", variables: "" }
}

/// A part of a program.
pub(super) const fn part(test: &'static str, arguments: &'static str) -> Program {
    Program { test, arguments, variables: "" }
}

/// The programs that run on every system.
pub(super) const EVERYWHERE: [Program; 2] = [all(LIBRARY), all("contract")];

/// Runs programs on this machine's kernel, as the target says, and returns the number of tests that
/// have passed.
pub(super) fn run(
    target: &Target,
    folder: &Path,
    source: &Path,
    programs: &[Program],
) -> Result<usize, String> {
    let built = target.build(source, folder, &folder.join("built"), programs)?;
    let mut passed = 0;
    for program in programs {
        let output = runner(target, folder, &built[program.test])?
            .args(program.arguments.split_whitespace())
            .current_dir(source)
            .output()
            .map_err(|error| format!("{}: {error}", program.name()))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let count = tests_passed(&said);
        if !output.status.success() || count == 0 {
            let errors = String::from_utf8_lossy(&output.stderr);
            return Err(format!("{}: {}\n{said}{errors}", program.name(), output.status));
        }
        println!("    {}: {count} tests passed", program.name());
        passed += count;
    }
    Ok(passed)
}

/// Returns the command that runs a program of the target.
fn runner(target: &Target, folder: &Path, program: &Path) -> Result<Command, String> {
    if let Some([emulator, library]) = target.emulator() {
        let mut command = Command::new(emulator);
        command.args(["-L", &library]).arg(program);
        return Ok(command);
    }
    if target.tested != Tested::Wine {
        return Ok(Command::new(program));
    }
    let beside = program.parent().ok_or("a program is in a folder")?.join(RANDOM);
    std::fs::copy(libraries::folder_of(target, folder).join(RANDOM), beside)
        .map_err(|error| format!("{RANDOM}: {error}"))?;
    let mut command = Command::new("wine");
    command.arg(program).env("WINEPREFIX", folder.join("wine")).env("WINEDEBUG", "-all");
    Ok(command)
}

/// Returns the number of tests that have passed in a run, by its last line.
pub(super) fn tests_passed(said: &str) -> usize {
    let line = said.lines().rev().find_map(|line| line.trim().strip_prefix("test result: ok. "));
    line.and_then(|line| line.split(' ').next()?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_without_tests_has_passed_none() {
        assert_eq!(tests_passed("running 2 tests\n\ntest result: ok. 2 passed; 0 failed"), 2);
        assert_eq!(tests_passed("test result: ok. 0 passed; 0 failed"), 0);
        assert_eq!(tests_passed("test result: FAILED. 2 passed; 1 failed"), 0);
        assert_eq!(tests_passed(""), 0);
    }

    #[test]
    fn a_run_is_named_by_its_part() {
        assert_eq!(all("contract").name(), "contract");
        assert_eq!(part("exact", "kinds:: --quiet").name(), "exact/kinds");
    }
}

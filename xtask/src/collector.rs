//! A real OpenTelemetry collector between `windrow-otlp` and its test's book: the agent of the
//! Python package `rotel`, in a virtual environment of its own.

use std::path::Path;
use std::process::Command;

use crate::sanitizers::{needs, succeeds};
use crate::steps::{Failed, Steps};

/// The place of the environment.
const ENVIRONMENT: &str = "target/collector";

/// The package, with the version that the test was written for.
const PACKAGE: &str = "rotel==0.0.1a15";

/// Prints the agent's path.
const FIND: &str =
    "import pathlib, rotel; print(pathlib.Path(rotel.__file__).parent / 'rotel-agent')";

const NAME: &str = "a real collector, killed in between";

const TEST: &str =
    "what_a_real_collector_forwards_is_what_was_counted_though_it_is_killed_in_between";

/// Runs the test, if the package can be had here.
pub(crate) fn run(steps: &mut Steps) -> Result<(), Failed> {
    let agent = match agent(&steps.root().join(ENVIRONMENT)) {
        Ok(agent) => agent,
        Err(why) => {
            steps.leave_out(NAME, &why);
            return Ok(());
        }
    };
    let test = format!("rotel::{TEST}");
    let options = ["--", "--ignored", "--exact", test.as_str()];
    let tests = ["test", "--package", "windrow-otlp", "--test", "book"];
    let arguments = [&tests[..], &options].concat();
    steps.cargo(NAME, &arguments, &[("WINDROW_COLLECTOR", &agent)])
}

/// Returns the path of the agent, which is installed if it is not there.
fn agent(environment: &Path) -> Result<String, String> {
    let python = environment.join("bin/python");
    if !python.exists() {
        needs("python3", &["-c", "import venv, ensurepip"])?;
        succeeds(Command::new("python3").args(["-m", "venv"]).arg(environment))?;
    }
    let found = || Command::new(&python).args(["-c", FIND]).output();
    let mut output = found().map_err(|error| format!("{}: {error}", python.display()))?;
    if !output.status.success() {
        succeeds(Command::new(&python).args(["-m", "pip", "install", "--quiet", PACKAGE]))?;
        output = found().map_err(|error| format!("{}: {error}", python.display()))?;
    }
    let path = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if Path::new(&path).is_file() { Ok(path) } else { Err(format!("{PACKAGE} has no agent")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_exists() {
        let tests =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../integrations/otlp/tests/book/rotel.rs");
        assert!(std::fs::read_to_string(tests).unwrap().contains(&format!("fn {TEST}()")));
    }
}

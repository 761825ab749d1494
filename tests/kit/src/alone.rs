//! Running one ignored test in a process of its own, with an environment of its own.

use std::env;
use std::process::Command;

/// The variables that select a process's strategy.
pub type Way = [(&'static str, &'static str); 2];

const fn way(strategy: &'static str, leases: &'static str) -> Way {
    [("WINDROW_STRATEGY", strategy), ("WINDROW_LEASES", leases)]
}

/// Every strategy: the best that works here, then those of machines without restartable sequences.
/// Rows are leased in one of these and dealt in the others, as on processors where leases are off.
pub const WAYS: [Way; 4] =
    [way("", ""), way("portable", "on"), way("fenced", "off"), way("epochs", "off")];

/// Rows by processor, as on kernels before 6.3, which number no threads: for tests about rows.
pub const BY_PROCESSOR: Way = way("cpu-id", "");

/// [`run`] in [each way](WAYS) to count.
pub fn in_each_strategy(name: &str) {
    for way in WAYS {
        run(name, &way);
    }
}

/// Runs the ignored test called `name` of this program in a child process, with `variables` in its
/// environment, and fails if it fails.
pub fn run(name: &str, variables: &[(&str, &str)]) {
    let output = Command::new(env::current_exe().expect("a program"))
        .args(["--ignored", "--exact", name, "--nocapture", "--test-threads=1"])
        .envs(variables.iter().copied())
        .output()
        .expect("a process");
    let (said, complained) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let told = format!("{name} {variables:?}: {}\n{said}\n{complained}", output.status);
    assert!(output.status.success(), "{told}");
    assert!(said.contains("1 passed"), "no test of that name: {told}");
    println!("{told}");
}

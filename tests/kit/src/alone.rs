//! Running one ignored test in a process of its own, with an environment of its own.

use std::env;
use std::process::Command;

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
    assert!(said.contains("1 passed"), "there is no such test: {told}");
    println!("{told}");
}

//! Under valgrind, which has no restartable sequences and looks at every access to memory.

use std::env;
use std::process::Command;

/// Valgrind's own exit code for an error that it has found.
const FOUND: &str = "99";

/// Runs a test that uses everything under memcheck. Where there is no valgrind it says so.
#[test]
fn memcheck_finds_nothing() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("skipped: there is no valgrind here");
        return;
    }
    let output = Command::new("valgrind")
        .args(["--quiet", &format!("--error-exitcode={FOUND}"), "--leak-check=no"])
        .arg(env::current_exe().expect("a program"))
        .args(["--ignored", "--exact", "rows::portable_without_being_told", "--nocapture"])
        .output()
        .expect("a process");
    let (said, complained) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let told = format!("{}\n{said}\n{complained}", output.status);
    assert!(output.status.success(), "{told}");
    assert!(said.contains("1 passed"), "{told}");
}

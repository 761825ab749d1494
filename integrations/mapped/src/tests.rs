//! Tests whose other half runs in a process of its own: this test program again, with one test.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const PATH: &str = "MAPPED_CHILD_PATH";
const TASK: &str = "MAPPED_CHILD_TASK";

/// Returns a command that runs one test in a child, with a path and a task.
pub(crate) fn command(test: &str, path: &Path, task: &str) -> Command {
    let mut command = Command::new(env::current_exe().expect("a test program has a file"));
    command.args(["--exact", test, "--nocapture", "--include-ignored"]);
    command.env(PATH, path).env(TASK, task);
    command
}

/// Returns the path and the task, in a child.
pub(crate) fn task() -> Option<(PathBuf, String)> {
    Some((env::var_os(PATH)?.into(), env::var(TASK).ok()?))
}

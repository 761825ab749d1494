//! Programs of others.

use std::process::{Command, Stdio};

/// Returns whether a tool is there.
pub(crate) fn needs(tool: &str, arguments: &[&str]) -> Result<(), String> {
    let mut command = Command::new(tool);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        _ => Err(format!("NOT RUN: there is no `{tool} {}` here", arguments.join(" "))),
    }
}

/// Runs a command to a good end.
pub(crate) fn succeeds(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_owned();
    let status = command.status();
    let status = status.map_err(|error| format!("cannot run {}: {error}", name.display()))?;
    if status.success() { Ok(()) } else { Err(format!("{}: {status}", name.display())) }
}

/// Runs a command to a good end, and returns what it printed.
pub(crate) fn said(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_owned();
    let output = command.output().map_err(|error| format!("{}: {error}", name.display()))?;
    let said = String::from_utf8_lossy(&output.stdout).trim_end().to_owned();
    if output.status.success() {
        return Ok(said);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}: {}\n{said}\n{errors}", name.display(), output.status))
}

//! A copy of the workspace to make mistakes in, and its models.
//!
//! All mistakes are made in one copy, one after the other, with target directories that nothing
//! else uses: to cargo, two copies of a workspace are one, and it would take builds of one for
//! those of the other. A model runs as a child process, since a use after free may abort.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::models::Build;
use crate::sources;
use crate::steps::cargo;

/// Makes `copy` what the workspace at `root` is.
pub(crate) fn make(root: &Path, copy: &Path) -> Result<(), String> {
    mirror(root, copy).map_err(|error| format!("cannot copy the sources: {error}"))
}

/// Builds the copy's models in `target`, and returns the program that runs them.
pub(crate) fn build(
    copy: &Path,
    build: &Build,
    target: &Path,
    log: &Path,
) -> Result<PathBuf, String> {
    let mut command = cargo(copy);
    command.args(build.test("--no-run").split_whitespace());
    command.env("RUSTFLAGS", build.flags).env("CARGO_TARGET_DIR", target);
    let status = logged(&mut command, log)?.wait();
    if !status.is_ok_and(|status| status.success()) {
        return Err(format!("does not compile, so proves nothing; see {}", log.display()));
    }
    // Cargo's last words: `Executable tests/models/main.rs (path)`.
    let words = read(log)?;
    let line = words.lines().find(|line| line.trim_start().starts_with("Executable"));
    let path = line.and_then(|line| line.rsplit_once('(')?.1.strip_suffix(')'));
    path.map(|path| copy.join(path)).ok_or_else(|| "cargo named no program".to_owned())
}

/// Makes a mistake in the copy: puts another text in the place of one that stands in a file once.
pub(crate) fn break_in(copy: &Path, file: &str, [sound, broken]: [&str; 2]) -> Result<(), String> {
    let text = sources::read(&copy.join(file))?;
    match text.matches(sound).count() {
        1 => sources::write(&copy.join(file), &text.replace(sound, broken)),
        found => Err(format!("`{sound}` stands {found} times in {file}")),
    }
}

/// Runs one model of such a program, for so long at most, with all its words going to `log`.
/// Returns the words with which it failed.
pub(crate) fn run_model(
    program: &Path,
    model: &str,
    variables: &[(&str, &str)],
    patience: Duration,
    log: &Path,
) -> Result<Option<String>, String> {
    let mut command = Command::new(program);
    command.args(["--exact", "--nocapture", model]).envs(variables.iter().copied());
    let (child, begin) = (logged(&mut command, log)?, Instant::now());
    let Some(status) = ended(child, || begin.elapsed() > patience)? else { return Ok(None) };
    let words = read(log)?;
    if !words.contains("\nrunning 1 test") {
        return Err(format!("`{model}` is not the name of one model"));
    }
    match complaint(&words) {
        _ if status.success() => Ok(None),
        Some(words) => Ok(Some(words)),
        None => Err(format!("it failed, but no model complained; see {}", log.display())),
    }
}

/// Waits for the end of a process, and kills it once `is_over`; then there is no status.
pub(crate) fn ended(
    mut child: Child,
    mut is_over: impl FnMut() -> bool,
) -> Result<Option<ExitStatus>, String> {
    loop {
        let status = child.try_wait().map_err(|error| format!("cannot wait: {error}"))?;
        if status.is_some() {
            return Ok(status);
        }
        if is_over() {
            let _ = child.kill(); // it may have ended meanwhile
            let _ = child.wait();
            return Ok(None);
        }
        sleep(Duration::from_millis(20));
    }
}

/// Returns a log's words, even with invalid bytes among them.
pub(crate) fn read(log: &Path) -> Result<String, String> {
    let bytes = fs::read(log).map_err(|error| format!("cannot read {}: {error}", log.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Starts `command` with all its words going to `log`.
pub(crate) fn logged(command: &mut Command, log: &Path) -> Result<Child, String> {
    let output = File::create(log).and_then(|file| Ok((file.try_clone()?, file)));
    let (output, errors) = output.map_err(|error| format!("cannot write: {error}"))?;
    command.stdin(Stdio::null()).stdout(output).stderr(errors);
    command
        .spawn()
        .map_err(|error| format!("cannot run {}: {error}", command.get_program().display()))
}

/// Returns what the panic said that ended a model: the words after its place.
fn complaint(log: &str) -> Option<String> {
    let mut lines = log.lines().skip_while(|line| !line.contains("panicked at "));
    lines.next()?;
    lines.find(|line| !line.trim().is_empty()).map(|line| line.trim().to_owned())
}

/// Makes `to` a copy of `from`, without built and hidden files. Equal files are left alone, so that
/// cargo need not build them again.
fn mirror(from: &Path, to: &Path) -> io::Result<()> {
    let mut theirs = Vec::new();
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == "target" || name.to_string_lossy().starts_with('.') {
            continue;
        }
        let target: PathBuf = to.join(&name);
        if entry.file_type()?.is_dir() {
            mirror(&entry.path(), &target)?;
        } else {
            let content = fs::read(entry.path())?;
            if !fs::read(&target).is_ok_and(|old| old == content) {
                fs::write(&target, content)?;
            }
        }
        theirs.push(name);
    }
    for entry in fs::read_dir(to)? {
        let entry = entry?;
        if !theirs.contains(&entry.file_name()) && entry.file_name() != "Cargo.lock" {
            if entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            } else {
                fs::remove_file(entry.path())?;
            }
        }
    }
    Ok(())
}

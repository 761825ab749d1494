//! Broken twins: the library with one mistake in it, which a model must find.
//!
//! A twin is made from the sources as they are: in a copy of the workspace one text in one file is
//! replaced, and the model that answers for it is built and run as a child process (a use after
//! free may abort). A text that does not stand in its file exactly once is an error, so the table
//! in [`twins`](crate::twins) cannot rot.
//!
//! All twins are made in one copy, one after the other, with a target directory that nothing else
//! uses: to cargo, two copies of a workspace are one, and it would take what it has built of the
//! one for the other's.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::models::{Build, TEST};
use crate::steps::{Failed, Steps, cargo, seconds};
use crate::twins::TWINS;

/// One mistake.
pub(crate) struct Twin {
    /// What it is called.
    pub(crate) name: &'static str,
    /// The file with the mistake, from the workspace's root.
    pub(crate) file: &'static str,
    /// What stands there, exactly once.
    pub(crate) find: &'static str,
    /// What shall stand there instead.
    pub(crate) replace: &'static str,
    /// The build whose model must notice.
    pub(crate) build: &'static Build,
    /// The model that must notice.
    pub(crate) model: &'static str,
    /// What goes wrong.
    pub(crate) why: &'static str,
}

/// How long a model may take to notice. A mistake that takes longer counts as survived.
const PATIENCE: Duration = Duration::from_mins(2);

/// Makes every twin whose name contains `filter`, and demands that its model fails.
pub(crate) fn run(steps: &mut Steps, filter: &str) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    let chosen: Vec<&Twin> = TWINS.iter().filter(|twin| twin.name.contains(filter)).collect();
    steps.step("broken twins", &format!("{} twins", chosen.len()), || {
        if chosen.is_empty() {
            return Err(format!("no twin's name contains `{filter}`"));
        }
        let mut survivors = Vec::new();
        for twin in chosen {
            let begin = Instant::now();
            let killed = twin.try_out(&root).map_err(|error| format!("{}: {error}", twin.name))?;
            let verdict = if killed.is_some() { "killed" } else { "SURVIVED" };
            let time = seconds(begin.elapsed());
            println!("{verdict} {} by {} in {time}: {}", twin.name, twin.model, twin.why);
            match killed {
                Some(words) => println!("       {words}"),
                None => survivors.push(twin.name),
            }
        }
        if survivors.is_empty() {
            Ok(())
        } else {
            Err(format!("survived: {}", survivors.join(", ")))
        }
    })
}

impl Twin {
    /// Makes the twin and runs its model. Returns the model's complaint, or `None` if it had none.
    fn try_out(&self, root: &Path) -> Result<Option<String>, String> {
        let twins = root.join("target/twins");
        let copy = twins.join("sources");
        mirror(root, &copy).map_err(|error| format!("cannot copy the sources: {error}"))?;
        self.break_in(&copy)?;
        let models = self.build(&twins, &copy)?;
        let log = twins.join(format!("{}.log", self.name));
        let survived = self.survives(&models, &log)?;
        let words = read(&log)?;
        if !words.contains("\nrunning 1 test") {
            return Err(format!("`{}` is not the name of one model", self.model));
        }
        if survived {
            return Ok(None);
        }
        match complaint(&words) {
            Some(words) => Ok(Some(words)),
            None => Err(format!("it failed, but no model complained; see {}", log.display())),
        }
    }

    /// Makes the mistake in the copy.
    fn break_in(&self, copy: &Path) -> Result<(), String> {
        let path = copy.join(self.file);
        let sound = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", self.file))?;
        match sound.matches(self.find).count() {
            1 => fs::write(&path, sound.replace(self.find, self.replace))
                .map_err(|error| format!("{}: {error}", self.file)),
            found => Err(format!("`{}` stands {found} times in {}", self.find, self.file)),
        }
    }

    /// Builds the copy's models, and returns the program that runs them.
    fn build(&self, twins: &Path, copy: &Path) -> Result<PathBuf, String> {
        let log = twins.join(format!("{}.build.log", self.name));
        let mut command = cargo(copy);
        command.args(TEST).arg("--no-run");
        command.env("RUSTFLAGS", self.build.flags).env("CARGO_TARGET_DIR", twins.join("build"));
        let status = logged(&mut command, &log)?.wait();
        if !status.is_ok_and(|status| status.success()) {
            return Err(format!("does not compile, so proves nothing; see {}", log.display()));
        }
        // Cargo's last words: `Executable tests/models/main.rs (path)`.
        let words = read(&log)?;
        let line = words.lines().find(|line| line.trim_start().starts_with("Executable"));
        let path = line.and_then(|line| line.rsplit_once('(')?.1.strip_suffix(')'));
        path.map(|path| copy.join(path)).ok_or_else(|| "cargo named no program".to_owned())
    }

    /// Runs the model; whether it passes, or takes too long to fail.
    fn survives(&self, models: &Path, log: &Path) -> Result<bool, String> {
        let mut command = Command::new(models);
        let mut child = logged(command.args(["--exact", "--nocapture", self.model]), log)?;
        let begin = Instant::now();
        loop {
            match child.try_wait().map_err(|error| format!("cannot wait: {error}"))? {
                Some(status) => return Ok(status.success()),
                None if begin.elapsed() > PATIENCE => {
                    let _ = child.kill(); // it may have ended meanwhile
                    let _ = child.wait();
                    return Ok(true);
                }
                None => sleep(Duration::from_millis(20)),
            }
        }
    }
}

/// Starts `command` with all its words going to `log`.
fn logged(command: &mut Command, log: &Path) -> Result<Child, String> {
    let output = File::create(log).and_then(|file| Ok((file.try_clone()?, file)));
    let (output, errors) = output.map_err(|error| format!("cannot write: {error}"))?;
    command.stdin(Stdio::null()).stdout(output).stderr(errors);
    command
        .spawn()
        .map_err(|error| format!("cannot run {}: {error}", command.get_program().display()))
}

/// A log's words, whatever bytes are among them.
fn read(log: &Path) -> Result<String, String> {
    let bytes = fs::read(log).map_err(|error| format!("cannot read {}: {error}", log.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What the panic said that ended a model: the words after its place.
fn complaint(log: &str) -> Option<String> {
    let mut lines = log.lines().skip_while(|line| !line.contains("panicked at "));
    lines.next()?;
    lines.find(|line| !line.trim().is_empty()).map(|line| line.trim().to_owned())
}

/// Makes `to` what `from` is, but for what is built or hidden. Files that are the same already are
/// left alone, so that cargo need not build them again.
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

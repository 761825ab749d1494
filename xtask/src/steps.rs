//! Steps: one command each, named, timed, and added up at the end.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;
use std::time::{Duration, Instant};

use crate::tools::{needs, said, succeeds};

/// The steps of one call, and what became of them.
pub(crate) struct Steps {
    root: PathBuf,
    begun: Instant,
    /// Shows what a call of cargo prints at its end alone: other steps print meanwhile.
    is_beside: bool,
    done: Vec<(String, Duration)>,
    /// The steps that could not be done here, with the reasons.
    left_out: Vec<(String, String)>,
}

/// A step failed, and with it the call.
pub(crate) struct Failed {
    step: String,
    why: String,
}

impl Failed {
    pub(crate) fn new(step: &str, why: String) -> Failed {
        Failed { step: step.to_owned(), why }
    }

    /// Joins the failures of independent steps into one.
    pub(crate) fn all(outcomes: Vec<Result<(), Failed>>) -> Result<(), Failed> {
        let mut failed = outcomes.into_iter().filter_map(Result::err);
        let Some(first) = failed.next() else { return Ok(()) };
        Err(failed.fold(first, |all, next| Failed {
            why: format!("{}\ntest {} ... FAILED: {}", all.why, next.step, next.why),
            ..all
        }))
    }
}

impl Steps {
    /// No step done yet. Commands run in `root`.
    pub(crate) fn begin(root: &Path) -> Steps {
        Steps {
            root: root.to_owned(),
            begun: Instant::now(),
            is_beside: false,
            done: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// Runs steps that mostly wait beside others, which compute. What the former print is shown at
    /// the end of each.
    pub(crate) fn beside(
        &mut self,
        waiting: impl FnOnce(&mut Steps) -> Result<(), Failed> + Send,
        computing: impl FnOnce(&mut Steps) -> Result<(), Failed>,
    ) -> Result<(), Failed> {
        let mut steps = Steps { is_beside: true, ..Steps::begin(&self.root) };
        let outcomes = thread::scope(|scope| {
            let waits = scope.spawn(|| waiting(&mut steps));
            let computed = computing(self);
            let waited = waits.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            vec![computed, waited]
        });
        self.done.append(&mut steps.done);
        self.left_out.append(&mut steps.left_out);
        Failed::all(outcomes)
    }

    /// The workspace's root.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Runs cargo, where programs of others are there that its step needs.
    pub(crate) fn cargo_with(
        &mut self,
        programs: &[&str],
        name: &str,
        arguments: &str,
        variables: &[(&str, &str)],
    ) -> Result<(), Failed> {
        let missing = programs.iter().find_map(|program| needs(program, &["--version"]).err());
        if let Some(why) = missing {
            self.leave_out(name, &why);
            return Ok(());
        }
        self.cargo(name, arguments, variables)
    }

    /// A step that is one call of cargo, with its arguments between spaces and more `variables` in
    /// its environment.
    pub(crate) fn cargo(
        &mut self,
        name: &str,
        arguments: &str,
        variables: &[(&str, &str)],
    ) -> Result<(), Failed> {
        let set = variables.iter().map(|(variable, value)| format!("{variable}='{value}' "));
        let shown = format!("{}cargo {arguments}", set.collect::<String>());
        let mut command = cargo(&self.root);
        command.args(arguments.split_whitespace()).envs(variables.iter().copied());
        if !self.is_beside {
            return self.step(name, &shown, || succeeds(&mut command));
        }
        self.step(&format!("{name} (beside)"), &shown, || {
            let said = said(&mut command)?;
            println!("\n=== {name}, which ran beside the steps above\n{said}");
            Ok(())
        })
    }

    /// Runs `body` as a step; `shown` describes it to the reader.
    pub(crate) fn step(
        &mut self,
        name: &str,
        shown: &str,
        body: impl FnOnce() -> Result<(), String>,
    ) -> Result<(), Failed> {
        println!("\n=== {name}\n    {shown}");
        let begin = Instant::now();
        let outcome = body();
        let time = begin.elapsed();
        match outcome {
            Ok(()) => {
                println!("=== {name}: passed in {}", seconds(time));
                self.done.push((name.to_owned(), time));
                Ok(())
            }
            Err(why) => Err(Failed::new(name, why)),
        }
    }

    /// A step that cannot be done on this machine, and is not demanded of every one.
    pub(crate) fn leave_out(&mut self, name: &str, why: &str) {
        println!("\n=== {name}: left out: {why}");
        self.left_out.push((name.to_owned(), why.to_owned()));
    }

    /// Prints what passed, in the words of a test runner, and what failed.
    pub(crate) fn summarise(&self, outcome: &Result<(), Failed>) -> ExitCode {
        println!("\n=== summary");
        for (name, time) in &self.done {
            println!("test {name} ... ok ({})", seconds(*time));
        }
        for (name, why) in &self.left_out {
            println!("test {name} ... ignored, {why}");
        }
        if let Err(failed) = outcome {
            println!("test {} ... FAILED: {}", failed.step, failed.why);
        }
        println!(
            "\ntest result: {}. {} passed; {} failed; {} ignored; finished in {}",
            if outcome.is_ok() { "ok" } else { "FAILED" },
            self.done.len(),
            u8::from(outcome.is_err()),
            self.left_out.len(),
            seconds(self.begun.elapsed()),
        );
        if outcome.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Cargo, the one that runs us, in `directory`.
pub(crate) fn cargo(directory: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(directory);
    command
}

/// Returns the directory in which cargo builds: this program is in a folder of it, one for each
/// profile.
pub(crate) fn target_directory() -> Result<PathBuf, String> {
    let program = env::current_exe().map_err(|error| format!("which program is this? {error}"))?;
    let target = program.parent().and_then(Path::parent);
    target.map(Path::to_owned).ok_or_else(|| format!("{} is in no folder", program.display()))
}

/// A time as a reader wants it.
pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

//! Tools that watch memory and threads at run time: `AddressSanitizer`, `ThreadSanitizer`,
//! valgrind.
//!
//! Each runs whether or not the others are there. One that is absent is a failure of its own step,
//! reported in a line: the whole succeeds only where all have run and found nothing.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::steps::{Failed, Steps, cargo};
use crate::strategies::WAYS;

/// A target that has sanitizers.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The tests that `AddressSanitizer` watches. Not the others: they limit the address space, of
/// which a sanitizer reserves terabytes, and load a plugin that is built without (`survival`),
/// count allocations (`steady`), only compile (`refused`). Nor those that fill the arena
/// ([`FILLING`]).
const WATCHED: [&str; 6] = ["contract", "exact", "gate", "oracle", "storm", "torture"];

/// The module of `exact` that maps all of the arena.
const FILLING: &str = "arena_full::";

/// The reports of `ThreadSanitizer` that are suppressed. It does not know fences, by which the last
/// owner of an `Arc` tells that the others are done with it.
const SUPPRESSED: &str =
    "race:alloc::sync::Arc*drop_slow\nrace:windrow::family::shared::Shared*drop\n";

/// A sanitizer of the compiler's.
struct Sanitizer {
    name: &'static str,
    flags: &'static str,
    options: (&'static str, String),
}

/// Runs all of them.
pub(crate) fn run(steps: &mut Steps) -> Result<(), Failed> {
    let suppressions = steps.root().join("target/thread-sanitizer-suppressions");
    // There are tests that ask for more memory than there is.
    let address = Sanitizer {
        name: "address",
        flags: "-Zsanitizer=address",
        options: ("ASAN_OPTIONS", "detect_leaks=1:allocator_may_return_null=1".to_owned()),
    };
    let thread = Sanitizer {
        name: "thread",
        flags: "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer",
        options: ("TSAN_OPTIONS", format!("suppressions={}", suppressions.display())),
    };
    let mut outcomes = vec![
        address.watch_tests(steps),
        address.watch_races(steps),
        std::fs::write(&suppressions, SUPPRESSED)
            .map_err(|error| Failed::new("suppressions", error.to_string())),
        thread.watch_races(steps),
    ];
    let root = steps.root().to_owned();
    outcomes.push(steps.step("memcheck", "cargo test --test survival valgrind", || {
        needs("valgrind", &["--version"])?;
        let arguments = ["test", "--package", "windrow", "--test", "survival", "valgrind"];
        succeeds(cargo(&root).args(arguments))
    }));
    Failed::all(outcomes)
}

impl Sanitizer {
    /// Runs the tests.
    fn watch_tests(&self, steps: &mut Steps) -> Result<(), Failed> {
        let root = steps.root().to_owned();
        let name = format!("{} sanitizer, tests", self.name);
        steps.step(
            &name,
            &format!("RUSTFLAGS='{}' cargo test --target {TARGET}", self.flags),
            || {
                let mut command = self.cargo(&root)?;
                command.args(["test", "--package", "windrow", "--target", TARGET, "--lib"]);
                command.args(WATCHED.iter().flat_map(|test| ["--test", test]));
                command.args(["--", "--skip", FILLING]);
                succeeds(&mut command)
            },
        )
    }

    /// Runs the program that does everything at once, in each strategy.
    fn watch_races(&self, steps: &mut Steps) -> Result<(), Failed> {
        let root = steps.root().to_owned();
        let name = format!("{} sanitizer, races", self.name);
        steps.step(&name, &format!("RUSTFLAGS='{}' xtask/races.rs", self.flags), || {
            let mut command = self.cargo(&root)?;
            succeeds(command.args(["build", "--package", "windrow", "--lib", "--target", TARGET]))?;
            let built = self.target(&root).join(TARGET).join("debug");
            let program = built.join("races");
            let mut compiler = Command::new("rustup");
            compiler.args([
                "run",
                "nightly",
                "rustc",
                "--edition",
                "2024",
                "-g",
                "--target",
                TARGET,
            ]);
            compiler.args(self.flags.split(' ')).arg("--extern");
            compiler.arg(format!("windrow={}", built.join("libwindrow.rlib").display()));
            for place in [built.clone(), self.target(&root).join("debug")] {
                compiler.arg("-L").arg(format!("dependency={}", place.join("deps").display()));
            }
            compiler.arg("-o").arg(&program).arg(root.join("xtask/races.rs"));
            succeeds(&mut compiler)?;
            for (_, way) in WAYS {
                let (variable, options) = &self.options;
                let mut command = Command::new(&program);
                succeeds(command.env(variable, options).envs(way))?;
            }
            Ok(())
        })
    }

    /// Returns the nightly compiler's cargo, set to build for this sanitizer.
    fn cargo(&self, root: &Path) -> Result<Command, String> {
        needs("rustup", &["run", "nightly", "cargo", "--version"])?;
        let mut command = Command::new("rustup");
        let (variable, options) = &self.options;
        command.args(["run", "nightly", "cargo"]).current_dir(root);
        command.env("RUSTFLAGS", self.flags).env("CARGO_TARGET_DIR", self.target(root));
        command.env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only"); // for its reports
        command.env(variable, options);
        Ok(command)
    }

    /// Returns a build of its own: its flags change every crate.
    fn target(&self, root: &Path) -> PathBuf {
        root.join("target").join(format!("{}-sanitizer", self.name))
    }
}

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

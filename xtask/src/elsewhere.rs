//! Runs with another compiler or on another system.
//!
//! Of these, only the static build is part of `ci`, which needs a compiler and nothing else.

use std::path::Path;
use std::process::Command;

use crate::integrations;
use crate::sanitizers::{needs, succeeds};
use crate::steps::{Failed, Steps, cargo};
use crate::strategies::WAYS;

/// The library's manifest, which says how old a compiler may be.
const MANIFEST: &str = include_str!("../../Cargo.toml");

/// The tests that make sense under Miri: not those of the arena, which fill it and take hours
/// there, nor those that read a clock. Miri has no `clock_getres`, and `quanta` asks the processor
/// in assembly.
const INTERPRETED: [&str; 7] =
    ["miri", "test", "--package", "windrow", "--lib", "--", "--skip=arena"];

/// Links a program with glibc's archives.
const STATIC: &str = "-C target-feature=+crt-static";

/// A race for a moment, of a program whose first line names its strategy. Flags reach no build
/// script where a target is named.
const LITMUS: [&str; 11] = [
    "run",
    "--quiet",
    "--package",
    "windrow-litmus",
    "--target",
    "x86_64-unknown-linux-gnu",
    "--",
    "add_close",
    "--seconds",
    "0.1",
    "--trials=1000",
];

/// `crossbeam-epoch` obeys Tree Borrows and not Stacked Borrows (crossbeam-rs/crossbeam, issue
/// 545), makes pointers of numbers, and keeps its memory until the process ends.
const MIRI_FLAGS: &str = "-Zmiri-env-set=WINDROW_STRATEGY=portable -Zmiri-tree-borrows \
                          -Zmiri-permissive-provenance -Zmiri-ignore-leaks";

/// Runs the library's own tests, in each strategy. What only one system has, its tests leave out
/// elsewhere.
pub(crate) fn portable(steps: &mut Steps) -> Result<(), Failed> {
    for (name, way) in WAYS {
        let mut variables = way.to_vec();
        // By epochs, a bucket is closed only while no other thread is pinned. So that its numbers
        // are exact at once, one test runs at a time.
        if way.contains(&("WINDROW_STRATEGY", "epochs")) {
            variables.push(("RUST_TEST_THREADS", "1"));
        }
        let tests =
            ["test", "--package", "windrow", "--all-features", "--lib", "--tests", "--examples"];
        steps.cargo(&format!("tests, {name}"), &tests, &variables)?;
        let in_docs = ["test", "--package", "windrow", "--all-features", "--doc"];
        steps.cargo(&format!("tests in the docs, {name}"), &in_docs, &variables)?;
    }
    Ok(())
}

/// Runs a statically linked litmus program, which counts in the same way as a dynamic one.
///
/// Without a table of symbols, glibc's restartable sequences are found by the linker alone.
pub(crate) fn linked_statically(steps: &mut Steps) -> Result<(), Failed> {
    const STEP: &str = "linked statically";
    if !cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")) {
        steps.leave_out(STEP, "restartable sequences are used with glibc on x86-64 alone");
        return Ok(());
    }
    let root = steps.root().to_owned();
    steps.step(STEP, &format!("RUSTFLAGS='{STATIC}' cargo {}", LITMUS.join(" ")), || {
        let [dynamic, linked] = ["", STATIC].map(|flags| {
            let mut command = cargo(&root);
            command.args(LITMUS).env("RUSTFLAGS", flags).env("WINDROW_STRATEGY", "");
            let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
            let shown = String::from_utf8_lossy(&output.stdout).into_owned();
            if output.status.success() {
                Ok(shown.lines().next().unwrap_or_default().to_owned())
            } else {
                Err(format!("{shown}{}", String::from_utf8_lossy(&output.stderr)))
            }
        });
        let (dynamic, linked) = (dynamic?, linked?);
        println!("{linked}");
        if dynamic == linked { Ok(()) } else { Err(format!("{linked}; dynamically: {dynamic}")) }
    })
}

/// Builds the library, and the packages published beside it, with the oldest compiler that its
/// manifest allows.
pub(crate) fn oldest(steps: &mut Steps) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    let version = oldest_version(MANIFEST);
    let mut build: Vec<String> =
        ["build", "--package=windrow", "--all-features", "--lib"].map(str::to_owned).to_vec();
    build.extend(integrations::arguments(&root));
    let shown = format!("rustup run {version} cargo {}", build.join(" "));
    steps.step("the oldest compiler", &shown, || {
        needs("rustup", &["run", version, "cargo", "--version"])?;
        let mut command = other_cargo(&root, version);
        command.args(&build);
        succeeds(command.env("CARGO_TARGET_DIR", root.join("target/oldest")))
    })
}

/// The portable path under Miri.
pub(crate) fn miri(steps: &mut Steps) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    let shown = format!("rustup run nightly cargo {}", INTERPRETED.join(" "));
    steps.step("Miri", &shown, || {
        needs("rustup", &["run", "nightly", "cargo", "miri", "--version"])?;
        let mut command = other_cargo(&root, "nightly");
        succeeds(command.args(INTERPRETED).env("MIRIFLAGS", MIRI_FLAGS))
    })
}

/// Cargo of another toolchain.
fn other_cargo(root: &Path, toolchain: &str) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", toolchain, "cargo"]).current_dir(root);
    command
}

/// Returns the `rust-version` of the package in `manifest`; that of the workspace stands before it.
fn oldest_version(manifest: &str) -> &str {
    let package = manifest.split_once("\n[package]\n").map_or("", |(_, package)| package);
    let version = package.lines().find_map(|line| line.strip_prefix("rust-version = \""));
    version.and_then(|version| version.split('"').next()).unwrap_or("stable")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_says_how_old_a_compiler_may_be() {
        let version = oldest_version(MANIFEST);
        assert!(version.starts_with("1."), "{version}");
        let manifest = "[workspace.package]\nrust-version = \"1.2\"\n\n[package]\nname = \"a\"\n";
        assert_eq!(oldest_version(manifest), "stable");
        assert_eq!(oldest_version(&format!("{manifest}rust-version = \"1.1\" # why\n")), "1.1");
    }

    /// The pages name the same compilers.
    #[test]
    fn the_readme_says_the_same() {
        let readme = include_str!("../../README.md");
        assert!(readme.contains(&format!("Rust {}", oldest_version(MANIFEST))));
    }
}

//! Runs with another compiler or on another system, and the check of dependencies.
//!
//! None of it is part of `test` or `ci`, which need a compiler and nothing else.

use std::path::Path;
use std::process::Command;

use crate::integrations;
use crate::sanitizers::{needs, succeeds};
use crate::steps::{Failed, Steps};
use crate::strategies::WAYS;

/// The library's manifest, which says how old a compiler may be.
const MANIFEST: &str = include_str!("../../Cargo.toml");

/// The tests that make sense under Miri: not those of the arena, which fill it and take hours there, nor what
/// reads a clock. Miri has no `clock_getres`, and `quanta` asks the processor in assembly.
const INTERPRETED: [&str; 7] =
    ["miri", "test", "--package", "windrow", "--lib", "--", "--skip=arena"];

/// `crossbeam-epoch` obeys Tree Borrows and not Stacked Borrows (crossbeam-rs/crossbeam, issue 545), makes
/// pointers of numbers, and keeps what it has for the process.
const MIRI_FLAGS: &str = "-Zmiri-env-set=WINDROW_STRATEGY=portable -Zmiri-tree-borrows \
                          -Zmiri-permissive-provenance -Zmiri-ignore-leaks";

/// The library's own tests, in each strategy. What only one system has, its tests leave out elsewhere.
pub(crate) fn portable(steps: &mut Steps) -> Result<(), Failed> {
    for (name, variables) in WAYS {
        let tests =
            ["test", "--package", "windrow", "--all-features", "--lib", "--tests", "--examples"];
        steps.cargo(&format!("tests, {name}"), &tests, &variables)?;
        let in_docs = ["test", "--package", "windrow", "--all-features", "--doc"];
        steps.cargo(&format!("tests in the docs, {name}"), &in_docs, &variables)?;
    }
    Ok(())
}

/// The library, and what is published beside it, built by the oldest compiler that its manifest allows.
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

/// Licences, advisories and duplicates among the dependencies, by `deny.toml`.
pub(crate) fn deny(steps: &mut Steps) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    steps.step("dependencies", "cargo deny check", || {
        needs("cargo", &["deny", "--version"])?;
        succeeds(Command::new("cargo").args(["deny", "check"]).current_dir(&root))
    })
}

/// Cargo of another toolchain.
fn other_cargo(root: &Path, toolchain: &str) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", toolchain, "cargo"]).current_dir(root);
    command
}

/// The `rust-version` of the package in `manifest`; that of the workspace stands before it.
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

//! The ways to build.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::steps::cargo;
use crate::tools::said;

/// The files that a build has made.
pub(super) struct Made {
    pub(super) program: PathBuf,
    pub(super) object: PathBuf,
}

/// A way to build: its name, and settings of the release profile, by the ends of their variables.
pub(super) type Build = (&'static str, &'static [(&'static str, &'static str)]);

/// All of them; the first one is the release profile as it is.
pub(super) const BUILDS: [Build; 11] = [
    ("release", &[]),
    ("fat LTO", &[("LTO", "fat"), ("CODEGEN_UNITS", "1")]),
    ("thin LTO", &[("LTO", "thin")]),
    ("opt-level s", &[("OPT_LEVEL", "s")]),
    ("opt-level z", &[("OPT_LEVEL", "z")]),
    ("panic=abort", &[("PANIC", "abort")]),
    ("panic=abort, fat LTO", &[("PANIC", "abort"), ("LTO", "fat")]),
    ("one codegen unit", &[("CODEGEN_UNITS", "1")]),
    ("256 codegen units", &[("CODEGEN_UNITS", "256")]),
    ("debug assertions", &[("DEBUG_ASSERTIONS", "true"), ("OVERFLOW_CHECKS", "true")]),
    ("target-cpu=native", &[("RUSTFLAGS", "-C target-cpu=native")]),
];

/// Builds the program and the shared object, in a folder of their own.
pub(super) fn make((name, settings): &Build, root: &Path, folder: &Path) -> Result<Made, String> {
    let target = folder.join(name.replace(' ', "-"));
    let host = said(Command::new("rustc").args(["--print", "host-tuple"]))?;
    let mut command = cargo(root);
    command.args(["build", "--quiet", "--release", "--target", &host]);
    command.args(["--package", "windrow-wild", "--package", "windrow-wild-object"]);
    // Flags for a named target reach no build script.
    command.env("CARGO_TARGET_DIR", &target).env("RUSTFLAGS", "");
    command.envs(settings.iter().map(|(setting, value)| (variable(setting), value)));
    said(&mut command)?;
    let made = target.join(&host).join("release");
    let object = made.join("libwindrow_wild_object.so");
    Ok(Made { program: made.join("windrow-wild"), object })
}

/// Returns what a reader can type to build the same.
pub(super) fn shown((_, settings): &Build) -> String {
    let set = settings.iter().map(|(setting, value)| format!("{}='{value}' ", variable(setting)));
    set.collect::<String>() + "cargo build --release -p windrow-wild -p windrow-wild-object"
}

/// Returns the variable of a setting.
fn variable(setting: &str) -> String {
    let profile = if setting == "RUSTFLAGS" { "" } else { "CARGO_PROFILE_RELEASE_" };
    format!("{profile}{setting}")
}

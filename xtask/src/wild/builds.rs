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

/// A way to build.
pub(super) struct Build {
    pub(super) name: &'static str,
    /// The name of its folder.
    pub(super) slug: &'static str,
    /// Settings of the release profile, by the names of their variables.
    profile: &'static [(&'static str, &'static str)],
    /// Flags of the compiler.
    flags: &'static str,
}

const fn build(
    name: &'static str,
    slug: &'static str,
    profile: &'static [(&'static str, &'static str)],
) -> Build {
    Build { name, slug, profile, flags: "" }
}

/// All of them; the first one is the release profile as it is.
pub(super) const BUILDS: [Build; 11] = [
    build("release", "release", &[]),
    build("fat LTO", "fat", &[("LTO", "fat"), ("CODEGEN_UNITS", "1")]),
    build("thin LTO", "thin", &[("LTO", "thin")]),
    build("opt-level s", "s", &[("OPT_LEVEL", "s")]),
    build("opt-level z", "z", &[("OPT_LEVEL", "z")]),
    build("panic=abort", "abort", &[("PANIC", "abort")]),
    build("panic=abort, fat LTO", "abort-fat", &[("PANIC", "abort"), ("LTO", "fat")]),
    build("one codegen unit", "one-unit", &[("CODEGEN_UNITS", "1")]),
    build("256 codegen units", "many-units", &[("CODEGEN_UNITS", "256")]),
    build(
        "debug assertions",
        "asserting",
        &[("DEBUG_ASSERTIONS", "true"), ("OVERFLOW_CHECKS", "true")],
    ),
    Build { flags: "-C target-cpu=native", ..build("target-cpu=native", "native", &[]) },
];

impl Build {
    /// Returns what a reader can type to build the same.
    pub(super) fn shown(&self) -> String {
        let settings = self.profile.iter().map(|(name, value)| format!("{}={value} ", of(name)));
        let settings: String = settings.collect();
        let build = "cargo build --release -p windrow-wild -p windrow-wild-object";
        format!("RUSTFLAGS='{}' {settings}{build}", self.flags)
    }

    /// Builds the program and the shared object, in a folder of their own.
    pub(super) fn make(&self, root: &Path, folder: &Path) -> Result<Made, String> {
        let (target, host) = (folder.join(self.slug), host()?);
        let mut command = cargo(root);
        command.args(["build", "--quiet", "--release", "--target", &host]);
        command.args(["--package", "windrow-wild", "--package", "windrow-wild-object"]);
        // Flags for a named target reach no build script.
        command.env("CARGO_TARGET_DIR", &target).env("RUSTFLAGS", self.flags);
        command.envs(self.profile.iter().map(|(name, value)| (of(name), value)));
        said(&mut command)?;
        let made = target.join(&host).join("release");
        let object = made.join("libwindrow_wild_object.so");
        Ok(Made { program: made.join("windrow-wild"), object })
    }
}

/// Returns the variable of a setting of the release profile.
fn of(setting: &str) -> String {
    format!("CARGO_PROFILE_RELEASE_{setting}")
}

/// Returns this machine's target.
fn host() -> Result<String, String> {
    let text = said(Command::new("rustc").arg("-vV"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned).ok_or_else(|| "rustc does not say its host".to_owned())
}

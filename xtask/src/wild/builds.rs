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
    pub(super) flags: &'static str,
    /// True if a run is measured first, which the compiler then uses.
    pub(super) is_guided: bool,
}

const fn by_profile(
    name: &'static str,
    slug: &'static str,
    profile: &'static [(&'static str, &'static str)],
) -> Build {
    Build { name, slug, profile, flags: "", is_guided: false }
}

/// All of them; the first one is the release profile as it is.
pub(super) const BUILDS: [Build; 12] = [
    by_profile("release", "release", &[]),
    by_profile("fat LTO", "fat", &[("LTO", "fat"), ("CODEGEN_UNITS", "1")]),
    by_profile("thin LTO", "thin", &[("LTO", "thin")]),
    by_profile("opt-level s", "s", &[("OPT_LEVEL", "s")]),
    by_profile("opt-level z", "z", &[("OPT_LEVEL", "z")]),
    by_profile("panic=abort", "abort", &[("PANIC", "abort")]),
    by_profile("panic=abort, fat LTO", "abort-fat", &[("PANIC", "abort"), ("LTO", "fat")]),
    by_profile("one codegen unit", "one-unit", &[("CODEGEN_UNITS", "1")]),
    by_profile("256 codegen units", "many-units", &[("CODEGEN_UNITS", "256")]),
    by_profile(
        "debug assertions",
        "asserting",
        &[("DEBUG_ASSERTIONS", "true"), ("OVERFLOW_CHECKS", "true")],
    ),
    Build {
        name: "target-cpu=native",
        slug: "native",
        profile: &[],
        flags: "-C target-cpu=native",
        is_guided: false,
    },
    Build { name: "guided by a profile", slug: "guided", profile: &[], flags: "", is_guided: true },
];

impl Build {
    /// Returns what a reader can type to build the same.
    pub(super) fn shown(&self, flags: &str) -> String {
        let settings = self.profile.iter().map(|(name, value)| format!("{}={value} ", of(name)));
        let flags = if flags.is_empty() { String::new() } else { format!("RUSTFLAGS='{flags}' ") };
        let settings: String = settings.collect();
        format!("{flags}{settings}cargo build --release -p windrow-wild -p windrow-wild-object")
    }

    /// Builds the program and the shared object, in a folder of this name.
    pub(super) fn make(
        &self,
        root: &Path,
        folder: &Path,
        slug: &str,
        flags: &str,
    ) -> Result<Made, String> {
        let (target, host) = (folder.join(slug), host()?);
        let mut command = cargo(root);
        command.args(["build", "--quiet", "--release", "--target", &host]);
        command.args(["--package", "windrow-wild", "--package", "windrow-wild-object"]);
        // Flags for a named target reach no build script.
        command.env("CARGO_TARGET_DIR", &target).env("RUSTFLAGS", flags);
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
    about_compiler("host: ")
}

/// Returns what the compiler says of itself in the line that begins so.
pub(super) fn about_compiler(begins: &str) -> Result<String, String> {
    let text = said(Command::new("rustc").arg("-vV"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(begins));
    line.map(str::to_owned).ok_or_else(|| format!("rustc does not say its `{begins}`"))
}

//! A build that is guided by the profile of a run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::builds::{Build, about_compiler};
use super::ways::{TIMES, ways};
use crate::steps::{Failed, Steps};
use crate::tools::{needs, said};

/// Returns the compiler's flags for a build; `None` if it must be left out here. For a guided one,
/// builds and runs the program first, in each strategy, and merges what it has counted.
pub(super) fn flags(
    steps: &mut Steps,
    root: &Path,
    folder: &Path,
    build: &Build,
) -> Result<Option<String>, Failed> {
    if !build.is_guided {
        return Ok(Some(build.flags.to_owned()));
    }
    let name = format!("wild, {}", build.name);
    let merger = match merger() {
        Ok(merger) => merger,
        Err(why) => {
            steps.leave_out(&name, &why);
            return Ok(None);
        }
    };
    let (raw, all) = (folder.join("profiles"), folder.join("merged.profdata"));
    let measured = format!("-C profile-generate={}", raw.display());
    steps.step(&format!("{name}: a run that is measured"), &build.shown(&measured), || {
        let _ = fs::remove_dir_all(&raw); // there may be none
        let made = build.make(root, folder, "measured", &measured)?;
        for (_, way) in ways() {
            said(Command::new(&made.program).arg(TIMES).envs(way))?;
        }
        let mut command = Command::new(&merger);
        said(command.args(["merge", "-o"]).arg(&all).arg(&raw)).map(|_| ())
    })?;
    Ok(Some(format!("-C profile-use={}", all.display())))
}

/// Returns the program that merges profiles. It must be of the compiler's own version of LLVM, or
/// a newer one, which reads older profiles; Debian has several. Installs it if that is possible.
fn merger() -> Result<PathBuf, String> {
    let version = about_compiler("LLVM version: ")?;
    let major = version.split('.').next().unwrap_or_default();
    let program = PathBuf::from(format!("/usr/lib/llvm-{major}/bin/llvm-profdata"));
    if !program.exists() {
        println!("    installing by apt-get: llvm-{major}");
        let mut command = Command::new("apt-get");
        command.args(["install", "--quiet=2", "--yes", "--no-install-recommends"]);
        let _ = said(command.arg(format!("llvm-{major}"))); // what counts is the next line
    }
    let shown = program.display().to_string();
    needs(&shown, &["merge", "--help"]).map_err(|_| {
        format!("there is no llvm-profdata of LLVM {major} (Debian's llvm-{major})")
    })?;
    Ok(program)
}

//! The loops of the comparison of the strategies, built with an earlier windrow: the sources of a
//! commit, with today's `benches/loops` among them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::copy;
use crate::sources::{read, write};
use crate::steps::{Failed, Steps, cargo};
use crate::tools::succeeds;

const LOOPS: &str = "benches/loops";

/// Builds them below `target`; the program.
pub(crate) fn build(steps: &mut Steps, target: &Path, commit: &str) -> Result<PathBuf, Failed> {
    let root = steps.root().to_owned();
    let place = target.join("before");
    let (sources, output) = (place.join("sources"), place.join("target"));
    steps.step("an earlier windrow", &format!("git archive {commit}"), || {
        take(&root, &place, &sources, commit)?;
        let today = root.join(LOOPS);
        copy::make(&today, &sources.join(LOOPS))?;
        let manifest = sources.join("Cargo.toml");
        write(&manifest, &with_loops(&read(&manifest)?))?;
        let mut command = cargo(&sources);
        command.args(["build", "--release", "--package", "windrow-loops"]);
        if !read(&sources.join("src/lib.rs"))?.contains("leases") {
            command.args(["--features", "before"]);
        }
        succeeds(command.env("CARGO_TARGET_DIR", &output))
    })?;
    Ok(output.join("release").join(format!("windrow-loops{}", std::env::consts::EXE_SUFFIX)))
}

/// Puts the sources of `commit` into `sources`.
pub(crate) fn take(root: &Path, place: &Path, sources: &Path, commit: &str) -> Result<(), String> {
    let archive = place.join("sources.tar");
    if sources.exists() {
        fs::remove_dir_all(sources).map_err(|error| error.to_string())?;
    }
    fs::create_dir_all(sources).map_err(|error| error.to_string())?;
    let mut git = Command::new("git");
    git.current_dir(root).args(["archive", "--format=tar", "--output"]).arg(&archive);
    succeeds(git.arg("--end-of-options").arg(commit))?;
    succeeds(Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(sources))
}

/// Returns the manifest of a workspace, with the loops among its members.
fn with_loops(manifest: &str) -> String {
    if manifest.contains(&format!("\"{LOOPS}\"")) {
        return manifest.to_owned();
    }
    manifest.replacen("members = [", &format!("members = [\"{LOOPS}\", "), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loops_are_a_member_once() {
        let with = with_loops("[workspace]\nmembers = [\"benches\"]\n");
        assert_eq!(with, "[workspace]\nmembers = [\"benches/loops\", \"benches\"]\n");
        assert_eq!(with_loops(&with), with);
    }
}

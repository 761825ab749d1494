//! The sources of an earlier windrow, with some of today's among them.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::copy;
use crate::tools::succeeds;

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

/// Puts today's folder or file `name` in the place of the earlier one.
pub(crate) fn replace(root: &Path, sources: &Path, name: &str) -> Result<(), String> {
    let today = root.join(name);
    if today.is_dir() {
        return copy::make(&today, &sources.join(name));
    }
    fs::copy(today, sources.join(name)).map(|_| ()).map_err(|error| error.to_string())
}

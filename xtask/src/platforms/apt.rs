//! Debian's packages: those that are installed, and those of other architectures and suites, which
//! are unpacked in a folder. The machine's own lists of packages stay as they are.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sources::{self, write};
use crate::tools::{said, succeeds};

/// The mirror, and the key that signs its lists. A suite that the machine's own list does not name
/// is of the same mirror.
const MIRROR: &str = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] \
                      http://deb.debian.org/debian";

/// Installs each package whose file is absent, and says so. Fails with the files that are absent
/// after that.
pub(super) fn install<T: AsRef<str>>(wanted: &[[T; 2]]) -> Result<(), String> {
    let packages = absent(wanted);
    if packages.is_empty() {
        return Ok(());
    }
    println!("    installing by apt-get: {}", packages.join(" "));
    // Its many lines tell nothing, unless it fails.
    let by_apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        said(command.arg("--quiet=2").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    // Lists that are years old name packages that are gone.
    let mut arguments = vec!["install", "--yes", "--no-install-recommends"];
    arguments.extend(&packages);
    let outcome = by_apt(&["update"]).and_then(|_| by_apt(&arguments));
    let left = absent(wanted);
    match outcome {
        _ if left.is_empty() => Ok(()),
        Ok(_) => Err(format!("apt-get has installed {}, but not its files", left.join(" "))),
        Err(why) => Err(format!("MISSING: {}: {}", left.join(" "), why.trim())),
    }
}

/// Returns the packages whose files are absent.
fn absent<T: AsRef<str>>(wanted: &[[T; 2]]) -> Vec<&str> {
    let is_absent = |[file, _]: &&[T; 2]| !Path::new(file.as_ref()).exists();
    wanted.iter().filter(is_absent).map(|[_, package]| package.as_ref()).collect()
}

/// A suite of Debian's for one architecture: lists, and packages that were downloaded, in a folder.
pub(super) struct Suite(PathBuf);

impl Suite {
    /// Reads the lists of `suite`, unless they are there.
    pub(super) fn open(root: &Path, suite: &str, architecture: &str) -> Result<Suite, String> {
        let there = Suite(root.join(format!("apt-{suite}-{architecture}")));
        let apt = &there.0;
        if apt.join("updated").exists() {
            return Ok(there);
        }
        let parts = "etc/apt/apt.conf.d etc/apt/preferences.d var/lib/dpkg packages \
                     var/lib/apt/lists/partial var/cache/apt/archives/partial";
        for part in parts.split(' ') {
            let made = fs::create_dir_all(apt.join(part));
            made.map_err(|error| format!("{}: {error}", apt.display()))?;
        }
        write(&apt.join("var/lib/dpkg/status"), "")?;
        write(&apt.join("etc/apt/sources.list"), &format!("deb {MIRROR} {suite} main\n"))?;
        let settings = format!(
            "Dir \"{0}\";\nDir::State::status \"{0}/var/lib/dpkg/status\";\n\
             APT::Architecture \"{architecture}\";\nAPT::Architectures {{ \"{architecture}\"; }};\n\
             Acquire::Languages \"none\";\nAPT::Sandbox::User \"root\";\n",
            apt.display()
        );
        write(&apt.join("apt.conf"), &settings)?;
        println!("    reading the lists of {suite}, {architecture}, by apt-get");
        succeeds(there.by_apt("apt-get").args(["--quiet=2", "update"]))?;
        write(&apt.join("updated"), "")?;
        Ok(there)
    }

    fn by_apt(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.0.join("packages"));
        command.env("APT_CONFIG", self.0.join("apt.conf"));
        command
    }

    /// Unpacks `package` in `into`. A package that only depends on the newest of its kind is taken
    /// for that one.
    pub(super) fn unpack(&self, package: &str, into: &Path) -> Result<(), String> {
        let package = self.newest(package)?;
        println!("    downloading by apt-get: {package}");
        succeeds(self.by_apt("apt-get").args(["--quiet=2", "download", &package]))?;
        let (folder, begins) = (self.0.join("packages"), format!("{package}_"));
        let file = sources::all(&folder)?.into_iter().rfind(|file| file.starts_with(&begins));
        let file = file.ok_or(format!("apt-get has downloaded no {package}"))?;
        succeeds(Command::new("dpkg").arg("-x").arg(folder.join(file)).arg(into))
    }

    /// Returns the newest kernel's package, if `package` stands for it; otherwise `package`.
    fn newest(&self, package: &str) -> Result<String, String> {
        if !package.starts_with("linux-image-") {
            return Ok(package.to_owned());
        }
        let text = said(self.by_apt("apt-cache").args(["depends", package]))?;
        let name = text.lines().find_map(|line| line.trim().strip_prefix("Depends: "));
        let name = name.filter(|name| name.starts_with("linux-image-"));
        name.map(str::to_owned).ok_or(format!("there is no {package}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_whose_files_are_there_are_not_installed() {
        let wanted = [["/", "root"], ["/no/such/file", "windrow-is-no-package"]];
        assert_eq!(absent(&wanted), ["windrow-is-no-package"]);
    }
}

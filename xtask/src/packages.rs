//! The packages as a user gets them: packed, unpacked, built, and documented as the documentation
//! site does it; and what must be right before they are published.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::integrations;
use crate::steps::{Failed, Steps, cargo, target_directory};
use crate::tools::{needs, succeeds};

/// The place of the unpacked packages and of their builds.
const UNPACKED: &str = "target/packages/windrow";
const BUILT: &str = "target/packages/built";

/// Stands for the owner of the repository, whose address is not known yet.
const PLACEHOLDER: &str = concat!("github.com/", "OWNER");

/// The page that says how to replace it.
const EXPLAINED: &str = "docs/releasing.md";

/// Packs, unpacks, builds and documents the published packages, also as the documentation site
/// does.
pub(crate) fn run(steps: &mut Steps) -> Result<(), Failed> {
    pack_all(steps)?;
    documented(steps)
}

/// Packs, unpacks, builds and documents the published packages.
fn pack_all(steps: &mut Steps) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    let unpacked = root.join(UNPACKED);
    steps.step("packages", "cargo package; cargo build and cargo doc of the packages", || {
        unpack(&root, &unpacked)?;
        let built = root.join(BUILT);
        let all = ["--workspace", "--all-features", "--lib"];
        let mut command = cargo(&unpacked);
        command.arg("build").args(all).env("CARGO_TARGET_DIR", &built);
        succeeds(command.env("CARGO_PROFILE_DEV_DEBUG", "false"))?;
        let mut command = cargo(&unpacked);
        command.arg("doc").args(all).arg("--no-deps").env("CARGO_TARGET_DIR", &built);
        succeeds(command.env("RUSTDOCFLAGS", "-D warnings"))
    })
}

/// Documents the packages that [`pack_all`] has unpacked, as the documentation site does it.
fn documented(steps: &mut Steps) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    let name = "packages, as the documentation site builds them";
    if let Err(why) = needs("rustup", &["run", "nightly", "cargo", "--version"]) {
        steps.leave_out(name, &why);
        return Ok(());
    }
    let flags = "--cfg docsrs -D warnings";
    steps.step(name, &format!("RUSTDOCFLAGS='{flags}' cargo +nightly doc"), || {
        let mut command = Command::new("rustup");
        command.args(["run", "nightly", "cargo", "doc", "--workspace", "--all-features"]);
        command.args(["--lib", "--no-deps"]).current_dir(root.join(UNPACKED));
        command.env("CARGO_TARGET_DIR", root.join("target/packages/nightly"));
        succeeds(command.env("RUSTDOCFLAGS", flags))
    })
}

/// Demands what a release needs beside the tests: that no file names the placeholder, that the
/// version number says what breaks, and that the packages are whole.
pub(crate) fn releasable(steps: &mut Steps) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    steps.step("the repository's address", &format!("git grep {PLACEHOLDER}"), || {
        let named = naming(&root)?;
        if named.is_empty() {
            return Ok(());
        }
        Err(format!("replace `{PLACEHOLDER}` ({EXPLAINED} says by what) in:\n{named}"))
    })?;
    let name = "the version number, beside the latest release";
    match latest_release(&root) {
        None => steps.leave_out(name, "there is no release: no tag begins with `v`"),
        Some(tag) => steps.step(name, "cargo semver-checks", || {
            needs("cargo", &["semver-checks", "--version"])?;
            let mut command = cargo(&root);
            command.args(["semver-checks", "--baseline-rev", &tag]).args(packages(&root));
            succeeds(&mut command)
        })?,
    }
    run(steps)
}

/// Returns the tag of the latest release, if there is one.
fn latest_release(root: &Path) -> Option<String> {
    let mut command = Command::new("git");
    command.args(["tag", "--list", "v[0-9]*", "--sort=-version:refname"]).current_dir(root);
    let tags = command.output().ok().filter(|output| output.status.success())?.stdout;
    String::from_utf8_lossy(&tags).lines().next().map(str::to_owned)
}

/// Returns the arguments that name the published packages.
fn packages(root: &Path) -> Vec<String> {
    ["--package=windrow".to_owned()].into_iter().chain(integrations::arguments(root)).collect()
}

/// Returns the files that name the placeholder, except the page that explains it.
fn naming(root: &Path) -> Result<String, String> {
    let mut command = Command::new("git");
    command.args(["grep", "--untracked", "-lF", PLACEHOLDER, "--", "."]).current_dir(root);
    command.arg(format!(":!{EXPLAINED}"));
    let output = command.output().map_err(|error| format!("cannot run git: {error}"))?;
    // It ends with 1 where nothing was found.
    if output.status.code().is_some_and(|code| code <= 1) {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Packs the packages, and makes a workspace of them, in which each depends on the others as they
/// were packed: the registry does not have them yet.
fn unpack(root: &Path, to: &Path) -> Result<(), String> {
    let told = |error| format!("{}: {error}", to.display());
    let packages = packages(root);
    let mut command = cargo(root);
    command
        .args(["package", "--quiet", "--no-verify", "--exclude-lockfile", "--allow-dirty"])
        .args(&packages);
    succeeds(&mut command)?;
    if to.exists() {
        fs::remove_dir_all(to).map_err(told)?;
    }
    fs::create_dir_all(to).map_err(told)?;
    let (mut members, mut patches) = (Vec::new(), String::new());
    for package in packages {
        let name = package.trim_start_matches("--package=");
        let folder = format!("{name}-{}", env!("CARGO_PKG_VERSION"));
        let packed = packed(&folder)?;
        succeeds(Command::new("tar").arg("-xzf").arg(&packed).arg("-C").arg(to))?;
        patches.extend([name, " = { path = \"", &folder, "\" }\n"]);
        members.push(folder);
    }
    let manifest = format!(
        "[workspace]\nresolver = \"3\"\nmembers = {members:?}\n\n[patch.crates-io]\n{patches}"
    );
    fs::write(to.join("Cargo.toml"), manifest).map_err(told)?;
    // The same versions of others, so that nothing is fetched.
    fs::copy(root.join("Cargo.lock"), to.join("Cargo.lock")).map_err(told)?;
    Ok(())
}

/// Returns where cargo puts a package.
fn packed(folder: &str) -> Result<PathBuf, String> {
    Ok(target_directory()?.join("package").join(format!("{folder}.crate")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

    #[test]
    fn the_latest_release_is_that_with_the_greatest_number() {
        let root = std::env::temp_dir().join(format!("windrow-tags-{}", std::process::id()));
        fs::create_dir_all(&root).unwrap();
        let git = |arguments: &[&str]| {
            let output = Command::new("git").args(arguments).current_dir(&root).output().unwrap();
            assert!(output.status.success(), "{arguments:?}");
        };
        git(&["init", "--quiet"]);
        assert_eq!(latest_release(&root), None);
        let name = ["-c", "user.name=a", "-c", "user.email=a@b.c"];
        git(&[&name[..], &["commit", "--quiet", "--allow-empty", "--message=a"]].concat());
        for tag in ["v0.9.0", "v0.10.0", "other"] {
            git(&["tag", tag]);
        }
        let latest = latest_release(&root);
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(latest.as_deref(), Some("v0.10.0"));
    }

    /// The registry takes the pictures of a README from there.
    #[test]
    fn each_package_that_is_published_names_the_repository() {
        let mut folders = integrations::folders(Path::new(ROOT)).unwrap();
        folders.insert(".".to_owned());
        for folder in folders {
            let manifest = Path::new(ROOT).join(&folder).join("Cargo.toml");
            let manifest = fs::read_to_string(manifest).unwrap();
            assert!(manifest.contains("\nrepository.workspace = true\n"), "{folder}");
        }
    }
}

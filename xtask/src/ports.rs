//! Programs of others on windrow: copies of published crates with a file of ours, in the place of
//! one of theirs or beside them (`benches/ports`). Their own tests run on the copies; then both are
//! measured, before and after.
//!
//! Nothing of theirs is in this repository: the copies are made from cargo's downloads, below the
//! target directory.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::copy;
use crate::sources::{read, write};
use crate::steps::{Failed, Steps, cargo, target_directory};
use crate::tools::{said, succeeds};

mod list;

use list::{Edit, Port, ports};

/// The folder of our ports.
const OURS: &str = "benches/ports";

/// The folder of the copies, where the manifest of ours has them.
const COPIES: &str = "target/ports";

/// Makes the copies, runs the crates' own tests on those with a file of ours, and measures both.
pub(crate) fn run(steps: &mut Steps, passed_on: &[OsString]) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    let target = target_directory().map_err(|why| Failed::new("where to build", why))?;
    let all = ports().map_err(|why| Failed::new("the list of ports", why))?;
    let copies = root.join(COPIES);
    let output = target.join("ports/target");
    steps.step("the published crates", "cargo metadata", || {
        let sources = published(&all, &copies.join("published"))?;
        // The versions that everything else here is built with.
        fs::copy(root.join("Cargo.lock"), root.join(OURS).join("Cargo.lock"))
            .map_err(|error| error.to_string())?;
        all.iter().zip(sources).try_for_each(|(port, source)| port.copy(&root, &source, &copies))
    })?;
    for port in &all {
        for run in &port.tests {
            let manifest = format!("{COPIES}/ported/{}/Cargo.toml", port.name);
            let tests = format!("test --manifest-path {manifest} {run}");
            let name = format!("tests of {}, on windrow", port.name);
            steps.cargo(&name, &tests, &[("CARGO_TARGET_DIR", &output.to_string_lossy())])?;
        }
    }
    let build = format!("build --release --manifest-path {OURS}/Cargo.toml");
    steps.cargo("before and after", &build, &[("CARGO_TARGET_DIR", &output.to_string_lossy())])?;
    let program = output.join("release/windrow-ports");
    steps.step("before and after, measured", "windrow-ports", || {
        succeeds(Command::new(&program).args(passed_on))
    })
}

/// Returns where cargo keeps the sources of the crates, in their order: of a package at `place`
/// that depends on them.
fn published(ports: &[Port], place: &Path) -> Result<Vec<PathBuf>, String> {
    let error = |error: std::io::Error| format!("{}: {error}", place.display());
    fs::create_dir_all(place.join("src")).map_err(error)?;
    fs::write(place.join("src/lib.rs"), "").map_err(error)?;
    let line = |port: &Port| format!("{} = \"={}\"\n", port.name, port.version);
    let wanted = ports.iter().map(line).collect::<Vec<_>>().concat();
    let manifest =
        format!("[package]\nname = \"published\"\n[workspace]\n[dependencies]\n{wanted}");
    fs::write(place.join("Cargo.toml"), manifest).map_err(error)?;
    let packages = said(cargo(place).args(["metadata", "--format-version", "1"]))?;
    let source = |port: &Port| {
        let end = format!("/{}-{}/Cargo.toml", port.name, port.version);
        let manifests = packages.split("\"manifest_path\":\"").skip(1);
        let mut manifests = manifests.filter_map(|rest| rest.split('"').next());
        let found = manifests.find(|manifest| manifest.ends_with(&end));
        let folder = found.and_then(|manifest| Path::new(manifest).parent());
        folder.map(Path::to_owned).ok_or_else(|| format!("cargo knows no {end}"))
    };
    ports.iter().map(source).collect()
}

impl Port {
    /// Makes both copies of the files in `source`.
    fn copy(&self, root: &Path, source: &Path, copies: &Path) -> Result<(), String> {
        for whose in ["own", "ported"] {
            let copy = copies.join(whose).join(self.name);
            copy::make(source, &copy)?;
            // In the place of theirs, with which not all of them compile.
            edit(&copy.join("Cargo.toml"), |manifest| {
                let needed = |manifest: String, package: &&str| without(&manifest, package);
                let manifest = self.unneeded.iter().try_fold(manifest.to_owned(), needed)?;
                Ok(manifest + "\n[workspace]\n")
            })?;
            write(&copy.join("Cargo.lock"), &read(&root.join("Cargo.lock"))?)?;
            if whose == "ported" {
                let ours = file_name(&root.join(OURS).join(self.name), self.file);
                let ours = read(&ours)?;
                let place = copy.join(self.file);
                if place.exists() {
                    edit(&place, |theirs| with_tests(&ours, theirs))?;
                } else {
                    write(&place, &ours)?;
                }
                for change in &self.edits {
                    edit(&copy.join(change.file), |text| replaced(text, change))?;
                }
                // Another version: two packages in one build must differ.
                let version = format!("\nversion = \"{}\"\n", self.version);
                let other = format!("\nversion = \"{}+windrow\"\n", self.version);
                let windrow = format!("[dependencies.windrow]\npath = '{}'\n", root.display());
                edit(&copy.join("Cargo.toml"), |manifest| {
                    Ok(manifest.replacen(&version, &other, 1) + &windrow)
                })?;
            }
            if let Some(function) = self.opened {
                edit(&copy.join(self.file), |text| {
                    let open = format!("#[allow(missing_docs)] pub {function}");
                    Ok(text.replace(&format!("pub(crate) {function}"), &open))
                })?;
            }
        }
        Ok(())
    }
}

/// Returns the file in `folder` that takes the place of `file`.
fn file_name(folder: &Path, file: &str) -> PathBuf {
    folder.join(Path::new(file).file_name().unwrap_or_default())
}

/// Ours, with the tests of theirs.
fn with_tests(ours: &str, theirs: &str) -> Result<String, String> {
    let tests = theirs.find("#[cfg(test)]\nmod ").ok_or("their file has no tests")?;
    Ok(format!("{ours}\n{}", &theirs[tests..]))
}

/// Returns the text with ours wherever the part that is meant says theirs.
fn replaced(text: &str, Edit { from, to, theirs, ours, .. }: &Edit) -> Result<String, String> {
    let (before, rest) =
        text.split_at(text.find(from.as_str()).ok_or(format!("it has no {from:?}"))?);
    let end = if to.is_empty() { Some(rest.len()) } else { rest.find(to.as_str()) };
    let (part, behind) = rest.split_at(end.ok_or(format!("no {to:?} comes behind {from:?}"))?);
    if !part.contains(theirs.as_str()) {
        return Err(format!("it has no {theirs:?} from {from:?} to {to:?}"));
    }
    Ok([before, &part.replace(theirs, ours), behind].concat())
}

/// Returns the manifest without a package of its tests.
fn without(manifest: &str, package: &str) -> Result<String, String> {
    let head = format!("[dev-dependencies.{package}]\n");
    let (before, behind) = manifest.split_once(&head).ok_or(format!("it has no {head}"))?;
    let behind = behind.split_once("\n[").map_or(String::new(), |(_, rest)| format!("[{rest}"));
    Ok(before.to_owned() + &behind)
}

fn edit(path: &Path, change: impl FnOnce(&str) -> Result<String, String>) -> Result<(), String> {
    write(path, &change(&read(path)?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_of_theirs_are_kept() {
        let both = with_tests("ours\n", "theirs\n#[cfg(test)]\nmod tests {}\n").unwrap();
        assert_eq!(both, "ours\n\n#[cfg(test)]\nmod tests {}\n");
        assert!(with_tests("ours\n", "theirs\n").is_err());
    }

    #[test]
    fn only_the_part_that_is_meant_is_replaced() {
        let edit = |[from, to]: [&str; 2]| Edit {
            file: "",
            from: from.to_owned(),
            to: to.to_owned(),
            theirs: "b".to_owned(),
            ours: "d".to_owned(),
        };
        let all = edit(["", ""]);
        assert_eq!(replaced("a b b", &all).unwrap(), "a d d");
        assert!(replaced("a", &all).is_err());
        let part = edit(["two {", "}"]);
        assert_eq!(replaced("one {b} two {b} {b}", &part).unwrap(), "one {b} two {d} {b}");
        assert!(replaced("one {b} two {a} {b}", &part).is_err());
        assert!(replaced("one {b}", &part).is_err() && replaced("two {b", &part).is_err());
    }

    #[test]
    fn a_package_of_tests_is_left_out() {
        let (one, other) = ("[dev-dependencies.one]\nversion = \"1\"\n", "[features]\nall = []\n");
        assert_eq!(without(&format!("{one}\n{other}"), "one").unwrap(), other);
        assert_eq!(without(&format!("{other}\n{one}"), "one").unwrap(), format!("{other}\n"));
        assert!(without(other, "one").is_err());
    }

    #[test]
    fn each_port_has_its_file() {
        let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(OURS);
        for port in ports().unwrap() {
            let file = file_name(&ours.join(port.name), port.file);
            assert!(file.is_file(), "{}", file.display());
        }
    }
}

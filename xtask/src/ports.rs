//! Programs of others on windrow: copies of published crates with a file of ours in the place of
//! one of theirs (`benches/ports`). Their own tests run on the copies; then both are measured,
//! before and after.
//!
//! Nothing of theirs is in this repository: the copies are made from cargo's downloads, below the
//! target directory.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::copy;
use crate::steps::{Failed, Steps, cargo, target_directory};

/// The folder of our ports.
const OURS: &str = "benches/ports";

/// A crate of which one file is replaced.
struct Port {
    name: &'static str,
    version: &'static str,
    /// The file, whose tests stay.
    file: &'static str,
    /// The packages that its tests need.
    tests: &'static [&'static str],
    /// A function that is measured and not public: made so in both copies.
    opened: Option<&'static str>,
}

const PORTS: [Port; 2] = [
    Port {
        name: "stretto",
        version: "0.8.4",
        file: "src/metrics.rs",
        // One of them waits some milliseconds for a thread, which must have a core then.
        tests: &["--lib", "--", "--test-threads=1"],
        opened: Some("fn add("),
    },
    Port {
        name: "tower",
        version: "0.5.3",
        file: "src/retry/budget/tps_budget.rs",
        tests: &["--features", "full"],
        opened: None,
    },
];

/// Makes the copies, runs the crates' own tests on those with a file of ours, and measures both.
pub(crate) fn run(steps: &mut Steps, passed_on: &[OsString]) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    let target = target_directory().map_err(|why| Failed::new("where to build", why))?;
    let copies = root.join("target/ports"); // where the manifest of `OURS` has them
    let output = target.join("ports/target");
    steps.step("the published crates", "cargo metadata", || {
        let sources = published(&copies.join("published"))?;
        // The versions that everything else here is built with.
        fs::copy(root.join("Cargo.lock"), root.join(OURS).join("Cargo.lock"))
            .map_err(|error| error.to_string())?;
        PORTS.iter().zip(sources).try_for_each(|(port, source)| port.copy(&root, &source, &copies))
    })?;
    for port in &PORTS {
        let manifest = copies.join("ported").join(port.name).join("Cargo.toml");
        let manifest = manifest.to_string_lossy().into_owned();
        let tests = [&["test", "--manifest-path", &manifest], port.tests].concat();
        let name = format!("tests of {}, on windrow", port.name);
        steps.cargo(&name, &tests, &[("CARGO_TARGET_DIR", &output.to_string_lossy())])?;
    }
    let manifest = format!("{OURS}/Cargo.toml");
    let build = ["build", "--release", "--manifest-path", &manifest];
    steps.cargo("before and after", &build, &[("CARGO_TARGET_DIR", &output.to_string_lossy())])?;
    let program = output.join("release/windrow-ports");
    steps.step("before and after, measured", "windrow-ports", || {
        let status = Command::new(&program).args(passed_on).status();
        let status = status.map_err(|error| format!("cannot run it: {error}"))?;
        if status.success() { Ok(()) } else { Err(status.to_string()) }
    })
}

/// Returns where cargo keeps the sources of the crates, in the order of [`PORTS`]: of a package at
/// `place` that depends on them.
fn published(place: &Path) -> Result<Vec<PathBuf>, String> {
    let error = |error: std::io::Error| format!("{}: {error}", place.display());
    fs::create_dir_all(place.join("src")).map_err(error)?;
    fs::write(place.join("src/lib.rs"), "").map_err(error)?;
    let line = |port: &Port| format!("{} = \"={}\"\n", port.name, port.version);
    let wanted = PORTS.iter().map(line).collect::<Vec<_>>().concat();
    let manifest =
        format!("[package]\nname = \"published\"\n[workspace]\n[dependencies]\n{wanted}");
    fs::write(place.join("Cargo.toml"), manifest).map_err(error)?;
    let output =
        cargo(place).args(["metadata", "--format-version", "1"]).output().map_err(error)?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let packages = String::from_utf8_lossy(&output.stdout).into_owned();
    let source = |port: &Port| {
        let end = format!("/{}-{}/Cargo.toml", port.name, port.version);
        let manifests = packages.split("\"manifest_path\":\"").skip(1);
        let mut manifests = manifests.filter_map(|rest| rest.split('"').next());
        let found = manifests.find(|manifest| manifest.ends_with(&end));
        let folder = found.and_then(|manifest| Path::new(manifest).parent());
        folder.map(Path::to_owned).ok_or_else(|| format!("cargo knows no {end}"))
    };
    PORTS.iter().map(source).collect()
}

impl Port {
    /// Makes both copies of the files in `source`.
    fn copy(&self, root: &Path, source: &Path, copies: &Path) -> Result<(), String> {
        for whose in ["own", "ported"] {
            let copy = copies.join(whose).join(self.name);
            copy::make(source, &copy)?;
            // In the place of theirs, with which not all of them compile.
            edit(&copy.join("Cargo.toml"), |manifest| Ok(manifest.to_owned() + "\n[workspace]\n"))?;
            write(&copy.join("Cargo.lock"), &read(&root.join("Cargo.lock"))?)?;
            if whose == "ported" {
                let ours = file_name(&root.join(OURS).join(self.name), self.file);
                let ours = read(&ours)?;
                edit(&copy.join(self.file), |theirs| with_tests(&ours, theirs))?;
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

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
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
    fn each_port_has_its_file() {
        let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(OURS);
        for port in &PORTS {
            let file = file_name(&ours.join(port.name), port.file);
            assert!(file.is_file(), "{}", file.display());
        }
    }
}

//! The lowest versions that the manifests of the library and the integrations allow: the packages
//! must compile and pass their tests with them.
//!
//! In a copy of the workspace, each direct dependency goes down to the version that the manifest
//! names. Stable cargo does that one package at a time, and refuses a version that another package
//! in the lock file is too new for. So all are tried in turns, until none is left, or none moves.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::copy;
use crate::integrations;
use crate::sanitizers::succeeds;
use crate::steps::{Failed, Steps, cargo};

/// The place of the copy and of its builds.
const COPY: &str = "target/bounds/windrow";
const BUILT: &str = "target/bounds/built";

/// The packages of the copy's workspace beside the integrations: those that their tests use.
const KIT: &str = "tests/kit";

/// Packages that no manifest names, and that in the locked version ask for newer versions of others
/// than the manifests: they go down too.
const BETWEEN: [(&str, &str); 1] = [("tokio-util", "0.7.11")];

/// Packages, by name, with the lowest version that is allowed of each.
type Bounds = BTreeMap<String, Version>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version([u64; 3]);

impl Version {
    /// Returns the lowest one that a requirement such as `0.25.2` allows; `None`, if it is another
    /// kind of requirement.
    fn lowest(requirement: &str) -> Option<Version> {
        let mut version = [0; 3];
        let given = requirement.split('.').count();
        for (number, text) in version.iter_mut().zip(requirement.split('.')) {
            *number = text.parse().ok()?;
        }
        (given <= version.len()).then_some(Version(version))
    }

    /// Returns whether a requirement of this version allows the other one.
    fn allows(self, other: Version) -> bool {
        let Version([major, minor, _]) = self;
        let same = match (major, minor) {
            (0, 0) => 3,
            (0, _) => 2,
            _ => 1,
        };
        self.0[..same] == other.0[..same] && other >= self
    }

    fn shown(self) -> String {
        self.0.map(|number| number.to_string()).join(".")
    }
}

/// Builds and tests the integrations with the lowest versions.
pub(crate) fn run(steps: &mut Steps) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    let shown = format!("cargo update --precise LOWEST; cargo test, in {COPY}");
    steps.step("the lowest versions of dependencies", &shown, || {
        let copy = root.join(COPY);
        copy::make(&root, &copy)?;
        let bounds = trim(&copy)?;
        let lock = copy.join("Cargo.lock");
        lower(&copy, &lock, bounds)?;
        let mut command = cargo(&copy);
        command.args(["test", "--quiet", "--lib", "--tests"]).args(integrations::arguments(&copy));
        succeeds(command.env("CARGO_TARGET_DIR", root.join(BUILT)))?;
        let mut command = cargo(&copy);
        command.args(["test", "--quiet"]).args(integrations::arguments(&copy));
        command.args(integrations::WAITING);
        succeeds(command.env("CARGO_TARGET_DIR", root.join(BUILT)))
    })
}

/// Leaves the copy's workspace the integrations alone, so that no other package asks for newer
/// versions; and returns their bounds, and the library's.
fn trim(copy: &Path) -> Result<Bounds, String> {
    let manifest = read(&copy.join("Cargo.toml"))?;
    let mut bounds = bounds_in(&manifest, &["dependencies]"]);
    let between =
        BETWEEN.iter().map(|(name, version)| Some(((*name).to_owned(), Version::lowest(version)?)));
    bounds.extend(between.flatten());
    let folders = integrations::folders(copy)?;
    for folder in &folders {
        let manifest = read(&copy.join(folder).join("Cargo.toml"))?;
        for (name, version) in bounds_in(&manifest, &["dependencies]", "dev-dependencies]"]) {
            let bound = bounds.entry(name).or_insert(version);
            *bound = version.max(*bound);
        }
    }
    let members: Vec<String> = folders
        .iter()
        .map(String::as_str)
        .chain([KIT])
        .map(|folder| format!("{folder:?}"))
        .collect();
    let lines = manifest.lines().map(|line| {
        if line.starts_with("members = ") {
            format!("members = [{}]\n", members.join(", "))
        } else {
            format!("{line}\n")
        }
    });
    let manifest: String = lines.collect();
    fs::write(copy.join("Cargo.toml"), manifest).map_err(|error| error.to_string())?;
    Ok(bounds)
}

/// Returns what the sections of a manifest whose headings end so ask for: of others than this
/// workspace.
fn bounds_in(manifest: &str, sections: &[&str]) -> Bounds {
    let (mut bounds, mut wanted) = (Bounds::new(), false);
    for line in manifest.lines() {
        if let Some(heading) = line.strip_prefix('[') {
            let last = heading.rsplit('.').next().unwrap_or(heading);
            wanted = sections.contains(&last);
        } else if wanted && let Some((name, asked)) = line.split_once(" = ") {
            let inline = asked.split_once("version = ").map(|(_, version)| version);
            let quoted = inline.unwrap_or(asked).split('"').nth(1);
            let version = quoted.filter(|_| !asked.contains("path = ")).and_then(Version::lowest);
            bounds.extend(version.map(|version| (name.to_owned(), version)));
        }
    }
    bounds
}

/// Makes the lock file name the lowest versions. Packages that it does not name are for other
/// systems.
fn lower(copy: &Path, lock: &Path, mut bounds: Bounds) -> Result<(), String> {
    loop {
        let (before, mut refused) = (bounds.len(), String::new());
        for (name, lowest) in bounds.clone() {
            let locked = locked(&read(lock)?, &name);
            let Some(now) = locked.into_iter().find(|version| lowest.allows(*version)) else {
                bounds.remove(&name);
                continue;
            };
            let package = format!("{name}@{}", now.shown());
            let mut command = cargo(copy);
            command.args(["update", "--quiet", &package, "--precise", &lowest.shown()]);
            let output = command.output().map_err(|error| format!("cannot run cargo: {error}"))?;
            if output.status.success() {
                bounds.remove(&name);
            } else {
                refused = String::from_utf8_lossy(&output.stderr).into_owned();
                refused = format!("`{name}` cannot be {}: {refused}", lowest.shown());
            }
        }
        if bounds.is_empty() {
            return Ok(());
        }
        if bounds.len() == before {
            return Err(format!("raise the bound in the manifest. {refused}"));
        }
    }
}

/// Returns the versions of a package that a lock file names.
fn locked(lock: &str, name: &str) -> Vec<Version> {
    let name = format!("name = {name:?}");
    let lines: Vec<&str> = lock.lines().collect();
    let of_name = lines.windows(2).filter(|pair| pair[0] == name);
    let version = |pair: &[&str]| Version::lowest(pair[1].split('"').nth(1)?);
    of_name.filter_map(version).collect()
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_lowest_version_is_the_one_that_is_named() {
        let lowest = |requirement| Version::lowest(requirement).map(Version::shown);
        assert_eq!(lowest("1").as_deref(), Some("1.0.0"));
        assert_eq!(lowest("0.25.2").as_deref(), Some("0.25.2"));
        assert_eq!((lowest(">=1"), lowest("1.2.3.4")), (None, None));
        let allows =
            |one, other| Version::lowest(one).unwrap().allows(Version::lowest(other).unwrap());
        assert!(allows("1", "1.9") && allows("0.2.3", "0.2.4") && allows("0.0.3", "0.0.3"));
        assert!(!allows("1", "2") && !allows("0.2", "0.3") && !allows("1.2", "1.1.9"));
    }

    #[test]
    fn each_kind_of_dependency_is_found_and_no_package_of_this_workspace() {
        let manifest = "[package]\nname = \"a\"\nversion = \"9\"\n[dependencies]\nb = \"1.2\"\n\
                        c = { version = \"0.3\", optional = true }\nd = { path = \"d\", version = \"1\" }\n\
                        [target.'cfg(unix)'.dependencies]\ne = \"2\"\n[dev-dependencies]\nf = \"3\"\n";
        let names = |sections: &[&str]| {
            bounds_in(manifest, sections).into_keys().collect::<Vec<_>>().concat()
        };
        assert_eq!(names(&["dependencies]"]), "bce");
        assert_eq!(names(&["dependencies]", "dev-dependencies]"]), "bcef");
    }

    #[test]
    fn every_line_of_the_manifests_is_understood() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        for folder in integrations::folders(root).unwrap() {
            let manifest = read(&root.join(folder).join("Cargo.toml")).unwrap();
            // A package may be named once for all systems, and again for some.
            let (mut section, mut asked) = ("", BTreeSet::new());
            for line in manifest.lines() {
                if line.starts_with('[') {
                    section = line.rsplit(['.', '[']).next().unwrap_or(line);
                    assert!(!line.contains("dependencies."), "{line}: not understood");
                } else if section.ends_with("dependencies]")
                    && !line.contains("path = ")
                    && let Some((name, _)) = line.split_once(" = ")
                {
                    asked.insert((section, name));
                }
            }
            let own = bounds_in(&manifest, &["dependencies]"]).len();
            let of_tests = bounds_in(&manifest, &["dev-dependencies]"]).len();
            assert_eq!(own + of_tests, asked.len(), "{manifest}");
        }
    }
}

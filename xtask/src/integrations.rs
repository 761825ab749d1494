//! The packages in `integrations`, and their dependencies.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::sources;
use crate::steps::{Failed, Steps, cargo};
use crate::tools::said;

/// The page with the dependencies that a user gets.
const PAGE: &str = "integrations/README.md";

/// The lines before and behind the table in it.
const MARKS: [&str; 2] = [
    "<!-- `cargo xtask dependencies` writes this table. -->\n\n",
    "\n<!-- End of the table. -->\n",
];

/// Trees differ by target: this is the one that the table is about.
const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Returns cargo's arguments for all of them.
pub(crate) fn arguments(root: &Path) -> impl Iterator<Item = String> {
    // Without that folder there are no packages, which the tests below notice.
    packages(root).unwrap_or_default().into_iter().map(|package| format!("--package={package}"))
}

/// Writes the table anew.
pub(crate) fn dependencies(steps: &mut Steps) -> Result<(), Failed> {
    let root = steps.root().to_owned();
    steps.step("dependencies of the integrations", PAGE, || {
        let page = sources::read(&root.join(PAGE))?;
        let [before, _, behind] = sources::cut(&page, MARKS)?;
        sources::write(&root.join(PAGE), &[before, &table(&root)?, behind].concat())
    })
}

/// Returns one row for each package: the number and the names of the packages that it adds to a
/// user's tree that has the library.
fn table(root: &Path) -> Result<String, String> {
    let library = tree(root, "windrow")?;
    let mut table = String::from("| package | packages that it adds | which |\n|---|---|---|\n");
    for package in packages(root)? {
        let all = tree(root, &package)?;
        let names = all.difference(&library).map(|(name, _)| name.as_str());
        let added: Vec<&str> = names.filter(|name| *name != package).collect();
        // A `String` takes all.
        let _ = writeln!(table, "| `{package}` | {} | {} |", added.len(), added.join(", "));
    }
    Ok(table)
}

/// Returns the packages that stand there, by the names of their folders.
fn packages(root: &Path) -> Result<BTreeSet<String>, String> {
    let entries = fs::read_dir(root.join("integrations")).map_err(|error| error.to_string())?;
    let folders = entries.flatten().filter(|entry| entry.path().join("Cargo.toml").is_file());
    Ok(folders.map(|entry| format!("windrow-{}", entry.file_name().display())).collect())
}

/// Returns all packages that a user of one builds, with their versions; itself too.
fn tree(root: &Path, package: &str) -> Result<BTreeSet<(String, String)>, String> {
    let mut command = cargo(root);
    command.args(["tree", "--locked", "--edges", "normal", "--prefix", "none"]);
    let tree = said(command.args(["--target", TARGET, "--package", package]))?;
    let package = |line: &str| {
        let mut words = line.split(' ');
        Some((words.next()?.to_owned(), words.next()?.to_owned()))
    };
    Ok(tree.lines().filter_map(package).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

    #[test]
    fn the_page_tells_what_each_integration_brings_with_it() {
        let page = sources::read(&Path::new(ROOT).join(PAGE)).unwrap();
        let [_, written, _] = sources::cut(&page, MARKS).unwrap();
        let table = table(Path::new(ROOT)).unwrap();
        assert!(written == table, "`cargo xtask dependencies` writes {PAGE}:\n{table}");
    }

    #[test]
    fn the_library_has_none_of_what_the_integrations_bring() {
        let library = tree(Path::new(ROOT), "windrow").unwrap();
        let names: BTreeSet<&str> = library.iter().map(|(name, _)| name.as_str()).collect();
        assert!(names.contains("crossbeam-epoch"), "{names:?}");
        for other in ["prometheus-client", "opentelemetry", "metrics", "tower-service"] {
            assert!(!names.contains(other), "{names:?}");
        }
    }
}

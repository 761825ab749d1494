//! The library's source files.

use std::fs;
use std::path::Path;

/// Returns the Rust files in a folder and below, by their paths from there, sorted.
pub(crate) fn files(folder: &Path) -> Result<Vec<String>, String> {
    with_extension(folder, "rs")
}

/// Returns the files of a kind in a folder and below, by their paths from there, sorted.
pub(crate) fn with_extension(folder: &Path, kind: &str) -> Result<Vec<String>, String> {
    below(folder, "", kind)
}

fn below(root: &Path, folder: &str, kind: &str) -> Result<Vec<String>, String> {
    let entries = fs::read_dir(root.join(folder));
    let entries = entries.map_err(|error| format!("cannot read {folder}: {error}"))?;
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let path = format!("{folder}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            found.extend(below(root, &format!("{path}/"), kind)?);
        } else if entry.path().extension().is_some_and(|found| found == kind) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

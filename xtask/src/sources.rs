//! The files of the workspace.

use std::fs;
use std::path::Path;

/// Folders that are not the project's own text, wherever they stand.
pub(crate) const LEFT_OUT: [&str; 3] = ["target", ".git", "corpus"];

/// Folders that are read although they are hidden.
const HIDDEN: [&str; 3] = [".cargo", ".ci", ".github"];

/// Returns the text of a file.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Replaces the text of a file.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns the files of a kind in a folder and below, by their paths from there, sorted.
pub(crate) fn with_extension(folder: &Path, kind: &str) -> Result<Vec<String>, String> {
    let mut files = all(folder)?;
    files.retain(|file| file.rsplit_once('.').is_some_and(|(_, found)| found == kind));
    Ok(files)
}

/// Returns all files in a folder and below, by their paths from there, sorted.
pub(crate) fn all(folder: &Path) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    below(folder, "", &mut found)?;
    found.sort();
    Ok(found)
}

fn below(root: &Path, folder: &str, found: &mut Vec<String>) -> Result<(), String> {
    let entries = fs::read_dir(root.join(folder));
    let entries = entries.map_err(|error| format!("cannot read {folder}: {error}"))?;
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{folder}{name}");
        if !entry.path().is_dir() {
            found.push(path);
        } else if !LEFT_OUT.contains(&name.as_str())
            && (!name.starts_with('.') || HIDDEN.contains(&name.as_str()))
        {
            below(root, &format!("{path}/"), found)?;
        }
    }
    Ok(())
}

/// Returns a page in three parts: up to the end of the first mark, what stands between the two, and
/// the rest.
pub(crate) fn cut<'p>(page: &'p str, marks: [&str; 2]) -> Result<[&'p str; 3], String> {
    let found = page.find(marks[0]).map(|at| at + marks[0].len());
    let end = found.and_then(|begin| Some((begin, begin + page[begin..].find(marks[1])?)));
    let missing = || format!("no place between `{}` and `{}`", marks[0].trim(), marks[1].trim());
    let (begin, end) = end.ok_or_else(missing)?;
    Ok([&page[..begin], &page[begin..end], &page[end..]])
}

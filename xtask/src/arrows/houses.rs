//! The houses: the crates of the workspace, each with the sources of its modules.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::sources::{self, read};

/// A crate, or a program of one.
pub(super) struct House {
    /// Its folder, from the workspace's root.
    pub(super) folder: String,
    /// The sources by module; the root's is empty.
    pub(super) texts: BTreeMap<String, String>,
}

impl House {
    /// Returns a file's name in the workspace, without its kind.
    pub(super) fn file(&self, module: &str) -> String {
        format!("{}/{module}", self.folder).trim_end_matches('/').to_owned()
    }
}

/// Returns the houses of the workspace, the library first.
pub(super) fn all(root: &Path) -> Result<Vec<House>, String> {
    let manifest = read(&root.join("Cargo.toml"))?;
    let members = manifest.lines().find_map(|line| line.strip_prefix("members = "));
    let members = members.ok_or("Cargo.toml names no members on one line")?;
    let members = members.split('"').skip(1).step_by(2);
    let mut folders = vec!["src".to_owned()];
    folders.extend(members.map(|member| format!("{member}/src")));
    folders.retain(|folder| root.join(folder).is_dir()); // one member is the library once more
    for parent in ["examples".to_owned()].into_iter().chain(folders.clone().iter().map(bins)) {
        let entries = fs::read_dir(root.join(&parent)).into_iter().flatten().flatten();
        let programs = entries.filter(|entry| entry.path().join("main.rs").exists());
        let mut names: Vec<String> =
            programs.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        folders.extend(names.into_iter().map(|name| format!("{parent}/{name}")));
    }
    folders.into_iter().map(|folder| house(root, folder)).collect()
}

fn bins(folder: &String) -> String {
    format!("{folder}/bin")
}

fn house(root: &Path, folder: String) -> Result<House, String> {
    let path = root.join(&folder);
    let text = |file: String| {
        let text = read(&path.join(&file))?;
        let module = file.strip_suffix(".rs").unwrap_or(&file);
        let is_root = module == "lib" || module == "main" && !path.join("lib.rs").exists();
        Ok((if is_root { String::new() } else { module.to_owned() }, text))
    };
    let files =
        sources::with_extension(&path, "rs")?.into_iter().filter(|file| !file.starts_with("bin/"));
    let texts = files.map(text).collect::<Result<_, String>>()?;
    Ok(House { folder, texts })
}

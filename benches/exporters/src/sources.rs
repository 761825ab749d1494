//! The sources of packages: where a feature is looked for that no call asks for.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Returns the first line of these packages' code that has one of the words, in any case of
/// letters, and its file. Comments and files of tests are not read.
pub(crate) fn mention(packages: &[&str], words: &[&str]) -> Option<String> {
    for package in packages {
        let folder = folders().get(*package).unwrap_or_else(|| panic!("no package {package}"));
        for file in files(&folder.join("src")) {
            let code = fs::read_to_string(&file).expect("a readable source");
            for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
                let line = line.to_lowercase();
                if let Some(word) = words.iter().find(|word| line.contains(&word.to_lowercase())) {
                    return Some(format!("{} has `{word}`: {}", file.display(), line.trim()));
                }
            }
        }
    }
    None
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of sources").flatten() {
        let path = entry.path();
        let name = path.file_stem().unwrap_or_default();
        if name == "tests" {
            continue;
        }
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// Returns the folder of each package that this program is made of.
fn folders() -> &'static HashMap<String, PathBuf> {
    static FOLDERS: OnceLock<HashMap<String, PathBuf>> = OnceLock::new();
    FOLDERS.get_or_init(|| {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut metadata = Command::new(cargo);
        metadata.args(["metadata", "--format-version=1", "--locked"]);
        metadata.current_dir(env!("CARGO_MANIFEST_DIR"));
        let output = metadata.output().expect("cargo metadata");
        let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let packages = metadata["packages"].as_array().expect("packages");
        let folder = |package: &serde_json::Value| {
            let manifest = Path::new(package["manifest_path"].as_str()?).parent()?;
            Some((package["name"].as_str()?.to_owned(), manifest.to_owned()))
        };
        packages.iter().filter_map(folder).collect()
    })
}

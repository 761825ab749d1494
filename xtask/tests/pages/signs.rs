//! Each folder of the workspace says what it is for.

use std::fs;
use std::path::Path;

/// Names that cargo gives a meaning.
const CARGO: [&str; 6] = ["src", "bin", "tests", "benches", "examples", "fuzz_targets"];

/// Returns the folders below one of the workspace that say nothing: no README, no main file whose
/// first lines are documentation, and no word in the README above.
fn silent(root: &Path, folder: &Path, readme: &str) -> Vec<String> {
    let own = fs::read_to_string(folder.join("README.md"));
    let readme = own.as_deref().unwrap_or(readme);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let is_output = name.starts_with('.') || ["target", "corpus"].contains(&name.as_str());
        if !path.is_dir() || is_output {
            continue;
        }
        let has = |file: &str| path.join(file).exists();
        let mains = ["README.md", "main.rs", "lib.rs", "mod.rs", "src/main.rs", "src/lib.rs"];
        let is_said = CARGO.contains(&name.as_str())
            || path.with_extension("rs").exists()
            || mains.iter().any(|file| has(file))
            || readme.contains(&format!("`{name}`"))
            || readme.contains(&format!("/{name}`"));
        if !is_said {
            found.push(path.strip_prefix(root).expect("below").display().to_string());
        }
        found.extend(silent(root, &path, readme));
    }
    found
}

#[test]
fn each_folder_says_what_it_is_for() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    assert_eq!(silent(root, root, ""), [""; 0]);
}

#[test]
fn a_folder_without_a_sign_is_found() {
    let root = std::env::temp_dir().join(format!("windrow-signs-{}", std::process::id()));
    for folder in ["a/named", "a/silent", "a/src/b", "c"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    fs::write(root.join("a/README.md"), "`named` is for names.").unwrap();
    fs::write(root.join("a/src/b.rs"), "").unwrap();
    let mut found = silent(&root, &root, "");
    found.sort();
    fs::remove_dir_all(&root).unwrap();
    assert_eq!(found, ["a/silent", "c"]);
}

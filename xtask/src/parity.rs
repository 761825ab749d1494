//! The page of parity names tests: they exist.

use std::fs;
use std::path::Path;

use crate::sources;

/// Each `` `file::test` `` of the page.
fn named(page: &str) -> impl Iterator<Item = (&str, &str)> {
    page.split('`').skip(1).step_by(2).filter_map(|code| {
        let (file, test) = code.split_once("::")?;
        let is_name = |name: &str| {
            name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        };
        (is_name(file) && is_name(test)).then_some((file, test))
    })
}

/// The sources of a test, whether it is a file or a folder.
fn sources_of(tests: &Path, name: &str) -> String {
    let alone = fs::read_to_string(tests.join(format!("{name}.rs"))).unwrap_or_default();
    let folder = tests.join(name);
    let files =
        if folder.is_dir() { sources::files(&folder).expect("a folder") } else { Vec::new() };
    let read = files.into_iter().map(|file| fs::read_to_string(folder.join(file)).expect("a file"));
    read.fold(alone, |all, text| all + &text)
}

#[test]
fn the_tests_that_the_page_names_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = fs::read_to_string(root.join("docs/parity.md")).expect("the page");
    let mut count = 0;
    for (file, test) in named(&page) {
        let text = sources_of(&root.join("tests"), file);
        assert!(text.contains(&format!("fn {test}(")), "no test {file}::{test}");
        count += 1;
    }
    assert!(count > 20, "the page names {count} tests");
}

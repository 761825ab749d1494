//! The packages that are built: of this library with and without its features, and of its rivals.

use std::fs;
use std::path::Path;

use super::measured::Sizes;
use crate::paragraphs::{Paragraph, paragraphs};
use crate::sources::write;

/// The rival whose build is the measure of ours: the folder of its package.
pub(super) const YARDSTICK: &str = "prometheus-client";

/// A program of a package.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Program {
    Empty,
    Counter,
    Window,
}

impl Program {
    pub(super) const ALL: [Program; 3] = [Program::Empty, Program::Counter, Program::Window];

    /// Returns the program's name, which is its file's name, too.
    pub(super) fn name(self) -> &'static str {
        match self {
            Program::Empty => "empty",
            Program::Counter => "counter",
            Program::Window => "window",
        }
    }

    /// Returns the ceiling of the bytes that the program adds with this library.
    pub(super) fn ceiling(self) -> Option<Sizes> {
        match self {
            Program::Empty => None,
            Program::Counter => Some(Sizes { loaded: 27_000, zeroed: 13_000 }),
            Program::Window => Some(Sizes { loaded: 90_500, zeroed: 13_000 }),
        }
    }
}

/// A package that uses a library.
pub(super) struct Subject {
    /// The name that the table shows.
    pub(super) shown: String,
    pub(super) folder: &'static str,
    /// The table of dependencies in its manifest.
    dependencies: String,
    /// The sources of its programs.
    sources: Vec<(Program, String)>,
    /// The ceiling of its build's CPU time, as a ratio to the yardstick's.
    pub(super) ratio_ceiling: Option<f64>,
}

/// The programs, and the rivals.
const LIST: &str = include_str!("../../weight.txt");

/// Returns the source of one of our programs.
fn source(program: Program) -> (Program, String) {
    let is_it = |entry: &Paragraph<'_>| entry.one("program ").ok() == Some(program.name());
    let entry = paragraphs(LIST).find(is_it);
    (program, entry.map_or_else(String::new, |entry| entry.text("+")))
}

/// Returns a package with all our programs.
fn subject(shown: String, folder: &'static str, dependency: &str) -> Subject {
    let dependencies = format!("windrow = {{ {dependency} }}");
    let sources = Program::ALL.map(source).into();
    Subject { shown, folder, dependencies, sources, ratio_ceiling: None }
}

/// Returns the packages of the library at `root`: as a user gets it, and without its features.
pub(super) fn ours(root: &Path) -> Vec<Subject> {
    let with = |shown: &str, folder, more, ceiling| Subject {
        ratio_ceiling: Some(ceiling),
        ..subject(shown.to_owned(), folder, &format!("path = '{}'{more}", root.display()))
    };
    vec![
        with("windrow", "default", "", 1.8),
        with("windrow, no features", "bare", ", default-features = false", 1.5),
    ]
}

impl Subject {
    /// Returns the package of the library at an earlier `commit`, in the folder `sources`.
    pub(super) fn earlier(commit: &str, sources: &Path) -> Subject {
        let path = format!("path = '{}'", sources.display());
        subject(format!("windrow at {commit}"), "before", &path)
    }

    /// Returns its programs; the last has most in it.
    pub(super) fn programs(&self) -> impl DoubleEndedIterator<Item = Program> {
        self.sources.iter().map(|(program, _)| *program)
    }

    /// Writes the package, with the versions in `lock`.
    pub(super) fn write(&self, folder: &Path, lock: &Path) -> Result<(), String> {
        let programs = folder.join("src/bin");
        fs::create_dir_all(&programs).map_err(|error| error.to_string())?;
        // What a build needs of the lock, it keeps.
        fs::copy(lock, folder.join("Cargo.lock")).map_err(|error| error.to_string())?;
        let manifest = format!(
            "[package]\nname = \"weight-{}\"\nedition = \"2024\"\n\n[dependencies]\n{}\n\n\
             [profile.release]\nstrip = true\n\n[workspace]\n",
            self.folder, self.dependencies
        );
        write(&folder.join("Cargo.toml"), &manifest)?;
        self.sources.iter().try_for_each(|(program, source)| {
            write(&programs.join(format!("{}.rs", program.name())), source)
        })
    }
}

/// Returns the packages of the first `count` rivals, as their users get them. The first one is the
/// yardstick.
pub(super) fn rivals(count: usize) -> Vec<Subject> {
    let rival = |entry: Paragraph<'static>| {
        let folder = entry.one("rival ").ok()?;
        Some(Subject {
            shown: folder.to_owned(),
            folder,
            dependencies: entry.text("needs "),
            sources: vec![source(Program::Empty), (Program::Counter, entry.text("+"))],
            ratio_ceiling: None,
        })
    };
    paragraphs(LIST).filter_map(rival).take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_all_programs_and_the_yardstick_first() {
        let rivals = rivals(usize::MAX);
        assert_eq!((rivals[0].folder, rivals.len()), (YARDSTICK, 5));
        for subject in rivals.iter().chain(&ours(Path::new("/windrow"))) {
            assert!(subject.dependencies.contains(" = "), "{}", subject.shown);
            for (program, source) in &subject.sources {
                assert!(source.contains("fn main() {\n    "), "{}: {program:?}", subject.shown);
            }
        }
    }
}

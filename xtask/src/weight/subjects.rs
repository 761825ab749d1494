//! The packages that are built: of this library with and without its features, and the yardstick.

use std::fs;
use std::path::Path;

use super::measured::Sizes;
use crate::sources::write;

/// The published crate whose build is the measure of ours.
pub(super) const YARDSTICK: &str = "prometheus-client";

/// A program without a library: what the others add is the difference to it.
pub(super) const EMPTY: &str = "empty";

/// A program of a package: its name, and its source.
type Program = (&'static str, &'static str);

const PROGRAMS: &[Program] = &[
    (EMPTY, include_str!("../../weight/empty.rs")),
    ("counter", include_str!("../../weight/counter.rs")),
    ("window", include_str!("../../weight/window.rs")),
];

/// The programs with this library, and the most bytes that each adds to the empty one.
pub(super) const CEILINGS: [(&str, Sizes); 2] =
    [("counter", [27_000, 13_000]), ("window", [90_500, 13_000])];

/// A package that uses a library.
pub(super) struct Subject {
    /// The name that the table shows.
    pub(super) shown: &'static str,
    pub(super) folder: &'static str,
    /// The line of its dependency in the manifest, with `ROOT` for this workspace's.
    dependency: &'static str,
    /// Its programs; the last has most in it.
    pub(super) programs: &'static [Program],
    /// The ceiling of its build's CPU time, as a ratio to the yardstick's.
    pub(super) ratio_ceiling: Option<f64>,
}

/// The library as a user gets it, and without its features; and the yardstick.
pub(super) const SUBJECTS: [Subject; 3] = [
    Subject {
        shown: "windrow",
        folder: "default",
        dependency: "windrow = { path = 'ROOT' }",
        programs: PROGRAMS,
        ratio_ceiling: Some(1.8),
    },
    Subject {
        shown: "windrow, no features",
        folder: "bare",
        dependency: "windrow = { path = 'ROOT', default-features = false }",
        programs: PROGRAMS,
        ratio_ceiling: Some(1.5),
    },
    Subject {
        shown: YARDSTICK,
        folder: "yardstick",
        dependency: "prometheus-client = \"0.25\"",
        programs: &[PROGRAMS[0], ("counter", include_str!("../../weight/yardstick.rs"))],
        ratio_ceiling: None,
    },
];

impl Subject {
    /// Writes the package, with the versions in the lock file of the workspace at `root`.
    pub(super) fn write(&self, folder: &Path, root: &Path) -> Result<(), String> {
        let programs = folder.join("src/bin");
        fs::create_dir_all(&programs).map_err(|error| error.to_string())?;
        // What a build needs of the lock, it keeps.
        fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))
            .map_err(|error| error.to_string())?;
        let manifest = format!(
            "[package]\nname = \"weight-{}\"\nedition = \"2024\"\n\n[dependencies]\n{}\n\n\
             [profile.release]\nstrip = true\n\n[workspace]\n",
            self.folder,
            self.dependency.replace("ROOT", &root.display().to_string())
        );
        write(&folder.join("Cargo.toml"), &manifest)?;
        let mut all = self.programs.iter();
        all.try_for_each(|(name, source)| write(&programs.join(format!("{name}.rs")), source))
    }
}

//! The weight of the library in a user's build: the CPU time of a build from nothing, and the bytes
//! that a program gets by it.
//!
//! Each subject is a package of its own below the target directory, with the versions of our
//! `Cargo.lock`. It has small programs, those in `xtask/weight`: one without the library, one with
//! a static counter, and one with a static window beside the counter. What a program adds is the
//! difference to the first one.
//!
//! Sizes are the same on each run of one compiler, so they have ceilings. A time depends on the
//! machine and on its load: the ceiling is of its ratio to the build of a published crate that is
//! built in turn with it.

mod measured;
mod subjects;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use crate::steps::{Failed, Steps, cargo, target_directory};
use crate::tools::{needs, said, succeeds};
use measured::{Sizes, cpu_seconds, sizes};
use subjects::{CEILINGS, EMPTY, SUBJECTS, Subject, YARDSTICK};

/// A subject with its measured times and sizes.
struct Weighed {
    subject: &'static Subject,
    /// The CPU seconds of its builds from nothing, one of each round.
    seconds: Vec<f64>,
    /// The sizes of its programs, by name: none without binutils.
    sizes: BTreeMap<&'static str, Sizes>,
}

/// Builds all subjects in turn, each once a round, prints a row for each, and judges those of this
/// library.
pub(crate) fn run(steps: &mut Steps, rounds: u64) -> Result<(), Failed> {
    const STEP: &str = "weight in a user's build";
    if !cfg!(unix) {
        steps.leave_out(STEP, "CPU time is read by a POSIX shell");
        return Ok(());
    }
    let root = steps.root().to_owned();
    let target = target_directory().map_err(|why| Failed::new(STEP, why))?;
    let place = target.join("weight");
    steps.step(STEP, &format!("cargo build --release, in {}", place.display()), || {
        let weighed = weigh(&root, &place, rounds)?;
        print!("{}", table(&weighed));
        judge(&weighed)
    })
}

/// Builds each subject once a round, from nothing.
fn weigh(root: &Path, place: &Path, rounds: u64) -> Result<Vec<Weighed>, String> {
    let has_sizes = cfg!(target_os = "linux") && needs("size", &["--version"]).is_ok();
    let folder = |subject: &Subject| place.join(subject.folder);
    let mut all = Vec::new();
    for subject in &SUBJECTS {
        subject.write(&folder(subject), root)?;
        succeeds(cargo(&folder(subject)).args(["fetch", "--quiet"]))?; // no time of a build
        all.push(Weighed { subject, seconds: Vec::new(), sizes: BTreeMap::new() });
    }
    for _ in 0..rounds {
        for Weighed { subject, seconds, .. } in &mut all {
            let (heaviest, _) = subject.programs.last().ok_or("a package has programs")?;
            seconds.push(cpu_seconds(&folder(subject), heaviest)?);
        }
    }
    for weighed in &mut all {
        let folder = folder(weighed.subject);
        let mut build = cargo(&folder);
        succeeds(measured::alone(&mut build).args(["build", "--release", "--quiet"]))?;
        for (name, _) in weighed.subject.programs {
            let file = folder.join("target/release").join(name);
            let printed = said(&mut Command::new(&file))?;
            if *name == "window" && printed != "1 1" {
                return Err(format!("{} printed {printed:?}, and not `1 1`", file.display()));
            }
            if has_sizes {
                weighed.sizes.insert(name, sizes(&file)?);
            }
        }
    }
    Ok(all)
}

impl Weighed {
    /// Returns the median of the builds' CPU seconds.
    fn median(&self) -> f64 {
        let mut sorted = self.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }

    /// Returns what a program adds to the empty one; nothing is below 0.
    fn added(&self, program: &str) -> Option<Sizes> {
        let ([loaded, zeroed], [least, none]) = (self.sizes.get(program)?, self.sizes.get(EMPTY)?);
        Some([loaded.saturating_sub(*least), zeroed.saturating_sub(*none)])
    }
}

/// Returns the yardstick's CPU seconds.
fn yardstick(weighed: &[Weighed]) -> f64 {
    let yardstick = weighed.iter().find(|weighed| weighed.subject.shown == YARDSTICK);
    yardstick.map_or(f64::NAN, Weighed::median)
}

/// Returns a Markdown table with a row for each subject.
fn table(weighed: &[Weighed]) -> String {
    let kilobytes = |sizes: Option<Sizes>| match sizes.map(|sizes| sizes.map(|size| size as f64)) {
        Some([loaded, zeroed]) => format!("{:.1} and {:.1}", loaded / 1e3, zeroed / 1e3),
        None => "-".to_owned(),
    };
    let yardstick = yardstick(weighed);
    let mut rows = format!(
        "| build from nothing | CPU seconds (to {YARDSTICK}'s) | range | KB of a counter: code and \
         data, bss | with a window |\n|---|---|---|---|---|\n"
    );
    for one in weighed {
        let least = one.seconds.iter().copied().fold(f64::MAX, f64::min);
        let most = one.seconds.iter().copied().fold(0.0, f64::max);
        let row = [
            one.subject.shown.to_owned(),
            format!("{:.1} ({:.2})", one.median(), one.median() / yardstick),
            format!("{least:.1} to {most:.1}"),
            kilobytes(one.added("counter")),
            kilobytes(one.added("window")),
        ];
        let _ = writeln!(rows, "| {} |", row.join(" | ")); // a `String` takes all
    }
    rows
}

/// Holds this library's builds to their ceilings.
fn judge(weighed: &[Weighed]) -> Result<(), String> {
    let yardstick = yardstick(weighed);
    let mut broken = Vec::new();
    for one in weighed {
        let Some(ceiling) = one.subject.ratio_ceiling else { continue };
        let ratio = one.median() / yardstick;
        if ratio > ceiling {
            broken.push(format!(
                "{}: {ratio:.2} of the CPU time of {YARDSTICK}, and the ceiling is {ceiling:.2}",
                one.subject.shown
            ));
        }
        for (program, ceilings) in CEILINGS {
            let what = format!("{}, program `{program}`", one.subject.shown);
            let sizes = one.added(program).into_iter();
            broken.extend(sizes.flat_map(|sizes| exceeds(&what, sizes, ceilings)));
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(broken.join("\n")) }
}

/// Returns a sentence for each size above its ceiling.
fn exceeds(what: &str, found: Sizes, ceilings: Sizes) -> Vec<String> {
    let parts = ["text and data", "bss"].into_iter().zip(found).zip(ceilings);
    let above = parts.filter(|((_, found), ceiling)| found > ceiling);
    let say = |((part, found), ceiling)| {
        format!("{what}: {found} bytes of {part}, and the ceiling is {ceiling}")
    };
    above.map(say).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_above_its_ceiling_is_named_with_it() {
        assert!(exceeds("x", [90, 16], [90, 16]).is_empty());
        let why = exceeds("x", [91, 16], [90, 16]).join("\n");
        assert!(why.contains("91") && why.contains("90") && !why.contains("bss"), "{why}");
        let why = exceeds("x", [0, 17], [90, 16]).join("\n");
        assert!(why.contains("17 bytes of bss") && why.contains("16"), "{why}");
    }

    #[test]
    fn a_build_that_takes_longer_than_its_ceiling_fails_with_both_numbers() {
        let all = |own: f64| -> Vec<Weighed> {
            let weighed = |subject: &'static Subject| {
                let time = if subject.ratio_ceiling.is_some() { own } else { 10.0 };
                Weighed { subject, seconds: vec![time, time, 99.0], sizes: BTreeMap::new() }
            };
            SUBJECTS.iter().map(weighed).collect()
        };
        assert_eq!(judge(&all(5.0)), Ok(()));
        let why = judge(&all(90.0)).unwrap_err();
        let ceiling = format!("{:.2}", SUBJECTS[0].ratio_ceiling.unwrap());
        assert!(why.contains("9.00") && why.contains(&ceiling), "{why}");
        assert!(table(&all(5.0)).contains("| 5.0 (0.50) | 5.0 to 99.0 |"), "{}", table(&all(5.0)));
    }
}

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

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use crate::steps::{Failed, Steps, cargo, target_directory};
use crate::tools::{needs, said, succeeds};
use measured::{Sizes, cpu_seconds, sizes};
use subjects::{COUNTER, EMPTY, Program, SUBJECTS, Subject, WINDOW, YARDSTICK};

/// A subject with its measured times and sizes.
struct Weighed {
    subject: &'static Subject,
    /// The CPU seconds of its builds from nothing, one of each round.
    seconds: Vec<f64>,
    /// The sizes of its programs, by name: none without binutils.
    sizes: Vec<(&'static str, Sizes)>,
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
        all.push(Weighed { subject, seconds: Vec::new(), sizes: Vec::new() });
    }
    for _ in 0..rounds {
        for Weighed { subject, seconds, .. } in &mut all {
            let heaviest = subject.programs.last().ok_or("a package has programs")?;
            seconds.push(cpu_seconds(&folder(subject), heaviest.name)?);
        }
    }
    for weighed in &mut all {
        let folder = folder(weighed.subject);
        let mut build = cargo(&folder);
        succeeds(measured::alone(&mut build).args(["build", "--release", "--quiet"]))?;
        for program in weighed.subject.programs {
            let file = folder.join("target/release").join(program.name);
            if program.name == WINDOW.name {
                counts(&file)?;
            }
            if has_sizes {
                weighed.sizes.push((program.name, sizes(&file)?));
            }
        }
    }
    Ok(all)
}

/// Demands that a program with a counter and a window reads from both what it added.
fn counts(program: &Path) -> Result<(), String> {
    let printed = said(&mut Command::new(program))?;
    let shown = program.display();
    (printed == "1 1").then_some(()).ok_or(format!("{shown} printed {printed:?}, and not `1 1`"))
}

impl Weighed {
    /// Returns the median of the builds' CPU seconds.
    fn median(&self) -> f64 {
        let mut sorted = self.seconds.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }

    /// Returns what a program adds to the empty one.
    fn added(&self, program: &Program) -> Option<Sizes> {
        let of =
            |wanted| self.sizes.iter().find(|(name, _)| *name == wanted).map(|(_, size)| *size);
        Some(of(program.name)?.without(of(EMPTY.name)?))
    }
}

/// Returns the yardstick's CPU seconds.
fn yardstick(weighed: &[Weighed]) -> f64 {
    let yardstick = weighed.iter().find(|weighed| weighed.subject.shown == YARDSTICK);
    yardstick.map_or(f64::NAN, Weighed::median)
}

/// Returns a Markdown table with a row for each subject.
fn table(weighed: &[Weighed]) -> String {
    let kilobytes = |sizes: Option<Sizes>| match sizes {
        Some(Sizes { loaded, zeroed }) => {
            format!("{:.1} and {:.1}", loaded as f64 / 1e3, zeroed as f64 / 1e3)
        }
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
            kilobytes(one.added(&COUNTER)),
            kilobytes(one.added(&WINDOW)),
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
        for program in [COUNTER, WINDOW] {
            let what = format!("{}, program `{}`", one.subject.shown, program.name);
            let sizes = one.added(&program);
            broken.extend(sizes.map_or(Vec::new(), |sizes| exceeds(&what, sizes, program.ceiling)));
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(broken.join("\n")) }
}

/// Returns a sentence for each size above its ceiling.
fn exceeds(what: &str, found: Sizes, ceiling: Sizes) -> Vec<String> {
    let parts =
        [("text and data", found.loaded, ceiling.loaded), ("bss", found.zeroed, ceiling.zeroed)];
    let above = parts.into_iter().filter(|(_, found, ceiling)| found > ceiling);
    let say = |(part, found, ceiling)| {
        format!("{what}: {found} bytes of {part}, and the ceiling is {ceiling}")
    };
    above.map(say).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_above_its_ceiling_is_named_with_it() {
        let sizes = |loaded, zeroed| Sizes { loaded, zeroed };
        assert!(exceeds("x", sizes(90, 16), sizes(90, 16)).is_empty());
        let why = exceeds("x", sizes(91, 16), sizes(90, 16)).join("\n");
        assert!(why.contains("91") && why.contains("90") && !why.contains("bss"), "{why}");
        let why = exceeds("x", sizes(0, 17), sizes(90, 16)).join("\n");
        assert!(why.contains("17 bytes of bss") && why.contains("16"), "{why}");
    }

    #[test]
    fn a_build_that_takes_longer_than_its_ceiling_fails_with_both_numbers() {
        let all = |own: f64| -> Vec<Weighed> {
            let weighed = |subject: &'static Subject| {
                let time = if subject.ratio_ceiling.is_some() { own } else { 10.0 };
                Weighed { subject, seconds: vec![time, time, 99.0], sizes: Vec::new() }
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

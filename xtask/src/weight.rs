//! The weight of the library in a user's build: the CPU time of a build from nothing, and the bytes
//! that a program gets by it.
//!
//! Each subject is a package of its own below the target directory, with the versions of our
//! `Cargo.lock`. It has three small programs: one without the library, one with a static counter,
//! and one with a static window beside the counter. What a program adds is the difference to the
//! first one.
//!
//! Sizes are the same on each run of one compiler, so they have ceilings. A time depends on the
//! machine and on its load: the ceiling is of its ratio to the build of a published crate that is
//! built in turn with it.

mod measured;
mod subjects;

use std::path::Path;
use std::process::Command;

use lexopt::ValueExt;

use crate::before;
use crate::steps::{Failed, Steps, cargo, target_directory};
use crate::tools::{needs, said, succeeds};
use measured::{Sizes, cpu_seconds, sizes};
use subjects::{Program, Subject, YARDSTICK, ours, rivals};

/// The arguments of the command.
pub(crate) struct Asked {
    rivals: bool,
    before: Option<String>,
    rounds: usize,
}

impl Asked {
    /// Has no rivals, and one round.
    pub(crate) const QUICK: Asked = Asked { rivals: false, before: None, rounds: 1 };

    /// Reads the arguments after `weight`.
    pub(crate) fn parse(arguments: &mut lexopt::Parser) -> Result<Asked, lexopt::Error> {
        let mut asked = Asked::QUICK;
        while let Some(argument) = arguments.next()? {
            match argument {
                lexopt::Arg::Long("rivals") => asked.rivals = true,
                lexopt::Arg::Long("before") => asked.before = Some(arguments.value()?.string()?),
                lexopt::Arg::Long("rounds") => {
                    let rounds: std::num::NonZeroUsize = arguments.value()?.parse()?;
                    asked.rounds = rounds.get();
                }
                other => return Err(other.unexpected()),
            }
        }
        Ok(asked)
    }
}

/// A subject with its measured times and sizes.
struct Weighed {
    subject: Subject,
    /// The CPU seconds of its builds from nothing, one of each round.
    seconds: Vec<f64>,
    /// The sizes of its programs: `None` without binutils.
    programs: Vec<(Program, Option<Sizes>)>,
}

/// Builds all subjects in turn, prints a row for each program, and judges those of this library.
pub(crate) fn run(steps: &mut Steps, asked: &Asked) -> Result<(), Failed> {
    const STEP: &str = "weight in a user's build";
    if !cfg!(unix) {
        steps.leave_out(STEP, "CPU time is read by a POSIX shell");
        return Ok(());
    }
    let root = steps.root().to_owned();
    let target = target_directory().map_err(|why| Failed::new(STEP, why))?;
    let place = target.join("weight");
    let mut subjects = ours(&root);
    if let Some(commit) = &asked.before {
        let sources = place.join("earlier");
        steps.step("an earlier windrow", &format!("git archive {commit}"), || {
            before::take(&root, &place, &sources, commit)
        })?;
        subjects.push(Subject::earlier(commit, &sources));
    }
    subjects.extend(rivals(if asked.rivals { usize::MAX } else { 1 }));
    steps.step(STEP, &format!("cargo build --release, in {}", place.display()), || {
        let has_sizes = cfg!(target_os = "linux") && needs("size", &["--version"]).is_ok();
        let weighed = weigh(&root, &place, subjects, asked.rounds, has_sizes)?;
        print!("{}", table(&weighed));
        judge(&weighed)
    })
}

/// Builds each subject once a round, from nothing.
fn weigh(
    root: &Path,
    place: &Path,
    subjects: Vec<Subject>,
    rounds: usize,
    has_sizes: bool,
) -> Result<Vec<Weighed>, String> {
    let folder = |subject: &Subject| place.join(subject.folder);
    for subject in &subjects {
        subject.write(&folder(subject), &root.join("Cargo.lock"))?;
        succeeds(cargo(&folder(subject)).args(["fetch", "--quiet"]))?; // no time of a build
    }
    let mut all = Vec::new();
    for subject in subjects {
        all.push(Weighed { subject, seconds: Vec::new(), programs: Vec::new() });
    }
    for _ in 0..rounds {
        for Weighed { subject, seconds, .. } in &mut all {
            let heaviest = subject.programs().next_back().ok_or("a package has programs")?;
            seconds.push(cpu_seconds(&folder(subject), heaviest.name())?);
        }
    }
    for Weighed { subject, programs, .. } in &mut all {
        let mut build = cargo(&folder(subject));
        succeeds(measured::alone(&mut build).args(["build", "--release", "--quiet"]))?;
        for program in subject.programs() {
            let file = folder(subject).join("target/release").join(program.name());
            if program == Program::Window {
                counts(&file)?;
            }
            let found = has_sizes.then(|| sizes(&file)).transpose()?;
            programs.push((program, found));
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
    fn added(&self, program: Program) -> Option<Sizes> {
        let of = |wanted| self.programs.iter().find(|(program, _)| *program == wanted)?.1;
        Some(of(program)?.without(of(Program::Empty)?))
    }
}

/// Returns a Markdown table with a row for each subject.
fn table(weighed: &[Weighed]) -> String {
    let kilobytes = |sizes: Option<Sizes>| match sizes {
        Some(Sizes { loaded, zeroed }) => {
            format!("{:.1} and {:.1}", loaded as f64 / 1e3, zeroed as f64 / 1e3)
        }
        None => "-".to_owned(),
    };
    let yardstick = weighed.iter().find(|weighed| weighed.subject.folder == YARDSTICK);
    let yardstick = yardstick.map_or(f64::NAN, Weighed::median);
    let mut rows = format!(
        "| build from nothing | CPU seconds (to {YARDSTICK}'s) | range | KB of a counter: code and \
         data, bss | with a window |\n|---|---|---|---|---|\n"
    );
    for one in weighed {
        let (least, most) = one
            .seconds
            .iter()
            .fold((f64::MAX, 0.0_f64), |(least, most), &time| (least.min(time), most.max(time)));
        let row = [
            one.subject.shown.clone(),
            format!("{:.1} ({:.2})", one.median(), one.median() / yardstick),
            format!("{least:.1} to {most:.1}"),
            kilobytes(one.added(Program::Counter)),
            kilobytes(one.added(Program::Window)),
        ];
        rows += "| ";
        rows += &row.join(" | ");
        rows += " |\n";
    }
    rows
}

/// Holds this library's builds to their ceilings.
fn judge(weighed: &[Weighed]) -> Result<(), String> {
    let yardstick = weighed.iter().find(|weighed| weighed.subject.folder == YARDSTICK);
    let yardstick = yardstick.map(Weighed::median);
    let mut broken = Vec::new();
    for one in weighed {
        let Some(ceiling) = one.subject.ratio_ceiling else { continue };
        if let Some(ratio) = yardstick.map(|yardstick| one.median() / yardstick)
            && ratio > ceiling
        {
            broken.push(format!(
                "{}: {ratio:.2} of the CPU time of {YARDSTICK}, and the ceiling is {ceiling:.2}",
                one.subject.shown
            ));
        }
        for program in [Program::Counter, Program::Window] {
            let (Some(sizes), Some(ceiling)) = (one.added(program), program.ceiling()) else {
                continue;
            };
            let what = format!("{}, program `{}`", one.subject.shown, program.name());
            broken.extend(exceeds(&what, sizes, ceiling));
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
    fn the_arguments_are_read() {
        let parse = |words: &[&str]| Asked::parse(&mut lexopt::Parser::from_args(words));
        let asked = parse(&["--rivals", "--before", "v1", "--rounds", "3"]).unwrap();
        assert!(asked.rivals && asked.before.as_deref() == Some("v1") && asked.rounds == 3);
        assert!(!parse(&[]).unwrap().rivals);
        assert!(parse(&["--rounds", "0"]).is_err() && parse(&["--before"]).is_err());
        assert!(parse(&["x"]).is_err());
    }

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
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let weighed = |subject, seconds: &[f64]| Weighed {
            subject,
            seconds: seconds.to_vec(),
            programs: Vec::new(),
        };
        let all = |seconds: f64| {
            let mut all: Vec<_> = ours(&root).into_iter().map(|own| (own, seconds)).collect();
            all.extend(rivals(1).into_iter().map(|rival| (rival, 10.0)));
            let all = all.into_iter().map(|(subject, time)| weighed(subject, &[time, time, 99.0]));
            all.collect::<Vec<_>>()
        };
        assert_eq!(judge(&all(5.0)), Ok(()));
        let why = judge(&all(90.0)).unwrap_err();
        let ceiling = format!("{:.2}", ours(&root)[0].ratio_ceiling.unwrap());
        assert!(why.contains("9.00") && why.contains(&ceiling), "{why}");
        assert!(table(&all(5.0)).contains("| 5.0 (0.50) | 5.0 to 99.0 |"), "{}", table(&all(5.0)));
    }
}

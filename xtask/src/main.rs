//! The project's own commands: `cargo xtask <command>`.
//!
//! `check` is for after an edit, `test` for before sending a change; with `ci` it is everything
//! that must pass before the change goes in. They need cargo, rustfmt and clippy and nothing else
//! (without valgrind, portable paths are not counted). `verify` takes longer. The others are their
//! parts. A command that needs more programs says so.

mod arrows;
mod assembly;
mod before;
mod bounds;
mod browser;
mod cluster;
mod collector;
mod compare;
mod copy;
mod elsewhere;
mod exporters;
mod fuzz;
#[cfg(test)]
mod guides;
mod instructions;
mod integrations;
mod litmus;
mod models;
mod mutants;
mod names;
mod orderings;
mod packages;
mod pictures;
#[cfg(unix)]
mod platforms;
mod ports;
mod sanitizers;
mod scrape;
#[cfg(test)]
mod signs;
mod sources;
mod steps;
mod strategies;
mod suites;
mod twin;
mod twins;
mod wild;
mod words;

use std::ffi::OsString;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::Arg::{Long, Short, Value};
use lexopt::{Parser, ValueExt};
use steps::{Failed, Steps};

const HELP: &str = "\
usage: cargo xtask <command>

  check           after each edit: format, lints, unit and contract tests, those of `integrations`
  test            before sending a change: lints, docs and all tests of the library
  ci              before it goes in, after `test`: all that stands beside it, machine code, models, one broken
                  twin, the table of orders, many processes under Prometheus, arm64 in a virtual machine (on Debian:
                  installs it by apt-get)
  verify          before a release: all that takes longer: hours

  models [NAME]   the loom models, over both reclaimers, per core and portably; NAME: only those whose path
                  begins with it
  twins [NAME]    the broken twins, each of which must be noticed; NAME: only those whose name
                  contains it
  orderings [NAME]
                  weakens each memory order, which a model must notice, and writes the table in
                  docs/orderings.md; NAME[,NAME]...: only sites whose names contain one
  orderings --check
                  whether that table is about the sources as they are
  shuttle [SCHEDULES]
                  models and histories under shuttle, each in so many random orders

  torture [SECONDS]
                  counters and windows under everything that interrupts a thread (60)
  soak [--minutes N]
                  everything at once in each strategy, watching what the process holds (10)
  mutants [PATH]  small changes to src/PATH*, each of which a test must notice (cargo-mutants)
  sanitizers      AddressSanitizer and ThreadSanitizer (a nightly compiler), and valgrind
  fuzz [SECONDS]  histories from a fuzzer, so long per strategy (a nightly compiler, cargo-fuzz) (60)
  portable        the library's own tests, in each strategy: what every system can run
  elsewhere [TARGET]
                  compiles and tests for other processors and systems, under emulation, and in virtual machines
                  with kernels of their own (Debian, from its packages alone: installs them by apt-get);
                  TARGET: only the targets and the machines whose names contain it
  static          a program that is linked statically counts as one that is not (glibc, x86-64)
  wild            everything at once in builds that tests do not have (LTO, opt-level s, panic=abort, a profile
                  ...), on its own and as two copies of a shared object in Python and in Node
  bounds          tests the integrations with the lowest versions of their dependencies that their
                  manifests allow
  oldest          builds the library with the oldest compiler that it allows (rustup)
  miri            the portable path under Miri (a nightly compiler with miri)
  packages        packs, unpacks, builds and documents what is published; with a nightly compiler also as the
                  documentation site does
  releasable      whether the repository's address is filled in, and the version number says what breaks;
                  then `packages`

  arrows          which file of src names which: refuses circles, and a file of a higher layer
  names           whether each name in docs/**/*.md and CONTRIBUTING.md is in the sources, and each file of src
                  in the tables of docs/design.md and its parts
  words [PATH]    comments and pages: summaries without a subject, banned phrases, words that the glossary
                  replaces, long lines; PATH: only files whose path begins with it
  scrape          hands what windrow-prometheus writes to promtool, to the parsers of PyPI's prometheus-client,
                  to a prometheus server and to a prometheus-pushgateway: those that are on the path
  collector       puts a real OpenTelemetry collector (PyPI's rotel: installs it in target) between
                  windrow-otlp and its test's book, and kills it in between
  browser         drives the page of windrow-console with a browser (Debian's chromium-headless-shell);
                  --screenshots: takes the pictures of it anew
  cluster [--keep]
                  three processes of examples/service and a prometheus server: what it adds up is what was
                  sent, though one is killed; and its rules, by promtool; --keep: they go on until Ctrl-C
  exporters       asks windrow's exporters and those of others what they can do, and compares with the tables in
                  integrations/exporters.md (Debian's protobuf-compiler); --write: writes them
  dependencies    writes what each integration adds to a user's tree into integrations/README.md
  pictures        puts the pictures of docs and integrations/console into a pictures.md beside them, for the
                  documentation site
  assembly        reads the machine code of the hot paths
  instructions    counts their instructions (valgrind), and compares with xtask/instructions.txt;
                  --write: writes that

  compare [PART]...
                  windrow and its rivals, side by side: tables, data and pictures in target/compare;
                  --quick: in a minute or two; --publish: into benches/results.md and README.md, pictures into docs;
                  PART: only that; one that does not exist lists them;
                  --before COMMIT: the strategies also as they were then
  compare ports   programs of others on windrow, before and after: runs their own tests, and measures both
                  (--quick: with fewer rounds)
  help            this
";

type Suite = fn(&mut Steps) -> Result<(), Failed>;

/// The commands without arguments.
const SUITES: &[(&str, Suite)] = &[
    ("check", suites::check),
    ("test", suites::test),
    ("ci", suites::ci),
    ("verify", suites::verify),
    ("arrows", arrows::run),
    ("names", names::run),
    ("sanitizers", sanitizers::run),
    ("portable", elsewhere::portable),
    ("static", elsewhere::linked_statically),
    ("bounds", bounds::run),
    ("oldest", elsewhere::oldest),
    ("miri", elsewhere::miri),
    ("packages", packages::run),
    ("wild", wild::run),
    ("releasable", packages::releasable),
    ("pictures", pictures::run),
    ("scrape", scrape::run),
    ("collector", collector::run),
    ("dependencies", integrations::dependencies),
];

/// The error of a call.
enum Problem {
    Failed(Failed),
    /// The command was misused.
    Misused(lexopt::Error),
}

impl From<Failed> for Problem {
    fn from(failed: Failed) -> Problem {
        Problem::Failed(failed)
    }
}

impl From<lexopt::Error> for Problem {
    fn from(error: lexopt::Error) -> Problem {
        Problem::Misused(error)
    }
}

fn main() -> ExitCode {
    let mut steps = Steps::begin(&root());
    let mut arguments = Parser::from_env();
    let outcome = match arguments.next() {
        Ok(Some(Value(command))) if command != "help" => command
            .string()
            .map_err(Problem::from)
            .and_then(|name| run(&mut steps, &name, &mut arguments)),
        Ok(Some(Value(_) | Short('h') | Long("help"))) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Ok(Some(option)) => Err(option.unexpected().into()),
        Ok(None) => Err(lexopt::Error::from("no command").into()),
        Err(error) => Err(error.into()),
    };
    match outcome {
        Ok(()) => steps.summarise(&Ok(())),
        Err(Problem::Failed(failed)) => steps.summarise(&Err(failed)),
        Err(Problem::Misused(what)) => {
            eprintln!("xtask: {what}; `cargo xtask help` lists the commands");
            ExitCode::from(2)
        }
    }
}

fn run(steps: &mut Steps, command: &str, arguments: &mut Parser) -> Result<(), Problem> {
    if let Some((_, suite)) = SUITES.iter().find(|(name, _)| *name == command) {
        Rest::read(arguments, None)?.none()?;
        return Ok(suite(steps)?);
    }
    if command == "compare" {
        let asked = compare::Asked::parse(arguments.raw_args()?).map_err(lexopt::Error::from)?;
        match asked {
            compare::Asked::Ports { passed_on } => ports::run(steps, &passed_on)?,
            compare::Asked::Lab { publish, before, passed_on } => {
                compare::run(steps, publish, before.as_deref(), passed_on)?;
            }
        }
        return Ok(());
    }
    let option = match command {
        "orderings" => Some("check"),
        "exporters" | "instructions" => Some("write"),
        "soak" => Some("minutes"),
        "browser" => Some("screenshots"),
        "cluster" => Some("keep"),
        _ => None,
    };
    let rest = Rest::read(arguments, option)?;
    match command {
        "models" => models::run(steps, &rest.word()?)?,
        "twins" => twin::run(steps, &rest.word()?)?,
        "orderings" if rest.option => {
            rest.none()?;
            orderings::check(steps)?;
        }
        "orderings" => orderings::run(steps, &rest.word()?)?,
        #[cfg(unix)]
        "elsewhere" => platforms::run(steps, &rest.word()?)?,
        "shuttle" => models::shuttle(steps, rest.number()?)?,
        "torture" => suites::torture(steps, rest.number()?.unwrap_or(60))?,
        "soak" if rest.option => {
            let minutes =
                rest.number()?.ok_or(lexopt::Error::from("--minutes lacks its number"))?;
            litmus::soak(steps, minutes)?;
        }
        "soak" => litmus::soak(steps, rest.number()?.unwrap_or(10))?,
        "cluster" => {
            let keep = rest.option;
            rest.none()?;
            cluster::run(steps, keep)?;
        }
        "exporters" => {
            let write = rest.option;
            rest.none()?;
            exporters::run(steps, write)?;
        }
        "mutants" => mutants::run(steps, &rest.word()?)?,
        "fuzz" => fuzz::run(steps, rest.number()?.unwrap_or(60))?,
        "browser" => {
            let take = rest.option;
            rest.none()?;
            if take { browser::screenshots(steps)? } else { browser::run(steps)? }
        }
        "words" => words::run(steps, &rest.word()?)?,
        "assembly" => {
            rest.none()?;
            assembly::run(steps)?;
        }
        "instructions" => {
            let write = rest.option;
            rest.none()?;
            instructions::run(steps, write)?;
        }
        _ => return Err(lexopt::Error::from(format!("there is no command `{command}`")).into()),
    }
    Ok(())
}

/// The arguments of a command: one word at most, and the option that it knows.
struct Rest {
    word: Option<OsString>,
    option: bool,
}

impl Rest {
    fn read(arguments: &mut Parser, option: Option<&str>) -> Result<Rest, lexopt::Error> {
        let mut rest = Rest { word: None, option: false };
        while let Some(argument) = arguments.next()? {
            match argument {
                Long(name) if Some(name) == option => rest.option = true,
                Value(word) if rest.word.is_none() => rest.word = Some(word),
                other => return Err(other.unexpected()),
            }
        }
        Ok(rest)
    }

    /// Demands that there is no word.
    fn none(self) -> Result<(), lexopt::Error> {
        self.word.map_or(Ok(()), |word| Err(Value(word).unexpected()))
    }

    fn word(self) -> Result<String, lexopt::Error> {
        self.word.unwrap_or_default().string()
    }

    /// A whole number above 0, if there is a word.
    fn number(self) -> Result<Option<u64>, lexopt::Error> {
        let number = |word: OsString| word.parse_with(|text| text.parse().map(NonZeroU64::get));
        self.word.map(number).transpose()
    }
}

/// The workspace's root.
fn root() -> PathBuf {
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    package.parent().map_or(package.clone(), PathBuf::from)
}

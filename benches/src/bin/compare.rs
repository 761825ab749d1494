//! The comparison lab's program: measures, and leaves a report. `cargo xtask compare` builds and
//! calls it; see there for what a person types.
//!
//! `compare DIRECTORY [--quick] [--java CLASSES] [PART]...`; and two ways
//! in which it calls itself: `--serve` (a worker) and `--portable-part PART`.
//!
//! Ends with an error if windrow, or a rival that is right by design, lost a count.

use std::env;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::Arg::{Long, Value};
use lexopt::{Parser, ValueExt};
use serde_json::json;
use windrow::diagnostics::strategy;
use windrow_benches::harness::cores;
use windrow_benches::heap::Counting;
use windrow_benches::lab::environment::{Environment, Others};
use windrow_benches::lab::report::Report;
use windrow_benches::lab::rounds::Workers;
use windrow_benches::lab::speed::{SETS, Speed};
use windrow_benches::lab::{
    Effort, latency, losses, memory, pictures, portable, ratios, summary, worker,
};
use windrow_benches::ours::RINGS;

#[global_allocator]
static HEAP: Counting = Counting::new();

/// The parts that can be requested, in the order in which they are measured: bytes first, before
/// other parts have used the heap.
const PARTS: [&str; 4] = ["memory", "speed", "losses", "latency"];

/// Returns these parts, and the parts of the part `speed`.
fn parts() -> impl Iterator<Item = &'static str> {
    PARTS.into_iter().chain(SETS.map(|(name, _)| name))
}

/// The parsed arguments.
struct Asked {
    directory: PathBuf,
    effort: Effort,
    java: Option<PathBuf>,
    parts: Vec<String>,
}

impl Asked {
    fn parse(mut arguments: Parser) -> Result<Asked, lexopt::Error> {
        let mut asked = Asked {
            directory: PathBuf::from(arguments.value()?),
            effort: Effort::Full,
            java: None,
            parts: Vec::new(),
        };
        while let Some(argument) = arguments.next()? {
            match argument {
                Long("quick") => asked.effort = Effort::Quick,
                Long("java") => asked.java = Some(arguments.value()?.into()),
                Value(part) if parts().any(|known| part == *known) => {
                    asked.parts.push(part.string()?);
                }
                Value(part) => {
                    let (part, parts) = (part.display(), parts().collect::<Vec<_>>().join(", "));
                    return Err(format!("there is no part `{part}`; there are {parts}").into());
                }
                other => return Err(other.unexpected()),
            }
        }
        Ok(asked)
    }

    fn wants(&self, part: &str) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|wanted| wanted == part)
    }
}

/// Measures the requested parts. Returns the report, and whether everything is sound.
fn measure(asked: &Asked) -> Result<(Report, bool), Box<dyn Error>> {
    let effort = asked.effort;
    let others = Others::watch();
    let (mut left_out, mut tables, mut speed) = (Vec::new(), Vec::new(), None);
    if asked.wants("memory") {
        tables.push(memory::table(&HEAP));
    }
    HEAP.stop(true);
    let mut sets = SETS.map(|(name, _)| name).to_vec();
    sets.retain(|set| asked.wants("speed") || asked.wants(set));
    if !sets.is_empty() {
        if asked.java.is_none() {
            left_out.push("Java's counters, since there is no JDK on the path".to_owned());
        }
        let mut workers = Workers::new(asked.java.as_deref());
        let measured = Speed::measure(effort, &sets, &mut workers);
        left_out.append(&mut workers.failed);
        tables.extend(measured.tables());
        speed = Some(measured);
    }
    let (mut lost, mut times) = (Vec::new(), Vec::new());
    if asked.wants("losses") {
        lost = losses::rows(effort, &RINGS);
        lost.extend(portable::rows("losses", effort)?);
        tables.push(losses::table(&lost));
    }
    let sound = lost.iter().filter(|row| row.must_be_sound()).all(losses::Row::sound);
    if asked.wants("latency") {
        times.push(latency::of_clock(effort));
        times.extend(latency::rows(effort, &RINGS));
        times.extend(portable::rows::<latency::Row>("latency", effort)?);
        tables.push(latency::table(&times));
    }
    tables.insert(0, summary::table(speed.as_ref()));
    tables.insert(1, ratios::table(speed.as_ref()));
    tables.retain(|table| !table.rows.is_empty());
    let Environment { caption, line } =
        Environment::new(&command(asked), asked.java.is_some(), &others, &left_out);
    let pictures = pictures::all(&line, speed.as_ref(), &lost, &times);
    Ok((Report { caption, tables, pictures }, sound))
}

/// Returns the command that a reader types, from what this program was called with.
fn command(asked: &Asked) -> String {
    let quick = (asked.effort == Effort::Quick).then_some("--quick");
    let words = ["cargo xtask compare"].into_iter().chain(asked.parts.iter().map(String::as_str));
    words.chain(quick).collect::<Vec<_>>().join(" ")
}

/// Returns the whole run, from the command line to the files.
fn run() -> Result<bool, Box<dyn Error>> {
    let asked = Asked::parse(Parser::from_env())?;
    let (report, sound) = measure(&asked)?;
    let written = report.write(&asked.directory);
    written.map_err(|error| format!("{}: {error}", asked.directory.display()))?;
    println!("{}", report.markdown());
    Ok(sound)
}

/// Prints a part for windrow alone, as JSON.
fn portable_part(part: &str, effort: Effort) -> Result<bool, Box<dyn Error>> {
    let rows = match part {
        "losses" => json!(losses::rows(effort, &portable::RINGS)),
        "latency" => json!(latency::rows(effort, &portable::RINGS)),
        _ => return Err(format!("`{part}` is no part of the portable strategy").into()),
    };
    println!("{rows}");
    Ok(true)
}

/// Answers questions as a worker.
fn serve() -> bool {
    HEAP.stop(true);
    worker::serve();
    true
}

fn main() -> ExitCode {
    // Before any thread is kept to one core: both would take that one for the whole machine.
    cores();
    strategy();
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        ["--serve"] => Ok(serve()),
        #[cfg(feature = "sentinel")]
        ["--serve", "--sentinel-ticker"] => {
            windrow_benches::rivals::sentinel::start_ticker();
            Ok(serve())
        }
        ["--portable-part", part] => portable_part(part, Effort::Full),
        ["--portable-part", part, "--quick"] => portable_part(part, Effort::Quick),
        _ => run(),
    };
    let why = match outcome {
        Ok(true) => return ExitCode::SUCCESS,
        Ok(false) => "counts were lost where none may be".to_owned(),
        Err(why) => why.to_string(),
    };
    eprintln!("compare: {why}");
    ExitCode::FAILURE
}

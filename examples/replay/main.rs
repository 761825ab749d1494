//! Replays a web server's access log through two windows and prints the busiest times.
//!
//! A [`windrow::clock::Manual`] clock follows the log's own timestamps. One window has a bucket for
//! each second of a minute, the other for each minute of an hour; a bucket that leaves a window is
//! final and takes its place in the ranking. Lines out of order are back-dated into the second that
//! they name; those that come too late for it are counted as late, never lost. A line of another
//! year among the rest is also counted as late, and does not move the windows.
//!
//! ```text
//! cargo run --release --example replay -- examples/data/access.log
//! tail -n 100000 access.log | cargo run --release --example replay
//! cargo run --release --example replay -- --help
//! ```
//!
//! The log is in the combined format, which may be followed by the time that the request took, in
//! seconds. It exits with 1 if the windows did not count every good line, and with 2 when the
//! arguments or the file are at fault.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind};
use std::process::ExitCode;

mod date;
mod entry;
mod lines;
#[path = "../common/numbers.rs"]
mod numbers;
mod ranking;
mod replay;
mod report;

use lexopt::Arg::{Long, Short, Value};
use lexopt::{Parser, ValueExt};

const USAGE: &str = "\
Replays an access log in the combined format: busiest seconds and minutes, errors, response times.

usage: replay [OPTIONS] [FILE]

  FILE      the log; - or nothing for standard input
  --top N   how many seconds and minutes to rank, 1 to 1000 (5)
  --help    this text
";

/// Reads the number of places and the name of the file; `None` if it is for help.
fn options() -> Result<Option<(usize, OsString)>, lexopt::Error> {
    let (mut top, mut file) = (5, None);
    let mut arguments = Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("top") => top = arguments.value()?.parse_with(places)?,
            Long("help") | Short('h') => return Ok(None),
            Value(name) if file.is_none() => file = Some(name),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some((top, file.unwrap_or_else(|| "-".into()))))
}

/// Reads a number of places.
fn places(digits: &str) -> Result<usize, &'static str> {
    let places = digits.parse().ok().filter(|places| (1..=1_000).contains(places));
    places.ok_or("it must be from 1 to 1000")
}

/// Prints a line that says what was wrong with the arguments or the file.
fn refuse(why: &str) -> ExitCode {
    eprintln!("replay: {why}");
    ExitCode::from(2)
}

fn main() -> ExitCode {
    let (top, name) = match options() {
        Ok(Some(options)) => options,
        Ok(None) => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => return refuse(&error.to_string()),
    };
    let replay = match open(&name).and_then(|log| replay::run(log, top)) {
        Ok(replay) => replay,
        Err(error) => return refuse(&format!("cannot read {}: {error}", name.display())),
    };
    match report::print(&replay, &mut io::stdout().lock()) {
        // The reader of the report has seen enough.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            eprintln!("replay: cannot write the report: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::from(u8::from(!replay.is_complete())),
    }
}

fn open(name: &OsStr) -> io::Result<Box<dyn BufRead>> {
    Ok(if name == "-" {
        Box::new(io::stdin().lock())
    } else {
        Box::new(BufReader::new(File::open(name)?))
    })
}

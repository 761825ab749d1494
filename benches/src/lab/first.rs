//! The cost of the first use: making a counter or a window and adding once, in a fresh process; and
//! the second add, which shows the part that the first one paid.
//!
//! Each measurement is a process of its own: the first use in a process makes one-time state.

use std::env;
use std::hint::black_box;
use std::process::{Command, Stdio};
use std::time::Instant;

use serde::Serialize;

use super::Effort;
use super::progress::Progress;
use super::report::Table;
use super::stats::Spread;
use super::subject::{self, Group, Process, Subject};

/// One contender.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The group of contenders.
    pub group: &'static str,
    /// The contender.
    pub name: &'static str,
    /// Nanoseconds of the first add of the process.
    pub first_ns: Spread,
    /// The time of the second add.
    pub second_ns: Spread,
}

/// Times two adds to `name` in a child process, and prints the times in nanoseconds.
///
/// # Panics
/// If no contender has that name.
pub fn measure_here(group: &str, name: &str) {
    let group = Group::ALL.into_iter().find(|known| known.name() == group).expect("a known group");
    let contender = subject::make(group, name).expect("a known contender");
    // The clock's own first use is not the contender's.
    black_box(Instant::now().elapsed());
    let time = || {
        let begin = Instant::now();
        contender.rival.add(1);
        begin.elapsed().as_nanos()
    };
    let (first, second) = (time(), time());
    println!("{first} {second}");
}

/// One process.
fn once(subject: Subject) -> Result<(f64, f64), String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    command.args(["--first", subject.group.name(), subject.name]).stderr(Stdio::inherit());
    if subject.process == Process::Portable {
        command.env("WINDROW_STRATEGY", "portable");
    }
    let output = command.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut numbers = text.split_whitespace().map(str::parse::<f64>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(first)), Some(Ok(second))) => Ok((first, second)),
        _ => Err(format!("{}: the first add was answered by `{text}`", subject.label())),
    }
}

/// Measures.
///
/// # Errors
/// If a process fails.
pub fn rows(effort: Effort) -> Result<Vec<Row>, String> {
    let times = effort.pick(5, 31);
    let here = |subject: &Subject| matches!(subject.process, Process::Here | Process::Portable);
    let groups = [Group::Counter, Group::Window];
    let subjects = groups.into_iter().flat_map(|group| Subject::all(group, false)).filter(here);
    let subjects: Vec<Subject> = subjects.collect();
    let mut progress = Progress::begin("the first add of a process");
    let mut rows = Vec::new();
    for &subject in &subjects {
        progress.step(subject.label(), rows.len(), subjects.len());
        let runs: Result<Vec<_>, _> = (0..times).map(|_| once(subject)).collect();
        let runs = runs?;
        rows.push(Row {
            group: subject.group.name(),
            name: subject.label(),
            first_ns: Spread::of(runs.iter().map(|run| run.0)),
            second_ns: Spread::of(runs.iter().map(|run| run.1)),
        });
    }
    progress.end();
    Ok(rows)
}

/// Shows.
pub fn table(rows: &[Row]) -> Table {
    let heads = ["contender", "kind", "first add, ns of wall time", "second add"];
    let mut table = Table::new("first", "The first add of a process", heads);
    for row in rows {
        let kind = row.group.to_owned();
        table.row([row.name.to_owned(), kind, row.first_ns.show(), row.second_ns.show()]);
    }
    table
}

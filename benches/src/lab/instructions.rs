//! Instructions an add, counted by callgrind: the one figure that no neighbour and no clock frequency
//! changes.
//!
//! Counted is the loop around many adds, in a worker, and nothing outside it; less the same of an empty loop.
//! valgrind knows no restartable sequences, so windrow is portable in
//! there. What the per-core path has comes from its machine code (`cargo xtask assembly`).

use std::env;
use std::io::Write;
use std::process::{Command, Stdio};

use serde::Serialize;

use super::Effort;
use super::progress::Progress;
use super::report::Table;
use super::subject::{Group, Place, SENTINEL, Subject};
use crate::harness::WARM_UP;
use crate::ours::WINDROW;
use crate::rivals::counters::NOTHING;

/// Adds, on top of those of the warm-up, which go through the same loop.
const ADDS: u64 = 50_000;

/// One contender.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The group of contenders.
    pub group: &'static str,
    /// The contender.
    pub name: String,
    /// Instructions of one add.
    pub instructions: f64,
}

/// Instructions of one round of the loop around an add to `name`.
fn each(group: Group, name: &str) -> Result<f64, String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"]);
    command.arg("--toggle-collect=*add_many*").arg(program); // the loop is a function of its own
    command.arg("--serve").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("cannot run valgrind: {error}"))?;
    let question = format!("add\t{}\t{name}\t1\t{ADDS}\n", group.name());
    let asked = child.stdin.take().map(|mut input| input.write_all(question.as_bytes()));
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let number =
        text.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse::<f64>().ok());
    match (asked, number) {
        (Some(Ok(())), Some(number)) => Ok(number / (ADDS + WARM_UP) as f64),
        _ => Err(format!("callgrind of {name}: {}", text.lines().last().unwrap_or_default())),
    }
}

/// Whether there is a valgrind.
pub fn possible() -> bool {
    let version = Command::new("valgrind").arg("--version").stdout(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// Measures. `per_core` are the lengths of windrow's per-core paths, by group.
///
/// # Errors
/// If valgrind fails.
pub fn rows(effort: Effort, per_core: &[(Group, usize)]) -> Result<Vec<Row>, String> {
    // Windows on a clock that stands still: a thread that publishes the time would be counted too.
    let groups = effort.pick(&[Group::Counter][..], &[Group::Counter, Group::Full2]);
    let mut progress = Progress::begin("instructions an add");
    let empty = each(Group::Counter, NOTHING)?;
    let mut rows = Vec::new();
    for &group in groups {
        if let Some((_, instructions)) = per_core.iter().find(|(of, _)| *of == group) {
            let name = format!("{WINDROW}, per core (its machine code)");
            let instructions = *instructions as f64;
            rows.push(Row { group: group.name(), name, instructions });
        }
        let names: Vec<_> = Subject::all(group, false)
            .into_iter()
            .filter(|subject| subject.place == Place::Here)
            .map(|subject| subject.name)
            .collect();
        for (index, name) in names.iter().enumerate() {
            progress.step(name, index, names.len());
            let label = match *name {
                WINDROW => format!("{WINDROW}, portable"),
                name => name.to_owned(),
            };
            let instructions = each(group, name)? - empty;
            rows.push(Row { group: group.name(), name: label, instructions });
        }
    }
    if cfg!(feature = "sentinel") {
        let group = Group::Coarse; // it reads the system's clock at each add
        let instructions = each(group, SENTINEL)? - empty;
        rows.push(Row { group: group.name(), name: SENTINEL.to_owned(), instructions });
    }
    progress.end();
    Ok(rows)
}

/// Shows.
pub fn table(rows: &[Row]) -> Table {
    let heads = ["contender", "kind", "instructions an add"];
    let mut table = Table::new("instructions", "Instructions an add", heads);
    for row in rows {
        let instructions = format!("{:.1}", row.instructions);
        table.row([row.name.clone(), row.group.to_owned(), instructions]);
    }
    table
}

//! Instructions and loads of an add, and of windrow's reads, counted by callgrind: the figures that
//! no neighbour and no clock frequency changes.
//!
//! Counted is the loop around many calls, in a worker, and nothing outside it; less the same of an
//! empty loop. valgrind knows no restartable sequences, so windrow is portable in there. What the
//! per-core path has comes from its machine code (`cargo xtask assembly`).

use std::env;
use std::io::Write;
use std::process::{Command, Stdio};

use serde::Serialize;

use super::Effort;
use super::progress::Progress;
use super::report::Table;
use super::subject::{Group, Process, SENTINEL, Subject};
use super::work::Work;
use crate::harness::WARM_UP;
use crate::ours::{COUNTER_AND_CLOCK, TOUCHED, WINDROW};
use crate::rivals::counters::NOTHING;

/// Adds, on top of those of the warm-up, which go through the same loop.
const ADDS: u64 = 50_000;
/// Reads, likewise.
const READS: u64 = 10_000;

/// Contenders whose adds are those of another.
const READ_ALONE: [&str; 2] = [TOUCHED, COUNTER_AND_CLOCK];

/// One contender.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The group of contenders.
    pub group: &'static str,
    /// The contender.
    pub name: String,
    /// The operation.
    pub what: &'static str,
    /// Instructions of one call.
    pub instructions: f64,
    /// Loads among them, where they were counted.
    pub loads: Option<f64>,
}

/// Instructions and loads of one round of the loop around calls to `name`.
fn each(group: Group, name: &str, work: Work) -> Result<[f64; 2], String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no"]);
    // The loop is a function of its own. With its caches, callgrind tells loads from other
    // instructions.
    let (counted, times) = match work {
        Work::Read => ("*sum_many*", READS),
        _ => ("*add_many*", ADDS),
    };
    command.args(["--cache-sim=yes", &format!("--toggle-collect={counted}")]).arg(program);
    command.arg("--serve").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("cannot run valgrind: {error}"))?;
    let question = format!("{}\t{}\t{name}\t1\t{times}\n", work.name(), group.name());
    let asked = child.stdin.take().map(|mut input| input.write_all(question.as_bytes()));
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let numbers = text.lines().find_map(|line| {
        let mut words = line.split_once("Collected : ")?.1.split_whitespace();
        Some([words.next()?.parse::<f64>().ok()?, words.next()?.parse::<f64>().ok()?])
    });
    match (asked, numbers) {
        (Some(Ok(())), Some(numbers)) => {
            Ok(numbers.map(|number| number / (times + WARM_UP) as f64))
        }
        _ => Err(format!("callgrind of {name}: {}", text.lines().last().unwrap_or_default())),
    }
}

/// Returns whether there is a valgrind.
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
    let adds: &[Group] = effort
        .pick(&[Group::Counter], &[Group::Counter, Group::Full2, Group::Labels, Group::Tiers]);
    let reads: &[Group] =
        effort.pick(&[], &[Group::Full2, Group::Full60, Group::Full600, Group::TierReads]);
    let mut progress = Progress::begin("instructions of a call");
    let empty =
        [each(Group::Counter, NOTHING, Work::Add(1))?, each(Group::Counter, NOTHING, Work::Read)?];
    let mut rows = Vec::new();
    let adds = adds.iter().map(|&group| (group, Work::Add(1)));
    for (group, work) in adds.chain(reads.iter().map(|&group| (group, Work::Read))) {
        let reads = work == Work::Read;
        let what = if reads { "read" } else { "add" };
        let machine_code = per_core.iter().find(|(of, _)| *of == group).filter(|_| !reads);
        if let Some((_, instructions)) = machine_code {
            let name = format!("{WINDROW}, per core (its machine code)");
            let instructions = *instructions as f64;
            rows.push(Row { group: group.name(), name, what, instructions, loads: None });
        }
        let takes_part = |subject: &Subject| {
            let ours = subject.name.starts_with(WINDROW);
            subject.process == Process::Here
                && if reads { ours } else { !READ_ALONE.contains(&subject.name) }
        };
        let names: Vec<_> = Subject::all(group, false)
            .into_iter()
            .filter(takes_part)
            .map(|subject| subject.name)
            .collect();
        for (index, name) in names.iter().enumerate() {
            progress.step(name, index, names.len());
            let label = match *name {
                WINDROW => format!("{WINDROW}, portable"),
                name => name.to_owned(),
            };
            let [instructions, loads] = each(group, name, work)?;
            let [own, own_loads] = empty[usize::from(reads)];
            rows.push(Row {
                group: group.name(),
                name: label,
                what,
                instructions: instructions - own,
                loads: Some(loads - own_loads),
            });
        }
    }
    if cfg!(feature = "sentinel") {
        let group = Group::Coarse; // it reads the system's clock at each add
        let [instructions, loads] = each(group, SENTINEL, Work::Add(1))?;
        let ([own, own_loads], name) = (empty[0], SENTINEL.to_owned());
        let (instructions, loads) = (instructions - own, Some(loads - own_loads));
        rows.push(Row { group: group.name(), name, what: "add", instructions, loads });
    }
    progress.end();
    Ok(rows)
}

/// Shows.
pub fn table(rows: &[Row]) -> Table {
    let heads = ["contender", "kind", "call", "instructions", "loads among them"];
    let mut table = Table::new("instructions", "Instructions of a call", heads);
    for row in rows {
        let instructions = format!("{:.1}", row.instructions);
        let loads = row.loads.map_or("-".to_owned(), |loads| format!("{loads:.1}"));
        let (name, group, what) = (row.name.clone(), row.group.to_owned(), row.what.to_owned());
        table.row([name, group, what, instructions, loads]);
    }
    table
}

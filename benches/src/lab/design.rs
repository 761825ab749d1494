//! The gain of each idea: the same window body (slots by time, five events, stripes by thread) over
//! the ways in which a bucket can change, with speed, losses and memory in one table.

use super::losses;
use super::memory;
use super::report::Table;
use super::rotation;
use super::speed::counted;
use super::stats::digits;
use super::subject::{Group, PORTABLE};
use super::targets::Measured;
use super::work::Work;
use crate::harness::cores;
use crate::ours::WINDROW;
use crate::rivals::{
    CAS_RING, CAS_STRIPES, EPOCH_RING, LEAP_ARRAY, MUTEX_RING, PACKED_RING, PACKED_STRIPES,
};

/// Each idea, and the contender that has it.
const IDEAS: [(&str, &str); 9] = [
    ("one lock for everything", MUTEX_RING),
    ("reset in place under a lock, stripes", LEAP_ARRAY),
    ("compare-and-set the start in place, one cell", CAS_RING),
    ("compare-and-set the start in place, stripes", CAS_STRIPES),
    ("start and count in one word, one cell", PACKED_RING),
    ("start and count in one word, stripes", PACKED_STRIPES),
    ("bucket swapped under a pin, fresh stripes", EPOCH_RING),
    ("bucket swapped under a pin, stripes taken in turns", PORTABLE),
    ("bucket swapped, restartable sequences", WINDROW),
];

/// Returns the table; cells of parts that were not measured are empty, as is the whole table if no
/// part was.
pub fn table(measured: Measured) -> Table {
    let all = format!("add, {}", counted(cores()));
    let rotation = format!("rotation, us, {} others", cores() - 1);
    let heads = [
        "how a bucket changes",
        "contender",
        "add, 1 thread",
        &*all,
        "sum of 60",
        &*rotation,
        "lost per rotation",
        "bytes, 60 buckets",
    ];
    let mut table = Table::new("design", "What each idea buys", heads);
    let parts =
        [measured.rotation.is_empty(), measured.losses.is_empty(), measured.memory.is_empty()];
    if measured.speed.is_none() && parts.iter().all(|empty| *empty) {
        return table;
    }
    for (idea, name) in IDEAS {
        let cost = |group, work| {
            let figure = measured.speed.and_then(|speed| speed.find(group, name, work));
            figure.map_or("-".to_owned(), |figure| figure.cost().show_median())
        };
        table.row([
            idea.to_owned(),
            name.to_owned(),
            cost(Group::Window, Work::Add(1)),
            cost(Group::Window, Work::Add(cores())),
            cost(Group::Full60, Work::Read),
            rotations(measured.rotation, name),
            lost(measured.losses, name),
            bytes(measured.memory, name),
        ]);
    }
    table.note(
        "Times in ns of CPU time, time published; lost: the worst of all paces and numbers of \
        threads. Bytes of windrow are those with as many rows as cores here.",
    );
    table
}

fn rotations(rows: &[rotation::Row], name: &str) -> String {
    let row = rows.iter().find(|row| row.name == name && row.others == cores() - 1);
    row.map_or("-".to_owned(), |row| digits(row.median_us))
}

fn lost(rows: &[losses::Row], name: &str) -> String {
    let rows = || rows.iter().filter(|row| row.name == name);
    let worst = rows().map(losses::Row::lost_each).fold(0.0, f64::max);
    match rows().next() {
        None => "-".to_owned(),
        Some(_) if worst == 0.0 => "**0**".to_owned(),
        Some(_) => format!("{worst:.4}"),
    }
}

fn bytes(rows: &[memory::Row], name: &str) -> String {
    let name = if name == PORTABLE { WINDROW } else { name };
    let row = rows.iter().find(|row| row.name == name && row.buckets == Some(60));
    row.map_or("-".to_owned(), |row| row.bytes(cores()).to_string())
}

//! Machines that are not at hand, on paper: what adds, reads, rotations and bytes come to on 64, 128 and
//! 256 cores, each term tied to a figure that was measured here, so that a reader can check it on a machine
//! of their own.
//!
//! The model is a straight line in the number of cores, from what one core's part costs:
//!
//! - an add touches one line, which no other core writes: it costs what it costs alone;
//! - an add to a shared number waits for the line to come from the core that had it: all cores together
//!   make one add in the time of one such transfer;
//! - a read visits a line for each row; of a row that is being written to, the line comes from its writer;
//! - a rotation interrupts each core on which the process runs.

use super::report::Table;
use super::rotation;
use super::rounds::{Figure, Work};
use super::speed::{Speed, beside_a_reader};
use super::stats::{Spread, digits};
use super::subject::Group;
use super::targets::Measured;
use crate::harness::cores;
use crate::ours::WINDROW;
use crate::rivals::counters::ATOMIC;
use crate::rivals::published::FAST_COUNTER;

/// The machines.
const MACHINES: [usize; 3] = [64, 128, 256];
/// Lines that a read of fast-counter's counter visits, at least.
const STRIPES: usize = 16;

/// Terms of the model, in nanoseconds but for the last.
struct Terms {
    add: f64,
    transfer: f64,
    read: f64,
    warm_line: f64,
    written_line: f64,
    window_read: f64,
}

impl Terms {
    fn of(speed: &Speed) -> Option<Terms> {
        let find = |group, name, work| speed.find(group, name, work);
        let cost = |group, name, work| find(group, name, work).map(|figure| figure.cost().median);
        let counter = Group::Counter;
        let read = cost(counter, WINDROW, Work::Read)?;
        let beside: &Figure = find(counter, WINDROW, Work::AddWhileRead(beside_a_reader()))?;
        let meanwhile = Spread::of_samples(&beside.samples, |sample| sample.read_ns).median;
        let atomic = find(counter, ATOMIC, Work::Add(cores()))?;
        let stripes = cores().max(STRIPES).next_power_of_two() as f64;
        Some(Terms {
            add: cost(counter, WINDROW, Work::Add(1))?,
            // The time between two adds by anybody.
            transfer: 1000.0 / Speed::throughput(atomic).median,
            read,
            warm_line: cost(counter, FAST_COUNTER, Work::Read)? / stripes,
            written_line: ((meanwhile - read) / beside_a_reader() as f64).max(0.0),
            window_read: cost(Group::Full60, WINDROW, Work::Read)?,
        })
    }
}

/// The table, if what it needs was measured.
pub fn table(measured: Measured) -> Option<Table> {
    let terms = Terms::of(measured.speed?)?;
    let machines = MACHINES.map(|cores| format!("{cores} cores"));
    let heads = ["what", "formula, n cores", "measured here"];
    let heads = heads.into_iter().chain(machines.iter().map(String::as_str));
    let mut table = Table::new("scaling", "Other machines, on paper", heads);
    let here = cores() as f64;
    let mut line = |what: &str, formula: &str, term: String, of: &dyn Fn(f64) -> f64| {
        let cells = MACHINES.map(|cores| digits(of(cores as f64)));
        table.row([what.to_owned(), formula.to_owned(), term].into_iter().chain(cells));
    };
    let Terms { add, transfer, read, warm_line, written_line, window_read } = terms;
    let rate = |rate: f64| format!("{} M/s", digits(rate));
    line("lines an add writes", "1", "1".into(), &|_| 1.0);
    line("ns an add", "a", format!("a = {}", digits(add)), &|_| add);
    line("adds, all cores, M/s", "1000 n / a", rate(1000.0 * here / add), &|n| 1000.0 * n / add);
    let term = format!("m = {}", digits(transfer));
    line("the same, a shared AtomicU64", "1000 / m", term, &|_| 1000.0 / transfer);
    line("lines a read visits", "n", digits(here), &|n| n);
    let term = format!("r = {}, w = {}", digits(read), digits(warm_line));
    let warm = |n: f64| read + (n - here) * warm_line;
    line("ns a read, nobody adding", "r + (n - here) w", term, &warm);
    let term = format!("t = {}", digits(written_line));
    line("ns a read, all adding", "the same + n t", term, &|n| warm(n) + n * written_line);
    let term = format!("s = {}", digits(window_read));
    let window = |n: f64| window_read + (n - here) * warm_line;
    line("ns a sum of 60 buckets, nobody adding", "s + (n - here) w", term, &window);
    if let Some((alone, each)) = rotation_terms(measured.rotation) {
        let lost = if each == 0.0 { " (lost in the noise)" } else { "" };
        let term = format!("b = {}, i = {}{lost}", digits(alone), digits(each));
        line("us a rotation", "b + (n - 1) i", term, &|n| alone + (n - 1.0) * each);
    }
    let counters = measured.memory.iter().find(|row| row.name == WINDROW && row.buckets.is_none());
    let window = measured.memory.iter().find(|row| row.name == WINDROW && row.buckets == Some(60));
    for (what, row) in [("bytes of a counter", counters), ("bytes of a window of 60", window)] {
        if let Some(row) = row {
            let term = format!("h = {}", row.heap);
            let each = row.bytes(1) - row.heap;
            let formula = format!("h + {each} n");
            line(what, &formula, term, &|n| row.heap as f64 + each as f64 * n);
        }
    }
    table.note(&format!(
        "Terms: `a` an add by one thread; `m` the time between two adds of {} threads to a shared \
         number; `r` and `s` reads with nobody adding; `w` one warm line more (fast-counter's read, by \
         its stripes); `t` what a read takes more for each core that is adding; `b` a rotation alone; \
         `i` what each core that is adding puts on top. Straight lines from {} cores: they leave out \
         sockets (a transfer between two takes two to four times `m`) and what saturates.",
        cores(),
        cores(),
    ));
    Some(table)
}

/// A rotation alone, and what another writer puts on top, in microseconds.
fn rotation_terms(rows: &[rotation::Row]) -> Option<(f64, f64)> {
    let of = |others| rows.iter().find(|row| row.name == WINDROW && row.others == others);
    let alone = of(0)?.median_us;
    let others = cores() - 1;
    let each = if others == 0 { 0.0 } else { (of(others)?.median_us - alone) / others as f64 };
    Some((alone, each.max(0.0)))
}

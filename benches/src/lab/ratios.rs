//! The ratios of a run that pages cite, each taken within a round.

use super::report::Table;
use super::speed::{Speed, counted};
use super::stats::{MARK, Spread};
use super::subject::{Group, SENTINEL, SENTINEL_TICKER};
use super::work::Work;
use crate::harness::cores;
use crate::ours::WINDROW;
use crate::ours::labelled::TEXTS;
use crate::rivals::counters::ATOMIC;
use crate::rivals::labelled::PROMETHEUS;

/// Each ratio: its words, the group of both sides, and both contenders.
const RATIOS: [(&str, Group, &str, &str); 4] = [
    ("add to a counter / to an `AtomicU64`", Group::Counter, WINDROW, ATOMIC),
    ("add to a window / sentinel-core's, time published", Group::Window, WINDROW, SENTINEL_TICKER),
    ("add to a window / sentinel-core's, time read", Group::Coarse, WINDROW, SENTINEL),
    ("add to one of 256 series / prometheus'", Group::Labels, TEXTS, PROMETHEUS),
];

/// The table; empty if `speed` was not measured.
pub fn table(speed: Option<&Speed>) -> Table {
    let heads = ["CPU time, within a round", "1 thread", &*counted(cores())];
    let mut table = Table::new("ratios", "Ratios", heads);
    let Some(speed) = speed else { return table };
    let mut is_marked = false;
    for (what, group, one, other) in RATIOS {
        let ratio = |threads| {
            let find = |name| speed.find(group, name, Work::Add(threads));
            Some(Spread::of_ratios(&find(one)?.samples, &find(other)?.samples).show())
        };
        let cells = [1, cores()].map(|threads| ratio(threads).unwrap_or_else(|| "-".to_owned()));
        is_marked |= cells.iter().any(|cell| cell.starts_with('~'));
        if cells.iter().any(|cell| cell != "-") {
            table.row([what.to_owned()].into_iter().chain(cells));
        }
    }
    let mark = if is_marked { format!(" {MARK}") } else { String::new() };
    table.note(&format!("Median (least to greatest) over the rounds.{mark}"));
    table
}

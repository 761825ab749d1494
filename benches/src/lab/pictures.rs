//! The figures that become pictures.

use super::chart::{Bar, Line, bars, lines};
use super::latency;
use super::losses;
use super::speed::{Speed, counted};
use super::stats::digits;
use super::subject::{Group, PORTABLE};
use super::work::Work;
use crate::harness::cores;
use crate::ours::WINDROW;
use crate::rivals::{CAS_RING, EPOCH_RING, LEAP_ARRAY, MUTEX_RING};

/// Pictures by the names of their files, with `caption` in the head of each.
pub fn all(
    caption: &str,
    speed: Option<&Speed>,
    losses: &[losses::Row],
    latency: &[latency::Row],
) -> Vec<(&'static str, String)> {
    let mut pictures = Vec::new();
    if let Some(speed) = speed {
        let add = |group, kind| {
            let title = format!("ns of CPU time an add to a {kind}, {}", counted(cores()));
            costs(&title, caption, speed, group)
        };
        pictures.push(("compare-counters", add(Group::Counter, "counter")));
        pictures.push(("compare-windows", add(Group::Window, "window")));
    }
    if !losses.is_empty() {
        pictures.push(("compare-losses", lost(caption, losses)));
    }
    if !latency.is_empty() {
        pictures.push(("compare-latency", ranks(caption, latency)));
    }
    pictures
}

/// Returns what an add takes on all cores, the cheapest first; of windrow's other strategies, the
/// portable one.
fn costs(title: &str, caption: &str, speed: &Speed, group: Group) -> String {
    let work = Work::Add(cores());
    let shown = |label: &&str| !label.starts_with(WINDROW) || [WINDROW, PORTABLE].contains(label);
    let mut costs: Vec<_> = speed
        .labels(group)
        .into_iter()
        .filter(shown)
        .filter_map(|label| Some((label, speed.find(group, label, work)?.cost())))
        .collect();
    costs.sort_by(|one, other| one.1.median.total_cmp(&other.1.median));
    let bar = |(label, cost): (&str, super::stats::Spread)| Bar {
        label: label.to_owned(),
        value: cost.median,
        ends: Some((cost.min, cost.max)),
        text: format!("{} ns", cost.show_median()),
    };
    bars(title, caption, &costs.into_iter().map(bar).collect::<Vec<_>>())
}

/// Returns the worst loss of each ring.
fn lost(caption: &str, rows: &[losses::Row]) -> String {
    let mut worst: Vec<(&str, f64)> = Vec::new();
    for row in rows {
        match worst.iter_mut().find(|(name, _)| *name == row.name) {
            Some((_, lost)) => *lost = lost.max(row.lost_each()),
            None => worst.push((&row.name, row.lost_each())),
        }
    }
    worst.sort_by(|one, other| one.1.total_cmp(&other.1));
    let bar = |(label, lost): (&str, f64)| Bar {
        label: label.to_owned(),
        value: lost,
        ends: None,
        text: if lost == 0.0 { "0".to_owned() } else { digits(lost) },
    };
    let title = "Counts lost at a change of buckets, the worst of all paces";
    bars(title, caption, &worst.into_iter().map(bar).collect::<Vec<_>>())
}

/// Returns the time of an add, by rank.
fn ranks(caption: &str, rows: &[latency::Row]) -> String {
    // One of each kind: the others lie on the same lines.
    let kinds = [latency::CLOCK, WINDROW, PORTABLE, LEAP_ARRAY, CAS_RING, EPOCH_RING, MUTEX_RING];
    let shown = |row: &&latency::Row| kinds.contains(&&*row.name);
    let line = |row: &latency::Row| Line {
        label: row.name.clone(),
        points: row.ranks.iter().map(|&time| time as f64).collect(),
    };
    let drawn: Vec<Line> = rows.iter().filter(shown).map(line).collect();
    let marks = latency::RANKS.map(|rank| format!("{rank} %"));
    let title = "Nanoseconds an add takes while another thread opens buckets, by rank";
    lines(title, caption, &marks, &drawn)
}

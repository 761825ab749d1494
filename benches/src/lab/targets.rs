//! The targets, each with its measurement and a verdict by the median.

use super::losses;
use super::memory;
use super::report::Table;
use super::rotation;
use super::speed::{Speed, counted};
use super::stats::{Spread, digits};
use super::subject::{Group, PORTABLE, SENTINEL, SENTINEL_TICKER, portable};
use super::work::Work;
use crate::harness::cores;
use crate::ours::labelled::{BARE, ENUMS, KEPT, MIXED, TEXTS};
use crate::ours::scraped::TEXT;
use crate::ours::tiered::{FOUR, NONE, ONE};
use crate::ours::{COUNTER_AND_CLOCK, TOUCHED, WINDROW};
use crate::rivals::counters::{
    ATOMIC, COARSE_READ, LOCKED_ADD, PINNED_ADD, PLAIN_ADD, PLAIN_STORE,
};
use crate::rivals::labelled;
use crate::rivals::labelled::{MEASURED_ENUMS, MEASURED_TEXTS, OTEL_BOUND, OTEL_TEXTS};
use crate::rivals::published::{CONTATORI, FAST_COUNTER, FAST_TELEMETRY};
use crate::rivals::scraped;
use crate::rivals::{OUR_NODE, OWN_NODE};

/// The greatest size of a window of sixty buckets in bytes, on two processors.
const MOST_BYTES: usize = 16 * 1024;

/// The measurements behind the targets; a part that was not measured is empty, as is its place in
/// the table.
#[derive(Clone, Copy)]
pub struct Measured<'a> {
    /// Adds and reads.
    pub speed: Option<&'a Speed>,
    /// Rotations.
    pub rotation: &'a [rotation::Row],
    /// Losses.
    pub losses: &'a [losses::Row],
    /// Bytes.
    pub memory: &'a [memory::Row],
}

/// A figure, and where to find it.
type At = (Group, &'static str, Work);

/// The table that is being filled.
struct Targets<'a> {
    table: Table,
    measured: Measured<'a>,
}

impl Targets<'_> {
    fn row(
        &mut self,
        target: &str,
        what: String,
        limit: String,
        measured: String,
        verdict: String,
    ) {
        self.table.row([target.to_owned(), what, limit, measured, verdict]);
    }

    /// `one` and `other` combined, at most `limit`; nothing if either was not measured.
    fn both(
        &mut self,
        target: &str,
        (one, other): (At, At),
        (combine, sign, unit): (fn(f64, f64) -> f64, &str, &str),
        limit: f64,
    ) {
        let Some(speed) = self.measured.speed else { return };
        let find = |(group, name, work): At| speed.find(group, name, work);
        let (Some(first), Some(second)) = (find(one), find(other)) else { return };
        let spread = Spread::of_both(&first.samples, &second.samples, combine);
        let what = format!("{} {sign} {}", describe(one), describe(other));
        if limit.is_infinite() {
            self.row(target, what, "-".into(), format!("{}{unit}", spread.show()), "-".into());
            return;
        }
        let limit_shown = format!("at most {}{unit}", digits(limit));
        let shown = format!("{}{unit}", spread.show());
        self.row(target, what, limit_shown, shown, spread.verdict(limit));
    }

    /// `one` as a multiple of `other`.
    fn ratio(&mut self, target: &str, one: At, other: At, limit: f64) {
        self.both(target, (one, other), (|one, other| one / other, "/", ""), limit);
    }

    /// Demands that neither is more than `limit` times the other.
    fn apart(&mut self, target: &str, one: At, other: At, limit: f64) {
        let greater = |one: f64, other: f64| (one / other).max(other / one);
        self.both(target, (one, other), (greater, "/, either way,", ""), limit);
    }

    /// Demands a limit of the excess of `one` over `other`, in nanoseconds.
    fn excess(&mut self, target: &str, one: At, other: At, limit: f64) {
        self.both(target, (one, other), (|one, other| one - other, "-", " ns"), limit);
    }

    /// Returns the best of the measured `names`, adding on `threads` threads.
    fn best(&self, group: Group, threads: usize, names: &[&'static str]) -> Option<&'static str> {
        let cost = |name: &&'static str| {
            let figure = self.measured.speed?.find(group, name, Work::Add(threads))?;
            Some((figure.cost().median, *name))
        };
        let known = names.iter().filter_map(cost);
        known.min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, name)| name)
    }

    /// Shows `one` as a multiple of `other`, without a limit.
    fn told(&mut self, target: &str, one: At, other: At) {
        self.ratio(target, one, other, f64::INFINITY);
    }

    /// Demands a limit of one cost, in nanoseconds.
    fn cost(&mut self, target: &str, at: At, limit: f64) {
        let Some(figure) = self.measured.speed.and_then(|speed| speed.find(at.0, at.1, at.2))
        else {
            return;
        };
        let spread = figure.cost();
        let shown = format!("{} ns", spread.show());
        let limit_shown = format!("at most {limit} ns");
        self.row(target, describe(at), limit_shown, shown, spread.verdict(limit));
    }
}

fn describe((group, name, work): At) -> String {
    match work {
        Work::Add(threads) if group.is_sentinels() => {
            format!("{}, {name}, {}", group.name(), counted(threads))
        }
        Work::Add(threads) if group == Group::Turns => {
            format!("{name}, in turn, {}", counted(threads))
        }
        Work::Add(threads) => format!("{name}, {}", counted(threads)),
        // It has no buckets.
        _ if [COUNTER_AND_CLOCK, portable(COUNTER_AND_CLOCK)].contains(&name) => name.to_owned(),
        _ if group.series().is_some() => format!("{name}, {}", group.name()),
        _ => format!("{name}, sum of a {}", group.name()),
    }
}

/// The striped crates.
const STRIPED: &[&str] = &[FAST_COUNTER, FAST_TELEMETRY, CONTATORI];
/// Counters with labels whose series is kept.
const KEPT_RIVALS: &[&str] = &[labelled::PROMETHEUS_KEPT, labelled::DYNAMIC_KEPT, OTEL_BOUND];
/// Those that are found by enums.
const ENUM_RIVALS: &[&str] = &[labelled::LABELED, MEASURED_ENUMS];
/// Those that are found by borrowed texts.
const TEXT_RIVALS: &[&str] = &[
    labelled::PROMETHEUS,
    labelled::CLIENT,
    labelled::MACRO,
    labelled::DYNAMIC,
    MEASURED_TEXTS,
    OTEL_TEXTS,
];

/// Returns all targets for which something was measured.
pub fn table(measured: Measured) -> Table {
    let heads = ["target", "what", "limit", "measured: median (least to greatest)", "verdict"];
    let mut targets = Targets { table: Table::new("targets", "The targets", heads), measured };
    speeds(&mut targets);
    labels(&mut targets);
    nodes(&mut targets);
    tiers(&mut targets);
    rotations(&mut targets);
    tiered_rotations(&mut targets);
    exactness(&mut targets);
    bytes(&mut targets);
    targets.table.note(
        "Of times: ratios are taken within a round, and a ratio below its limit is a \
        target met.",
    );
    targets.table
}

fn speeds(targets: &mut Targets) {
    let (one, all) = (Work::Add(1), Work::Add(cores()));
    let (counter, window, coarse) = (Group::Counter, Group::Window, Group::Coarse);
    for group in [counter, Group::Turns] {
        for plain in [PLAIN_ADD, PLAIN_STORE] {
            targets.ratio("counter, alone", (group, WINDROW, one), (group, plain, one), 1.4);
        }
    }
    targets.ratio("counter, alone", (counter, WINDROW, one), (counter, ATOMIC, one), 0.4);
    targets.ratio("counter, shared", (counter, WINDROW, all), (counter, ATOMIC, all), 0.1);
    if let Some(best) = targets.best(counter, cores(), STRIPED) {
        targets.ratio("counter, shared", (counter, WINDROW, all), (counter, best, all), 1.0 / 3.0);
    }
    // 1.8 times the throughput on two cores: an add may take a ninth longer than alone.
    targets.ratio("counter, shared", (counter, WINDROW, all), (counter, WINDROW, one), 1.0 / 0.9);
    for adds in [one, all] {
        targets.ratio("window, ticker", (window, WINDROW, adds), (window, LOCKED_ADD, one), 0.7);
        targets.ratio(
            "window, ticker",
            (window, WINDROW, adds),
            (window, SENTINEL_TICKER, adds),
            1.0 / 12.0,
        );
    }
    for adds in [one, all] {
        targets.excess(
            "window, coarse clock",
            (coarse, WINDROW, adds),
            (coarse, COARSE_READ, adds),
            5.0,
        );
        targets.ratio(
            "window, coarse clock",
            (coarse, WINDROW, adds),
            (coarse, SENTINEL, adds),
            1.0 / 8.0,
        );
    }
    for adds in [one, all] {
        targets.ratio(
            "portable counter",
            (counter, PORTABLE, adds),
            (counter, FAST_COUNTER, adds),
            0.5,
        );
        targets.ratio("portable window", (window, PORTABLE, adds), (window, LOCKED_ADD, one), 1.0);
        targets.told("portable window", (window, PORTABLE, adds), (window, PINNED_ADD, adds));
    }
    for name in [WINDROW, PORTABLE] {
        targets.cost("sum", (Group::Full2, name, Work::Read), 40.0);
        targets.cost("sum", (Group::Full60, name, Work::Read), 150.0);
    }
    sums(targets);
}

/// Sums at once: their cost does not depend on the number of buckets.
fn sums(targets: &mut Targets) {
    let groups = [Group::Full2, Group::Full60, Group::Full600];
    let here = [WINDROW, COUNTER_AND_CLOCK, TOUCHED];
    for [name, counter, touched] in [here, here.map(portable)] {
        let read = |group, name| (group, name, Work::Read);
        for (one, other) in [(0, 1), (0, 2), (1, 2)] {
            targets.apart("sum at once", read(groups[other], name), read(groups[one], name), 1.2);
        }
        for group in groups {
            targets.excess("sum at once", read(group, name), read(group, counter), 20.0);
        }
        for group in groups {
            targets.cost("sum at once", read(group, touched), 60.0);
        }
    }
}

/// Counters with labels, on one thread for each core.
fn labels(targets: &mut Targets) {
    let at = |name| (Group::Labels, name, Work::Add(cores()));
    let limits = [(KEPT, 3.5), (ENUMS, 5.0), (MIXED, 25.0), (TEXTS, 25.0)];
    for (name, limit) in limits {
        targets.cost("family", at(name), limit);
    }
    for (name, _) in limits {
        targets.told("family", at(name), at(BARE));
    }
    for (name, rivals) in [(KEPT, KEPT_RIVALS), (ENUMS, ENUM_RIVALS), (TEXTS, TEXT_RIVALS)] {
        if let Some(best) = targets.best(Group::Labels, cores(), rivals) {
            targets.ratio("family", at(name), at(best), 1.0);
        }
    }
    for group in [Group::Scrape10k, Group::Scrape100k] {
        let read = |name| (group, name, Work::Read);
        targets.ratio("scrape", read(TEXT), read(scraped::CLIENT), 1.0);
    }
}

/// sentinel-core on our nodes against sentinel-core on its own.
fn nodes(targets: &mut Targets) {
    for adds in [Work::Add(1), Work::Add(cores())] {
        let (our, own) = (|group| (group, OUR_NODE, adds), |group| (group, OWN_NODE, adds));
        targets.ratio("port", our(Group::NodeRates), own(Group::NodeRates), 0.8);
        targets.told("port", our(Group::NodeAdds), own(Group::NodeAdds));
        targets.ratio("port", our(Group::Entries), own(Group::Entries), 0.9);
    }
}

/// Tiers: an add does not know of them.
fn tiers(targets: &mut Targets) {
    for adds in [Work::Add(1), Work::Add(cores())] {
        let at = |name| (Group::Tiers, name, adds);
        targets.told("tiers", at(FOUR), at(ONE));
        targets.told("tiers", at(FOUR), at(NONE));
    }
}

fn rotations(targets: &mut Targets) {
    let rows = targets.measured.rotation.iter();
    for row in rows.filter(|row| [WINDROW, PORTABLE].contains(&&*row.name)) {
        let what = format!("{}, a rotation, other writers: {}", row.name, row.others);
        let median = format!("{:.2} us", row.median_us);
        let verdict = if row.median_us <= 15.0 { "met" } else { "missed" };
        targets.row(
            "rotation",
            what.clone(),
            "median at most 15 us".into(),
            median,
            verdict.into(),
        );
        let verdict = if row.allocations == 0.0 { "met" } else { "missed" };
        let allocations = format!("{} a rotation", digits(row.allocations));
        targets.row("rotation", what, "no allocation".into(), allocations, verdict.into());
    }
}

/// Rotations of windows with tiers against those without.
fn tiered_rotations(targets: &mut Targets) {
    let rows = targets.measured.rotation;
    for (tiered, plain) in [(FOUR, WINDROW), (portable(FOUR), PORTABLE)] {
        for with in rows.iter().filter(|row| row.name == tiered) {
            let same = |row: &&rotation::Row| row.name == plain && row.others == with.others;
            let Some(without) = rows.iter().find(same) else { continue };
            let what = format!("{tiered}, a rotation - {plain}'s, other writers: {}", with.others);
            let more = with.median_us - without.median_us;
            let verdict = if more <= 2.0 { "met" } else { "missed" };
            let limit = "medians at most 2 us apart".to_owned();
            targets.row("tiers", what, limit, format!("{more:.2} us"), verdict.into());
        }
    }
}

fn exactness(targets: &mut Targets) {
    for name in [WINDROW, PORTABLE] {
        let rows = || targets.measured.losses.iter().filter(|row| row.name == name);
        if rows().next().is_none() {
            continue;
        }
        let [rotations, added, wrong] = rows().fold([0; 3], |[rotations, added, wrong], row| {
            [rotations + row.rotations, added + row.added, wrong + row.lost + row.doubled]
        });
        let sound = rows().all(losses::Row::sound);
        let what = format!("{name}: counts lost or doubled in {rotations} rotations, {added} adds");
        let verdict = if sound { "met" } else { "missed" };
        targets.row("losses", what, "0".into(), wrong.to_string(), verdict.into());
    }
}

fn bytes(targets: &mut Targets) {
    let row =
        targets.measured.memory.iter().find(|row| row.name == WINDROW && row.buckets == Some(60));
    if let Some(bytes) = row.map(|row| row.bytes(2)) {
        let what = "a window of 60 buckets and 5 events, on 2 processors".to_owned();
        let verdict = if bytes <= MOST_BYTES { "met" } else { "missed" };
        let limit = format!("at most {MOST_BYTES} bytes");
        targets.row("bytes", what, limit, format!("{bytes} bytes"), verdict.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One row of each part, missed or met.
    fn verdicts(missed: bool) -> Vec<String> {
        let lost = losses::Row {
            name: WINDROW.into(),
            threads: 2,
            pace: 50,
            bucket_us: 1.0,
            rotations: 10,
            added: 100,
            lost: u64::from(missed),
            doubled: 0,
            exact: Some(true),
        };
        let rotation = rotation::Row {
            name: WINDROW.into(),
            others: 1,
            plain_ns: 50.0,
            median_us: if missed { 15.1 } else { 14.9 },
            rank_99_us: 20.0,
            worst_us: 30.0,
            allocations: if missed { 0.5 } else { 0.0 },
        };
        let heap = if missed { MOST_BYTES } else { 10_000 };
        let (buckets, allocations) = (Some(60), None);
        let bytes = memory::Row { name: WINDROW.into(), buckets, heap, cells: 32, allocations };
        let measured =
            Measured { speed: None, rotation: &[rotation], losses: &[lost], memory: &[bytes] };
        table(measured).rows.into_iter().map(|row| format!("{} {}", row[0], row[4])).collect()
    }

    #[test]
    fn a_target_is_met_or_missed() {
        assert_eq!(verdicts(false), ["rotation met", "rotation met", "losses met", "bytes met"]);
        assert_eq!(
            verdicts(true),
            ["rotation missed", "rotation missed", "losses missed", "bytes missed"]
        );
    }

    #[test]
    fn what_was_not_measured_has_no_row() {
        let nothing = Measured { speed: None, rotation: &[], losses: &[], memory: &[] };
        assert!(table(nothing).rows.is_empty());
    }
}

//! The results of the strategies: nanoseconds, ratios with verdicts, rotations, and the forms of
//! the second look.

use super::way::{FENCED, PER_CORE, PER_CORE_BEFORE, PORTABLE, PORTABLE_BEFORE, Way};
use super::{
    ADD, ADD_GIVEN, COUNTER, FAST_COUNTER, FLOOR_MODIFY, FLOOR_STORE, Figure, LOCKED, LOOKS, On,
    RECORD, RECORD_GIVEN, Strategies, YARDSTICKS, cost,
};
use crate::lab::report::Table;
use crate::lab::stats::{MARK, Spread, digits};

/// No verdict.
const TOLD: f64 = f64::INFINITY;

/// A loop in a process; its `On` is given once for both sides of a ratio.
type At = (&'static str, &'static str);

/// A ratio: its title, both sides, and the limits for one and in turn.
type Ratio = (&'static str, At, At, [f64; 2]);

const RATIOS: [Ratio; 18] = [
    ("portable counter", (PORTABLE, COUNTER), (PER_CORE, COUNTER), [1.2, 1.2]),
    ("portable counter", (PORTABLE, COUNTER), (PER_CORE, FAST_COUNTER), [0.5, 0.5]),
    ("portable counter", (PORTABLE, COUNTER), (PER_CORE, FLOOR_MODIFY), [TOLD, TOLD]),
    ("portable counter", (PORTABLE, COUNTER), (PER_CORE, FLOOR_STORE), [TOLD, TOLD]),
    ("portable counter", (PORTABLE, COUNTER), (PORTABLE_BEFORE, COUNTER), [TOLD, TOLD]),
    ("portable window", (PORTABLE, ADD), (PER_CORE, ADD), [1.2, 1.2]),
    ("portable window", (PORTABLE, ADD_GIVEN), (PER_CORE, ADD_GIVEN), [1.2, 1.2]),
    ("portable window", (PORTABLE, RECORD), (PER_CORE, RECORD), [1.2, 1.2]),
    ("portable window", (PORTABLE, RECORD_GIVEN), (PER_CORE, RECORD_GIVEN), [1.2, 1.2]),
    ("portable window", (PORTABLE, ADD), (PER_CORE, LOCKED), [1.0, 1.0]),
    ("portable window", (FENCED, ADD), (PER_CORE, LOCKED), [TOLD, TOLD]),
    ("portable window", (PORTABLE, ADD), (PORTABLE_BEFORE, ADD), [TOLD, TOLD]),
    ("portable window", (PORTABLE, RECORD), (PORTABLE_BEFORE, RECORD), [TOLD, TOLD]),
    ("per core", (PER_CORE, COUNTER), (PER_CORE, FLOOR_MODIFY), [1.0, 1.6]),
    ("per core", (PER_CORE, COUNTER), (PER_CORE, FLOOR_STORE), [TOLD, TOLD]),
    ("per core", (PER_CORE, COUNTER), (PER_CORE_BEFORE, COUNTER), [0.8, 0.95]),
    ("per core", (PER_CORE, ADD), (PER_CORE_BEFORE, ADD), [0.8, 0.95]),
    ("per core", (PER_CORE, RECORD), (PER_CORE_BEFORE, RECORD), [TOLD, TOLD]),
];

/// Returns all tables.
pub fn tables(found: &Strategies) -> Vec<Table> {
    vec![
        ratios(found),
        counters(found),
        windows(found, "strategy-adds", "a Count event of a window", [ADD, ADD_GIVEN]),
        windows(found, "strategy-records", "a Value event of a window", [RECORD, RECORD_GIVEN]),
        rotations(found),
        looks(found),
    ]
}

fn ratios(found: &Strategies) -> Table {
    let heads =
        ["target", "what", "on", "limit", "measured: median (least to greatest)", "verdict"];
    let mut table = Table::new("strategy-targets", "The strategies: targets", heads);
    for (target, one, other, limits) in RATIOS {
        for (on, limit) in On::ALL.into_iter().zip(limits) {
            let find = |(way, name): At| found.find(way, name, Some(on));
            let (Some((first, one_figure)), Some((second, other_figure))) =
                (find(one), find(other))
            else {
                continue;
            };
            let (one_samples, other_samples) = (&one_figure.samples, &other_figure.samples);
            let spread = Spread::of_both(one_samples, other_samples, |one, other| one / other);
            let what = format!("{} / {}", describe(one), describe(other));
            let ours = [(first, one), (second, other)];
            let known = |(way, (_, name)): &(&Way, At)| way.as_asked || YARDSTICKS.contains(name);
            let verdict = match limit {
                _ if !ours.iter().all(known) => "not what was asked for".to_owned(),
                TOLD => "-".to_owned(),
                limit => spread.verdict(limit),
            };
            let limit =
                if limit == TOLD { "-".into() } else { format!("at most {}", digits(limit)) };
            let on = on.name().to_owned();
            table.row([target.to_owned(), what, on, limit, spread.show(), verdict]);
        }
    }
    for name in [PER_CORE, PORTABLE, FENCED] {
        let Some(at) = found.ways.iter().position(|way| way.name == name) else { continue };
        let each = Spread::of(found.beside[at].iter().map(|figures| figures[5]));
        let verdict = match (found.ways[at].as_asked, each.median > 0.0) {
            (false, _) => "not what was asked for",
            (true, true) => "missed",
            (true, false) => "met",
        };
        let (what, limit) = (format!("{name}: allocations a rotation"), "0".to_owned());
        table.row(["rotation".into(), what, "one".into(), limit, each.show(), verdict.into()]);
    }
    table.note(&format!("Ratios are taken within a round. {MARK}"));
    table
}

fn describe((way, name): At) -> String {
    if YARDSTICKS.contains(&name) { name.to_owned() } else { format!("{way}: {name}") }
}

/// Returns the times of each way, and its strategy.
fn counters(found: &Strategies) -> Table {
    let heads = ["what", "is", "one in a loop", "sixteen in turn"];
    let title = "ns of CPU time an add to a counter, by strategy";
    let mut table = Table::new("strategy-counters", title, heads);
    let cell = |way, name, on| show(found.find(way, name, Some(on)));
    for name in YARDSTICKS {
        let cells = On::ALL.map(|on| cell(PER_CORE, name, on));
        table.row([name.to_owned(), "-".to_owned()].into_iter().chain(cells));
    }
    for way in &found.ways {
        let cells = On::ALL.map(|on| cell(way.name, COUNTER, on));
        table.row([way.name.to_owned(), way.counters.clone()].into_iter().chain(cells));
    }
    table.note(&note());
    table
}

fn windows(found: &Strategies, id: &'static str, what: &str, [ticker, given]: [&str; 2]) -> Table {
    let heads = [
        "what",
        "is",
        "one in a loop",
        "sixteen in turn",
        "one, time given",
        "in turn, time given",
    ];
    let mut table = Table::new(id, format!("ns of CPU time an add to {what}, by strategy"), heads);
    for way in &found.ways {
        let cell = |name, on| show(found.find(way.name, name, Some(on)));
        let cells = [ticker, given].into_iter().flat_map(|name| On::ALL.map(|on| cell(name, on)));
        table.row([way.name.to_owned(), way.windows.clone()].into_iter().chain(cells));
    }
    table.note(&note());
    table
}

fn rotations(found: &Strategies) -> Table {
    let heads = [
        "what",
        "is",
        "an add, ns: median",
        "one in 10 000 takes longer",
        "the worst",
        "opening a bucket, ns: median",
        "the worst",
        "allocations each",
    ];
    let title = "Adds beside rotations, by strategy";
    let mut table = Table::new("strategy-rotations", title, heads);
    for (way, rounds) in found.ways.iter().zip(&found.beside) {
        let figures: [_; super::BESIDE] =
            std::array::from_fn(|at| Spread::of(rounds.iter().map(|figures| figures[at])).show());
        table.row([way.name.to_owned(), way.windows.clone()].into_iter().chain(figures));
    }
    table.note(
        "Wall time, with what reading the clock twice takes; median (least to greatest) over the rounds, each of 1000 \
         rotations.",
    );
    table
}

fn looks(found: &Strategies) -> Table {
    let heads = ["second look", "ns an add", "ratio to none"];
    let mut table = Table::new("strategy-looks", "The second look of a portable add", heads);
    let find = |name| found.find(PER_CORE, name, None).map(|(_, figure)| figure);
    let Some(none) = find("look, none") else { return table };
    for (name, figure) in LOOKS.iter().filter_map(|&name| Some((name, find(name)?))) {
        let ratio = Spread::of_both(&figure.samples, &none.samples, |one, other| one / other);
        let name = name.trim_start_matches("look, ").to_owned();
        table.row([name, cost(figure).show(), ratio.show()]);
    }
    table.note(&note());
    table
}

fn show(found: Option<(&Way, &Figure)>) -> String {
    found.map_or("-".to_owned(), |(_, figure)| cost(figure).show())
}

fn note() -> String {
    format!("Median (least to greatest) over the rounds. {MARK}")
}

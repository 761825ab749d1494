//! The results of the strategies: nanoseconds, ratios and rotations.

use super::way::{FENCED, PER_CORE, PER_CORE_BEFORE, PORTABLE, PORTABLE_BEFORE, Way};
use super::{
    ADD, ADD_GIVEN, COUNTER, FAST_COUNTER, FLOOR_MODIFY, FLOOR_STORE, Figure, LOCKED, On, RECORD,
    RECORD_GIVEN, Strategies, YARDSTICKS, cost,
};
use crate::lab::report::Table;
use crate::lab::stats::{MARK, Spread};

/// A loop in a process; its `On` is given once for both sides of a ratio.
type At = (&'static str, &'static str);

/// The ratios.
const RATIOS: [(At, At); 18] = [
    ((PORTABLE, COUNTER), (PER_CORE, COUNTER)),
    ((PORTABLE, COUNTER), (PER_CORE, FAST_COUNTER)),
    ((PORTABLE, COUNTER), (PER_CORE, FLOOR_MODIFY)),
    ((PORTABLE, COUNTER), (PER_CORE, FLOOR_STORE)),
    ((PORTABLE, COUNTER), (PORTABLE_BEFORE, COUNTER)),
    ((PORTABLE, ADD), (PER_CORE, ADD)),
    ((PORTABLE, ADD_GIVEN), (PER_CORE, ADD_GIVEN)),
    ((PORTABLE, RECORD), (PER_CORE, RECORD)),
    ((PORTABLE, RECORD_GIVEN), (PER_CORE, RECORD_GIVEN)),
    ((PORTABLE, ADD), (PER_CORE, LOCKED)),
    ((FENCED, ADD), (PER_CORE, LOCKED)),
    ((PORTABLE, ADD), (PORTABLE_BEFORE, ADD)),
    ((PORTABLE, RECORD), (PORTABLE_BEFORE, RECORD)),
    ((PER_CORE, COUNTER), (PER_CORE, FLOOR_MODIFY)),
    ((PER_CORE, COUNTER), (PER_CORE, FLOOR_STORE)),
    ((PER_CORE, COUNTER), (PER_CORE_BEFORE, COUNTER)),
    ((PER_CORE, ADD), (PER_CORE_BEFORE, ADD)),
    ((PER_CORE, RECORD), (PER_CORE_BEFORE, RECORD)),
];

/// Returns all tables.
pub fn tables(found: &Strategies) -> Vec<Table> {
    vec![
        ratios(found),
        counters(found),
        windows(found, "strategy-adds", "a Count event of a window", [ADD, ADD_GIVEN]),
        windows(found, "strategy-records", "a Value event of a window", [RECORD, RECORD_GIVEN]),
        rotations(found),
    ]
}

fn ratios(found: &Strategies) -> Table {
    let heads = ["ratio", "one", "in turn"];
    let mut table = Table::new("strategy-ratios", "The strategies: ratios within a round", heads);
    for (one, other) in RATIOS {
        let ratio = |on| {
            let find = |(way, name): At| found.find(way, name, on);
            let ((first, one_figure), (second, other_figure)) = (find(one)?, find(other)?);
            // A process that could not be what it was asked to be is compared with none.
            let known = |way: &Way, (_, name): At| way.as_asked || YARDSTICKS.contains(&name);
            if !known(first, one) || !known(second, other) {
                return None;
            }
            let (one, other) = (&one_figure.samples, &other_figure.samples);
            Some(Spread::of_both(one, other, |one, other| one / other).show())
        };
        let cells = On::ALL.map(|on| ratio(on).unwrap_or_else(|| "-".to_owned()));
        if cells.iter().any(|cell| cell != "-") {
            let what = format!("{} / {}", describe(one), describe(other));
            table.row([what].into_iter().chain(cells));
        }
    }
    table.note(&note());
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
    let cell = |way, name, on| show(found.find(way, name, on));
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
        let cell = |name, on| show(found.find(way.name, name, on));
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

fn show(found: Option<(&Way, &Figure)>) -> String {
    found.map_or("-".to_owned(), |(_, figure)| cost(figure).show())
}

fn note() -> String {
    format!("Median (least to greatest) over the rounds. {MARK}")
}

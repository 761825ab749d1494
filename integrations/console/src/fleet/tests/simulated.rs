//! A hundred processes without sockets: their sums are those of the senders' books.

use std::sync::Arc;

use windrow::clock::Manual;
use windrow::{Family, Histogram, SlidingWindow, Timestamp, events, labels};

use super::super::members::Members;
use super::super::merge::Row;
use super::super::reading::Reading;
use super::super::sum::Sum;
use super::super::view::View;
use super::{answer, at, of_itself, seen};
use crate::{Console, ConsoleService};

events! { enum Http { Pass: Count, Exception: Count, Size: Value, Rt: Histogram } }

labels! { struct Route { route: str } }

type Window = SlidingWindow<Http, Manual>;
type Routes = Family<Route<'static>, Window, Box<dyn Fn() -> Window + Send + Sync>>;

/// A process: its windows have a clock of their own.
pub(super) struct Process {
    routes: Arc<Routes>,
    clock: Manual,
    console: ConsoleService,
}

impl Process {
    pub(super) fn new(instance: &str) -> Process {
        let clock = Manual::default();
        clock.set(Timestamp::from_secs(1_000));
        let own = clock.clone();
        let make = move || {
            let builder = SlidingWindow::builder().clock(own.clone()).interval(at(60)).buckets(60);
            builder.build().unwrap()
        };
        let routes: Arc<Routes> = Arc::new(Routes::with_constructor(Box::new(make)));
        let mut console = Console::new("shop");
        console.instance(instance);
        console.show("requests", "Requests", Arc::clone(&routes)).unwrap();
        console.nanoseconds("Rt");
        Process { routes, clock, console: console.build() }
    }

    /// Counts an operation.
    pub(super) fn send(&self, route: usize, nanos: u64, fails: bool, book: &mut Book) {
        let window = self.routes.with(Route { route: &format!("/{route}") });
        window.add(Http::Pass, 1);
        window.record(Http::Size, nanos / 1_000);
        window.record(Http::Rt, nanos);
        book.pass += 1;
        if fails {
            window.add(Http::Exception, 1);
            book.failed += 1;
        }
        book.size += nanos / 1_000;
        book.values.record(nanos);
    }

    pub(super) fn reading(&self) -> Reading {
        Reading::parse(&answer(&self.console)).unwrap()
    }
}

/// The operations of a route, by all senders.
#[derive(Default)]
pub(super) struct Book {
    pub(super) pass: u128,
    pub(super) failed: u128,
    size: u64,
    values: Histogram,
}

impl Book {
    /// Returns what the fleet's sums are to be.
    fn sums(&self) -> Vec<Option<Sum>> {
        let values = self.values.distribution();
        let sizes = |of: Option<u64>| of.map(|nanos| nanos / 1_000);
        let size = Sum::Value {
            count: self.pass,
            sum: self.size,
            min: sizes(values.min()),
            max: sizes(values.max()),
        };
        let rt = Sum::Histogram { count: self.pass, values: Some(values) };
        [Sum::Count(self.pass), Sum::Count(self.failed), size, rt].map(Some).into()
    }
}

fn rows(view: &View) -> &std::collections::BTreeMap<String, Row> {
    &view.merged.metrics[0].rows
}

pub(super) fn key(route: usize) -> String {
    format!("requests{{route=\"/{route}\"}}")
}

/// Returns a time in nanoseconds around a tenth of a second, hardly ever far from it.
fn nanos(random: &mut fastrand::Rng, factor: u64) -> u64 {
    let usual = 50_000_000 + random.u64(0..100_000_000);
    factor * if random.u32(0..200) == 0 { usual * 8 } else { usual }
}

/// Returns a fleet of processes, all of which have answered in the tenth second.
fn fleet(processes: &[Process]) -> Members {
    let mut members = Members::default();
    members.set_places((0..processes.len()).map(|process| of_itself(&format!("{process}:1"))));
    for (address, process) in processes.iter().enumerate() {
        process.clock.set(Timestamp::from_secs(1_001));
        members.note(&format!("{address}:1"), at(10), Ok(process.reading()));
    }
    members
}

#[test]
fn the_sums_of_a_hundred_processes_are_those_of_the_books() {
    const ROUTES: usize = 5;
    let mut random = fastrand::Rng::with_seed(7);
    let processes: Vec<Process> =
        (0..100).map(|process| Process::new(&format!("shop-{process}"))).collect();
    let mut books: [Book; ROUTES] = std::array::from_fn(|_| Book::default());
    for _ in 0..20_000 {
        let (route, process) = (random.usize(0..ROUTES), random.usize(0..processes.len()));
        let (nanos, fails) = (1 << random.u32(0..45) | random.u64(0..1_000), random.u32(0..9) == 0);
        processes[process].send(route, nanos, fails, &mut books[route]);
    }
    let mut members = fleet(&processes);
    let view = View::of(&members, at(10));
    for (route, book) in books.iter().enumerate() {
        let row = &rows(&view)[&key(route)];
        // The second in which all was sent is over: all is in the closed buckets, too.
        assert_eq!((&row.all, &row.last), (&book.sums(), &book.sums()), "route {route}");
        let counted: u64 = row.parts.iter().map(|part| part.counts[0]).sum();
        assert_eq!(u128::from(counted), book.pass);
        let rate: f64 = row.parts.iter().filter_map(|part| part.rate).sum();
        assert!((rate - book.pass as f64).abs() < 1e-6, "{rate} in the one second that is known");
    }

    // Half of them are started anew, and count on.
    let later: Vec<Process> =
        (0..50).map(|process| Process::new(&format!("shop-{process}"))).collect();
    for _ in 0..5_000 {
        let (route, process) = (random.usize(0..ROUTES), random.usize(0..later.len()));
        later[process].send(route, nanos(&mut random, 1), false, &mut books[route]);
    }
    for (address, process) in later.iter().enumerate() {
        members.note(&format!("{address}:1"), at(11), Ok(process.reading()));
    }
    let view = View::of(&members, at(11));
    for (route, book) in books.iter().enumerate() {
        assert_eq!(rows(&view)[&key(route)].all, book.sums(), "route {route}");
    }
    assert_eq!((view.processes.len(), view.gone), (100, 50));
}

/// Returns ten processes of one route: in each, 400 operations take these times, and this share in
/// a thousand of them fails.
pub(super) fn ten(
    seed: u64,
    factor: impl Fn(usize) -> u64,
    failing: impl Fn(usize) -> u32,
) -> Members {
    let mut random = fastrand::Rng::with_seed(seed);
    let processes: Vec<Process> =
        (0..10).map(|process| Process::new(&format!("shop-{process}"))).collect();
    for (at, process) in processes.iter().enumerate() {
        for _ in 0..400 {
            let fails = random.u32(0..1_000) < failing(at);
            process.send(0, nanos(&mut random, factor(at)), fails, &mut Book::default());
        }
    }
    fleet(&processes)
}

#[test]
fn the_one_that_is_slow_among_ten_is_named() {
    let members = ten(1, |process| if process == 6 { 20 } else { 1 }, |_| 20);
    let seen = seen(&members, at(10));
    let says = &seen["says"];
    assert_eq!(says.as_array().unwrap().len(), 1, "{says}");
    assert_eq!((&says[0]["what"], &says[0]["key"]), (&"slow".into(), &key(0).into()));
    assert_eq!(says[0]["processes"], serde_json::json!(["shop-6"]));
    let text = says[0]["text"].as_str().unwrap();
    assert!(text.ends_with(", in shop-6 only"), "{text}");
    let spread = &seen["metrics"][0]["rows"][0]["spread"]["p99"];
    assert_eq!(spread["high"]["process"], "shop-6");
    let [low, median, high] =
        ["low", "median", "high"].map(|of| spread[of]["value"].as_f64().unwrap());
    assert!(high > median && median >= low, "{spread}");
}

#[test]
fn those_that_fail_among_ten_are_named_the_worst_first() {
    let failing = |process| match process {
        3 => 900,
        8 => 300,
        _ => 20,
    };
    let seen = seen(&ten(2, |_| 1, failing), at(10));
    let says = &seen["says"];
    assert_eq!(says.as_array().unwrap().len(), 1, "{says}");
    assert_eq!(says[0]["what"], "failing");
    let text = says[0]["text"].as_str().unwrap();
    assert!(text.ends_with(", in shop-3, shop-8 only"), "{text}");
    let spread = &seen["metrics"][0]["rows"][0]["spread"];
    assert_eq!(spread["failed"]["high"]["process"], "shop-3");
    assert!(spread["rate"]["low"]["value"].as_f64() > Some(399.0), "{spread}");
}

#[test]
fn of_ten_that_are_alike_none_is_named() {
    for seed in 0..20 {
        let seen = seen(&ten(seed, |_| 1, |_| 20), at(10));
        assert_eq!(seen["says"], serde_json::json!([]), "seed {seed}");
        assert_eq!(seen["metrics"][0]["rows"][0]["processes"], 10);
    }
}

#[test]
fn a_change_of_several_processes_is_said_once() {
    let mut members = Members::default();
    members.set_places(["a:1", "b:1", "c:1"].map(of_itself));
    for (name, since) in [("a", 9_000), ("b", 7_000), ("c", 0)] {
        let mut answer = super::small(name, "1", 1, 1);
        if since > 0 {
            answer["unusual"]["changes"] = serde_json::json!([{
                "key": "visits", "what": "failing", "since_ms": since,
                "says": format!("failures 1 % to {since} %"),
            }]);
        }
        members.note(&format!("{name}:1"), at(10), super::read(&answer));
    }
    let says = &seen(&members, at(10))["says"];
    assert_eq!(says.as_array().unwrap().len(), 1, "{says}");
    let expected = "visits failures 1 % to 7000 %, in 2 of 3 processes: a, b";
    assert_eq!((&says[0]["text"], &says[0]["since_ms"]), (&expected.into(), &7_000.into()));
}

//! Measures the cost of a console: CPU time of the threads that read for it, and bytes. Linux only.
//!
//! `cargo run --release -p windrow-console --example cost -- 2000`, with the number of series.

use std::error::Error;
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;
use std::{env, fs};

use http::Request;
use http_body::Body as _;
use http_body_util::BodyExt as _;
use tokio::runtime::Runtime;
use windrow::clock::Manual;
use windrow::export::Source;
use windrow::family::Metric;
use windrow::{Family, Histogram, SlidingWindow, events, labels};
use windrow_console::{Console, ConsoleService};

events! { enum Http { Pass: Count, Exception: Count, Cancelled: Count, Rt: Value } }

events! { enum Timed { Pass: Count, Exception: Count, Cancelled: Count, Rt: Histogram } }

labels! { struct Route { method: str, route: str } }

/// The number of further frames of one case, and of answers of each kind.
const ROUNDS: usize = 8;

/// The number of buckets of a window, of a second each.
const BUCKETS: u64 = 60;

type Routes<M> = Family<Route<'static>, M, fn() -> M>;

/// The clock of the windows, which is set ahead so that a minute of buckets is filled at once.
static CLOCK: LazyLock<Manual> = LazyLock::new(Manual::default);

fn windows<E: windrow::Events>() -> SlidingWindow<E, Manual> {
    let builder =
        SlidingWindow::builder().interval(Duration::from_secs(BUCKETS)).buckets(BUCKETS as usize);
    builder.clock(CLOCK.clone()).build().expect("a minute in sixty buckets")
}

/// Returns a family of some number of metrics, and the function that adds to each.
fn family<M: Metric>(
    count: usize,
    make: fn() -> M,
    add: fn(&M, u64),
) -> (&'static Routes<M>, impl FnMut(u64))
where
    Routes<M>: Source,
{
    let family = Box::leak(Box::new(Routes::with_constructor(make).with_max_series(count)));
    for index in 0..count {
        let route = format!("/shelves/{index}/books");
        let _ = family.with(Route { method: "GET", route: &route });
    }
    let all: Vec<_> = family.iter().collect();
    let busy = move |round: u64| {
        for (index, series) in all.iter().enumerate() {
            // Some forty cells are used: response times between 1 and 30 ms.
            let nanos = 1_000_000 + (round * 7_919 + index as u64 * 104_729) % 29_000_000;
            add(series, nanos);
        }
    };
    (family, busy)
}

/// Returns the CPU time of a thread by its name; zero if there is none.
fn time_of(name: &str) -> Duration {
    let mut threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let time = |thread: fs::DirEntry| {
        let is_it = fs::read_to_string(thread.path().join("comm")).ok()?.trim() == name;
        let times = is_it.then(|| fs::read_to_string(thread.path().join("schedstat")).ok())??;
        Some(Duration::from_nanos(times.split(' ').next()?.parse().ok()?))
    };
    threads.find_map(time).unwrap_or_default()
}

/// The CPU time of the thread that made them, and bytes.
type Cost = (Duration, usize);

fn median(mut all: Vec<Cost>) -> Option<Cost> {
    all.sort();
    all.get(all.len() / 2).copied()
}

/// Returns the costs of the first frame, and of each further one: the median. Before each further
/// one, `add` adds to all series.
fn frames(console: &ConsoleService, runtime: &Runtime, mut add: impl FnMut()) -> Option<[Cost; 2]> {
    let request = Request::get("/events").body(()).ok()?;
    let mut body = runtime.block_on(console.respond(&request)).into_body();
    let _retry = runtime.block_on(body.frame())?;
    let (mut before, mut costs) = (Duration::ZERO, Vec::new());
    for _ in 0..=ROUNDS {
        let bytes = runtime.block_on(body.frame())?.ok()?.into_data().ok()?.len();
        add();
        thread::sleep(Duration::from_millis(20)); // it frees what the frame took
        let time = time_of("windrow-sampler");
        costs.push((time.saturating_sub(before), bytes));
        before = time;
    }
    let first = costs.remove(0);
    Some([first, median(costs)?])
}

/// Returns the cost of an answer: the median.
fn answer(console: &ConsoleService, runtime: &Runtime, path: &str) -> Option<Cost> {
    let request = Request::get(path).body(()).ok()?;
    let cost = |_| {
        let before = time_of("windrow-answers");
        let body = runtime.block_on(console.respond(&request)).into_body();
        let bytes = body.size_hint().exact()? as usize;
        thread::sleep(Duration::from_millis(20)); // it frees what the answer took
        Some((time_of("windrow-answers").saturating_sub(before), bytes))
    };
    median((0..ROUNDS).filter_map(cost).collect())
}

/// Prints the costs of a console with these metrics, to which `add` adds.
fn measure(
    name: &str,
    (source, mut add): (impl Source + 'static, impl FnMut(u64)),
) -> Result<(), Box<dyn Error>> {
    let mut console = Console::new("shop");
    console.show("requests", "Requests by method and route", source)?;
    let console = console.build();
    let mut round = 0;
    let mut add = || {
        add(round);
        round += 1;
        CLOCK.advance(Duration::from_secs(1));
    };
    (0..BUCKETS).for_each(|_| add());
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let frames = frames(&console, &runtime, add).into_iter().flatten();
    let answers = ["/text", "/metrics"].into_iter();
    let answers = answers.filter_map(|path| answer(&console, &runtime, path));
    let shown = frames
        .chain(answers)
        .map(|(time, bytes)| format!("{:.2} ms, {} kB", time.as_secs_f64() * 1e3, bytes / 1_000));
    println!("| {name} | {} |", shown.collect::<Vec<_>>().join(" | "));
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let count = env::args().nth(1).ok_or("the number of series is missing")?.parse()?;
    println!("ms of CPU and kB: the first frame, each further one, and each answer\n");
    println!("| {count} series | first | frame | /text | /metrics |\n|---|---|---|---|---|");
    let values = family(count, windows::<Http>, |window, nanos| {
        window.add(Http::Pass, 37);
        window.record(Http::Rt, nanos);
    });
    measure("windows with a `Value`", values)?;
    let histograms = family(count, windows::<Timed>, |window, nanos| {
        window.add(Timed::Pass, 37);
        (0..8).for_each(|of| window.record(Timed::Rt, nanos + of * 1_000_000));
    });
    measure("windows with a `Histogram`", histograms)?;
    let plain = family(count, Histogram::new, |histogram, nanos| {
        (0..8).for_each(|of| histogram.record(nanos + of * 1_000_000));
    });
    measure("histograms", plain)
}

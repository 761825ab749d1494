//! Measures the cost of a console: CPU time of the threads that read for it, and bytes. Linux only.
//!
//! `cargo run --release -p windrow-console --example cost -- 2000`, with the number of series.

use std::error::Error;
use std::sync::LazyLock;
use std::time::Duration;
use std::{env, fs, iter, thread};

use bytes::Bytes;
use http::Request;
use http_body_util::BodyExt as _;
use windrow::clock::Manual;
use windrow::export::Source;
use windrow::family::Metric;
use windrow::{Family, Histogram, SlidingWindow, events, labels};
use windrow_console::{Body, Console};

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

/// The CPU time of the thread that made a part of an answer, and bytes.
type Cost = (Duration, usize);

/// Returns the cost of a part that `part` waits for, and the thread of this name makes.
fn cost(thread: &str, part: impl FnOnce() -> Option<Bytes>) -> Option<Cost> {
    let before = time_of(thread);
    let bytes = part()?.len();
    thread::sleep(Duration::from_millis(20)); // it frees what the part took
    Some((time_of(thread).saturating_sub(before), bytes))
}

/// Returns the median of some costs.
fn median(cost: impl FnMut() -> Option<Cost>) -> Option<Cost> {
    let mut all: Vec<Cost> = iter::repeat_with(cost).take(ROUNDS).flatten().collect();
    all.sort();
    all.get(all.len() / 2).copied()
}

/// Prints the costs of a console with these metrics, to which `add` adds before each frame.
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
    let open = |path: &str| {
        let request = Request::get(path).body(()).expect("a path");
        runtime.block_on(console.respond(&request)).into_body()
    };
    let part = |body: &mut Body| runtime.block_on(body.frame())?.ok()?.into_data().ok();
    let mut stream = None;
    let first = cost("windrow-sampler", || {
        let stream = stream.insert(open("/events"));
        part(stream)?; // the time after which a client comes back
        part(stream)
    });
    let mut stream = stream.ok_or("there is no stream")?;
    let frame = median(|| {
        add();
        cost("windrow-sampler", || part(&mut stream))
    });
    drop(stream);
    let answer = |path| median(|| cost("windrow-answers", || part(&mut open(path))));
    let costs = [first, frame, answer("/text"), answer("/metrics")].into_iter().flatten();
    let shown = costs
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

//! Measures the cost of a console: CPU time of the threads that read for it, and bytes. Linux only.
//!
//! `cargo run --release -p windrow-console --example cost -- 2000`, with the number of series.

use std::error::Error;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, fs};

use http::Request;
use http_body::Body as _;
use http_body_util::BodyExt as _;
use windrow::clock::Coarse;
use windrow::export::Source;
use windrow::{Clock, Family, Histogram, SlidingWindow, Timestamp, events, labels};
use windrow_console::{Body, Console, ConsoleService};

events! { enum Http { Pass: Count, Exception: Count, Cancelled: Count, Rt: Value } }

events! { enum Timed { Pass: Count, Exception: Count, Cancelled: Count, Rt: Histogram } }

labels! { struct Route { method: str, route: str } }

/// The time in seconds for which the frames of one case are watched.
const SECONDS: u64 = 8;

/// The number of buckets of a window, of a second each.
const BUCKETS: u64 = 60;

/// The number of answers of each kind that are timed.
const ANSWERS: usize = 5;

/// The metrics whose reading is measured, one family each.
enum Kind {
    /// Windows of a minute in sixty buckets, as `windrow-tower` has them, with a `Value`.
    Values,
    /// Such windows with a `Histogram` event in place of the `Value`.
    Histograms,
    /// Histograms without a window.
    Plain,
}

const KINDS: [(&str, Kind); 3] =
    [("values", Kind::Values), ("histograms", Kind::Histograms), ("plain", Kind::Plain)];

/// Counts in every series some times a second.
type Busy = Box<dyn FnMut(u64) + Send>;

/// The coarse clock of the system, ahead by [`AHEAD`]: so that a minute of buckets is filled at
/// once.
struct Ahead(Coarse);

/// In seconds.
static AHEAD: AtomicU64 = AtomicU64::new(0);

impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        self.0.now() + Duration::from_secs(AHEAD.load(Ordering::Relaxed))
    }

    fn resolution(&self) -> Duration {
        self.0.resolution()
    }
}

fn windows<E: windrow::Events>() -> SlidingWindow<E, Ahead> {
    let builder =
        SlidingWindow::builder().interval(Duration::from_secs(BUCKETS)).buckets(BUCKETS as usize);
    builder.clock(Ahead(Coarse::default())).build().expect("a minute in sixty buckets")
}

/// Makes a family of `$count` metrics, and the function that adds to each.
macro_rules! family {
    ($make:expr, $count:expr, $add:expr) => {{
        let family: &'static Family<Route<'static>, _, _> =
            Box::leak(Box::new(Family::with_constructor($make).with_max_series($count)));
        for index in 0..$count {
            let route = format!("/shelves/{index}/books");
            let _ = family.with(Route { method: "GET", route: &route });
        }
        let all: Vec<_> = family.iter().collect();
        let add = $add;
        let busy = move |round: u64| {
            for (index, series) in all.iter().enumerate() {
                // Some forty cells are used: response times between 1 and 30 ms.
                let nanos = 1_000_000 + (round * 7_919 + index as u64 * 104_729) % 29_000_000;
                add(&**series, nanos);
            }
        };
        let (source, busy): (Box<dyn Source>, Busy) = (Box::new(family), Box::new(busy));
        (source, busy)
    }};
}

impl Kind {
    fn make(&self, count: usize) -> (Box<dyn Source>, Busy) {
        match self {
            Kind::Values => {
                family!(windows::<Http>, count, |window: &SlidingWindow<Http, Ahead>, nanos| {
                    window.add(Http::Pass, 37);
                    window.record(Http::Rt, nanos);
                })
            }
            Kind::Histograms => {
                family!(windows::<Timed>, count, |window: &SlidingWindow<Timed, Ahead>, nanos| {
                    window.add(Timed::Pass, 37);
                    (0..8).for_each(|of| window.record(Timed::Rt, nanos + of * 1_000_000));
                })
            }
            Kind::Plain => family!(Histogram::new, count, |histogram: &Histogram, nanos| {
                (0..8).for_each(|of| histogram.record(nanos + of * 1_000_000));
            }),
        }
    }
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

/// Returns the lengths of the events that came in a stream since the last call.
fn come(body: &mut Body) -> Vec<usize> {
    let mut lengths = Vec::new();
    let mut context = Context::from_waker(Waker::noop());
    while let Poll::Ready(Some(Ok(frame))) = pin!(&mut *body).poll_frame(&mut context) {
        if let Ok(bytes) = frame.into_data() {
            lengths.push(bytes.len());
        }
    }
    lengths.retain(|length| *length > 50); // not `retry`
    lengths
}

/// Bytes, and the CPU time of the thread that made them.
#[derive(Clone, Copy)]
struct Cost {
    bytes: usize,
    time: Duration,
}

fn median(mut all: Vec<Cost>) -> Option<Cost> {
    all.sort_by_key(|cost| cost.time);
    all.get(all.len() / 2).copied()
}

/// Returns the costs of the first frame, and of each further one: the median.
fn frames(console: &ConsoleService, runtime: &tokio::runtime::Runtime) -> Option<[Cost; 2]> {
    let request = Request::get("/events").body(()).ok()?;
    let mut body = runtime.block_on(console.respond(&request)).into_body();
    let (begun, mut before, mut costs) = (Instant::now(), Duration::ZERO, Vec::new());
    while begun.elapsed() < Duration::from_secs(SECONDS) {
        thread::sleep(Duration::from_millis(100));
        for bytes in come(&mut body) {
            let time = time_of("windrow-sampler");
            costs.push(Cost { bytes, time: time.saturating_sub(before) });
            before = time;
        }
    }
    let first = (!costs.is_empty()).then(|| costs.remove(0))?;
    Some([first, median(costs)?])
}

/// Returns the cost of an answer: the median.
fn answer(console: &ConsoleService, runtime: &tokio::runtime::Runtime, path: &str) -> Option<Cost> {
    let request = Request::get(path).body(()).ok()?;
    let cost = |_| {
        let before = time_of("windrow-answers");
        let body = runtime
            .block_on(async { console.respond(&request).await.into_body().collect().await.ok() });
        let cost = Cost { bytes: body?.to_bytes().len(), time: Duration::ZERO };
        thread::sleep(Duration::from_millis(20)); // it frees what the answer took
        Some(Cost { time: time_of("windrow-answers").saturating_sub(before), ..cost })
    };
    median((0..ANSWERS).filter_map(cost).collect())
}

fn main() -> Result<(), Box<dyn Error>> {
    let count = env::args().nth(1).ok_or("the number of series is missing")?.parse()?;
    println!("ms of CPU and kB: the first frame, each further one, and each answer\n");
    println!("| series | first | frame | /text | /metrics |\n|---|---|---|---|---|");
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    for (name, kind) in KINDS {
        let (source, mut busy) = kind.make(count);
        let mut console = Console::new("shop");
        console.show("requests", "Requests by method and route", source)?;
        let console = console.build();
        for round in 0..BUCKETS {
            busy(round);
            AHEAD.fetch_add(1, Ordering::Relaxed);
        }
        let done = AtomicBool::new(false);
        let costs: Vec<Cost> = thread::scope(|scope| {
            scope.spawn(|| {
                for round in BUCKETS.. {
                    if done.load(Ordering::Relaxed) {
                        return;
                    }
                    busy(round);
                    thread::sleep(Duration::from_millis(300));
                }
            });
            let frames = frames(&console, &runtime);
            let answers = ["/text", "/metrics"].map(|path| answer(&console, &runtime, path));
            done.store(true, Ordering::Relaxed);
            frames.into_iter().flatten().chain(answers.into_iter().flatten()).collect()
        });
        let shown = costs.iter().map(|Cost { bytes, time }| {
            format!("{:.2} ms, {} kB", time.as_secs_f64() * 1e3, bytes / 1_000)
        });
        println!("| {count} {name} | {} |", shown.collect::<Vec<_>>().join(" | "));
    }
    Ok(())
}

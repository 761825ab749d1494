//! Measures the cost of a frame: CPU time of the thread that makes it, and bytes. Linux only.
//!
//! `cargo run --release -p windrow-console --example cost`

use std::error::Error;
use std::fs;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use http::Request;
use http_body::Body as _;
use windrow::{Family, SlidingWindow, events, labels};
use windrow_console::{Body, Console};

events! { enum Http { Pass: Count, Exception: Count, Cancelled: Count, Rt: Value } }

labels! { struct Route { method: str, route: str } }

type Routes = Family<Route<'static>, SlidingWindow<Http>>;

/// The time in seconds for which the frames of one case are watched.
const SECONDS: u64 = 12;

/// Windows of a minute in sixty buckets, as `windrow-tower` has them.
fn routes(series: usize) -> &'static Routes {
    let minute = || {
        let builder = SlidingWindow::builder().interval(Duration::from_secs(60)).buckets(60);
        builder.build().expect("a minute in sixty buckets")
    };
    let routes: &Routes =
        Box::leak(Box::new(Routes::with_constructor(minute).with_max_series(series)));
    for index in 0..series {
        routes
            .with(Route { method: "GET", route: &format!("/shelves/{index}/books") })
            .add(Http::Pass, 1);
    }
    routes
}

/// Counts in every series some times a second, until it is done.
fn keep_busy(routes: &Routes, done: &AtomicBool) {
    let all: Vec<_> = routes.iter().collect();
    while !done.load(Ordering::Relaxed) {
        for series in &all {
            series.add(Http::Pass, 37);
            series.record(Http::Rt, 1_234_567);
        }
        thread::sleep(Duration::from_millis(300));
    }
}

/// Returns the CPU time of the sampler's thread.
fn sampler_time() -> Option<Duration> {
    let threads = fs::read_dir("/proc/self/task").ok()?;
    let sampler = threads.flatten().map(|thread| thread.path()).find(|thread| {
        fs::read_to_string(thread.join("comm")).is_ok_and(|name| name.trim() == "windrow-sampler")
    })?;
    let times = fs::read_to_string(sampler.join("schedstat")).ok()?;
    Some(Duration::from_nanos(times.split(' ').next()?.parse().ok()?))
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
    lengths
}

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "| series, all of them busy | first frame, bytes | ns of CPU | a frame, bytes | ns of CPU |"
    );
    println!("|---|---|---|---|---|");
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    for series in [10, 200, 2_000] {
        let routes = routes(series);
        let mut console = Console::new("shop");
        console.show("requests", "Requests by method and route", routes)?;
        let console = console.build();
        let done = AtomicBool::new(false);
        let (mut lengths, mut times) = (Vec::new(), Vec::new());
        thread::scope(|scope| -> Result<(), Box<dyn Error>> {
            scope.spawn(|| keep_busy(routes, &done));
            let stream = console.respond(&Request::get("/events").body(())?);
            let mut body = runtime.block_on(stream).into_body();
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_secs(SECONDS) {
                thread::sleep(Duration::from_millis(100));
                let come = come(&mut body);
                if come.iter().any(|length| *length > 50) {
                    times.extend(sampler_time());
                }
                lengths.extend(come.into_iter().filter(|length| *length > 50)); // not `retry`
            }
            done.store(true, Ordering::Relaxed);
            Ok(())
        })?;
        let [first, frames @ ..] = lengths.as_slice() else { return Err("no frame".into()) };
        // From one frame to the next: the median.
        let mut each: Vec<_> =
            times.windows(2).map(|pair| pair[1].saturating_sub(pair[0]).as_nanos()).collect();
        each.sort_unstable();
        let bytes = frames.iter().sum::<usize>() / frames.len().max(1);
        let (whole, each) = (times.first().map_or(0, Duration::as_nanos), each.get(each.len() / 2));
        println!("| {series} | {first} | {whole} | {bytes} | {} |", each.unwrap_or(&0));
    }
    Ok(())
}

//! Measures the cost of a line: `cargo run --release -p windrow-log --example cost -- [DIRECTORY]`.
//!
//! A family of a thousand windows is written each second of a manual clock. The directory, by
//! default the system's for temporary files, decides what a sync costs.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use windrow::clock::Manual;
use windrow::{Family, SlidingWindow, events, labels};
use windrow_log::{Columns, Format, Log, Options};

events! { enum Http { Pass: Count, Block: Count, Success: Count, Exception: Count, Rt: Value } }
labels! { struct Route { route: str } }

const SERIES: u32 = 1_000;
const SECOND: Duration = Duration::from_secs(1);

/// The seconds in which all series count, and those after them in which none does.
const BUSY: u32 = 300;
const IDLE: u32 = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let parent = std::env::args_os().nth(1).unwrap_or_else(|| std::env::temp_dir().into());
    let sentinel = Format::Sentinel(Columns::default());
    for (name, format) in [("JSON", Format::Json), ("Sentinel", sentinel)] {
        let directory = tempfile::tempdir_in(&parent)?;
        println!("{name}:");
        write(directory.path(), format)?;
        read(directory.path())?;
    }
    for (name, span) in [("each write", Duration::ZERO), ("full files", Duration::MAX)] {
        let directory = tempfile::tempdir_in(&parent)?;
        sync(name, directory.path(), span)?;
    }
    Ok(())
}

fn window(clock: &Manual) -> SlidingWindow<Http, Manual> {
    let builder = SlidingWindow::builder().interval(10 * SECOND).buckets(10);
    builder.clock(clock.clone()).build().expect("sound")
}

fn median(mut all: Vec<Duration>) -> Duration {
    all.sort_unstable();
    all[all.len() / 2]
}

/// Lines of a thousand windows a second: what taking them out of the windows, and writing them,
/// takes.
fn write(directory: &Path, format: Format) -> Result<(), Box<dyn Error>> {
    let clock = Manual::default();
    let its = clock.clone();
    let family: Family<Route, _, _> = Family::with_constructor(move || window(&its));
    let mut log =
        Log::open(directory, Options::default().format(format).sync_every(Duration::MAX))?;
    let (mut lines, mut taking, mut writing, mut idle) = (0, Vec::new(), Vec::new(), Vec::new());
    for second in 0..BUSY + IDLE {
        for series in (0..SERIES).filter(|_| second < BUSY) {
            let window = family.with(Route { route: &format!("/cart/{series}") });
            let number = u64::from(series + second);
            window.add(Http::Pass, number);
            window.add(Http::Success, number);
            window.record(Http::Rt, number);
        }
        clock.advance(SECOND);
        let begun = Instant::now();
        let mut batch = log.batch();
        batch.add("http", &family);
        let taken = Instant::now();
        let written = batch.write()? as u64;
        if written > 0 {
            lines += written;
            taking.push((taken - begun) / SERIES);
            writing.push(taken.elapsed() / SERIES);
        } else {
            idle.push(begun.elapsed() / SERIES);
        }
    }
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory)? {
        bytes += entry?.metadata()?.len();
    }
    println!("a line has {} bytes", bytes / lines);
    println!("{:?} to take a line out of its window", median(taking));
    println!("{:?} to write it, {:?} for a window that has none", median(writing), median(idle));
    Ok(())
}

/// Reads the whole log, and looks for a span behind all lines.
fn read(directory: &Path) -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let count = windrow_log::read(directory)?.all().count();
    println!("{:?} to read a line", begun.elapsed() / count as u32);
    let (begun, later) = (Instant::now(), SystemTime::now() + 3_600 * SECOND);
    let found = windrow_log::read(directory)?.between(later, later + SECOND).count();
    println!("{:?} to find that a span has {found} lines", begun.elapsed());
    Ok(())
}

/// Measures a write of one line, with and without a sync.
fn sync(name: &str, directory: &Path, span: Duration) -> Result<(), Box<dyn Error>> {
    let clock = Manual::default();
    let window = window(&clock);
    let mut log = Log::open(directory, Options::default().sync_every(span))?;
    let mut each = Vec::new();
    for _ in 0..200 {
        window.add(Http::Pass, 1);
        clock.advance(SECOND);
        let begun = Instant::now();
        log.write("/", &window)?;
        each.push(begun.elapsed());
    }
    let slowest = each.iter().max().copied().unwrap_or_default();
    println!("a write of one line, {name} synced: {:?}, slowest {slowest:?}", median(each));
    Ok(())
}

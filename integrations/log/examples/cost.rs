//! Measures the cost of a line: `cargo run --release -p windrow-log --example cost -- [DIRECTORY]`.
//!
//! A family of a thousand windows is written each second of a manual clock. The directory, by
//! default the system's for temporary files, decides what a sync costs.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use windrow::clock::Manual;
use windrow::{Family, SlidingWindow, events, labels};
use windrow_log::{Columns, Entry, Format, Log, Options};

events! { enum Http { Pass: Count, Block: Count, Success: Count, Exception: Count, Rt: Value } }
labels! { struct Route { route: str } }

const SERIES: u32 = 1_000;
const SECONDS: u32 = 300;

fn main() -> Result<(), Box<dyn Error>> {
    let parent = std::env::args_os().nth(1).unwrap_or_else(|| std::env::temp_dir().into());
    for (name, format) in
        [("JSON", Format::Json), ("Sentinel", Format::Sentinel(Columns::default()))]
    {
        let directory = tempfile::tempdir_in(&parent)?;
        write(name, directory.path(), format)?;
        read(name, directory.path())?;
    }
    for (name, span) in [("each write", Duration::ZERO), ("full files", Duration::MAX)] {
        let directory = tempfile::tempdir_in(&parent)?;
        sync(name, directory.path(), span)?;
    }
    Ok(())
}

/// Lines of a thousand windows a second: what taking them out of the windows, and writing them,
/// takes.
fn write(name: &str, directory: &Path, format: Format) -> Result<(), Box<dyn Error>> {
    let clock = Manual::default();
    let its = clock.clone();
    let family: Family<Route, SlidingWindow<Http, Manual>, _> =
        Family::with_constructor(move || {
            let builder =
                SlidingWindow::<Http>::builder().interval(Duration::from_secs(10)).buckets(10);
            builder.clock(its.clone()).build().expect("sound")
        });
    let options = Options::default().format(format).sync_every(Duration::MAX);
    let mut log = Log::open(directory, options)?;
    let (mut lines, mut taking, mut writing) = (0, Vec::new(), Vec::new());
    for second in 0..SECONDS {
        for series in 0..SERIES {
            let window = family.with(Route { route: &format!("/cart/{series}") });
            let number = u64::from(series + second);
            window.add(Http::Pass, number);
            window.add(Http::Success, number);
            window.record(Http::Rt, number);
        }
        clock.advance(Duration::from_secs(1));
        let begun = Instant::now();
        let mut batch = log.batch();
        batch.add("http", &family);
        let taken = Instant::now();
        lines += batch.write()?;
        taking.push((taken - begun) / SERIES);
        writing.push(taken.elapsed() / SERIES);
    }
    let (taking, writing) = (median(&mut taking), median(&mut writing));
    let mut idle: Vec<Duration> = (0..100)
        .map(|_| {
            clock.advance(Duration::from_secs(1));
            let begun = Instant::now();
            log.write("http", &family).map(|_| begun.elapsed() / SERIES)
        })
        .collect::<Result<_, _>>()?;
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory)? {
        bytes += entry?.metadata()?.len();
    }
    println!("{name}: a line has {} bytes", bytes / lines as u64);
    println!("{name}: {taking:?} to take a line out of its window, {writing:?} to write it");
    println!("{name}: {:?} for a window that has no line", median(&mut idle));
    Ok(())
}

fn median(all: &mut [Duration]) -> Duration {
    all.sort_unstable();
    all[all.len() / 2]
}

/// Reads the whole log, and a minute in the middle.
fn read(name: &str, directory: &Path) -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let (mut count, mut first, mut last) = (0_u32, SystemTime::now(), SystemTime::UNIX_EPOCH);
    for entry in windrow_log::read(directory)?.all() {
        let start = match entry? {
            Entry::Bucket(bucket) => bucket.start,
            Entry::Second(second) => second.start,
            _ => continue,
        };
        (first, last, count) = (first.min(start), last.max(start), count + 1);
    }
    let each = begun.elapsed() / count;
    let begun = Instant::now();
    let after = last + Duration::from_secs(3_600);
    let found =
        windrow_log::read(directory)?.between(after, after + Duration::from_secs(1)).count();
    println!(
        "{name}: {each:?} to read a line, {:?} to find that a range has {found}",
        begun.elapsed()
    );
    Ok(())
}

/// Measures a write of one line, with and without a sync.
fn sync(name: &str, directory: &Path, span: Duration) -> Result<(), Box<dyn Error>> {
    let clock = Manual::default();
    let builder = SlidingWindow::<Http>::builder().interval(Duration::from_secs(10)).buckets(10);
    let window = builder.clock(clock.clone()).build()?;
    let mut log = Log::open(directory, Options::default().sync_every(span))?;
    let mut each: Vec<Duration> = (0..200)
        .map(|_| {
            window.add(Http::Pass, 1);
            clock.advance(Duration::from_secs(1));
            let begun = Instant::now();
            log.write("/", &window).map(|_| begun.elapsed())
        })
        .collect::<Result<_, _>>()?;
    each.sort();
    println!("a write of one line, {name} synced: median {:?}, slowest {:?}", each[100], each[199]);
    Ok(())
}

//! One scrape of a family of counters with three labels, by `prometheus-client`'s text encoder: its
//! time and its memory. `cargo run --release -p windrow-benches --bin scrape`; `--series N`,
//! `--rounds N`.
//!
//! All contenders have the same series, each of which every core has added to, and are scraped in
//! turn, round by round.

use std::fmt::{self, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use lexopt::Arg::Long;
use lexopt::{Parser, ValueExt};
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue};
use prometheus_client::metrics::counter::Counter as TheirCounter;
use prometheus_client::metrics::family::Family as TheirFamily;
use prometheus_client::registry::Registry;
use windrow::{Counter, Family, labels};
use windrow_benches::harness::{cores, keep_to_core, time};
use windrow_benches::heap::Counting;
use windrow_benches::terminal::{print_caption, print_table};
use windrow_prometheus::register;

#[global_allocator]
static HEAP: Counting = Counting::new();

labels! {
    enum Method { Get = "GET", Post = "POST" }
    struct Request { method: Method, route: str, status: u16 }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TheirRequest {
    method: TheirMethod,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelValue)]
enum TheirMethod {
    #[allow(clippy::upper_case_acronyms)] // shown as they are
    GET,
    #[allow(clippy::upper_case_acronyms)]
    POST,
}

/// Returns the labels of one of the series, which no other has.
fn request(series: usize) -> TheirRequest {
    let method = if series.is_multiple_of(2) { TheirMethod::GET } else { TheirMethod::POST };
    TheirRequest { method, route: format!("/shop/article/{}", series / 2), status: 200 }
}

/// A registry with a family, and the bytes that it took.
struct Contender {
    name: &'static str,
    registry: Registry,
    bytes: usize,
    times: Vec<Duration>,
}

/// Resident bytes of this process: a windrow counter's cells are not on the heap.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = pages.split_whitespace().nth(1).and_then(|pages| pages.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}

/// Every core adds to every series once.
fn make(
    name: &'static str,
    series: usize,
    add: impl Fn(TheirRequest) + Sync,
    register: impl FnOnce(&mut Registry),
) -> Contender {
    let (heap, pages) = (HEAP.bytes(), resident());
    for core in 0..cores() {
        thread::scope(|scope| {
            scope.spawn(|| {
                keep_to_core(core);
                (0..series).for_each(|series| add(request(series)));
            });
        });
    }
    // The greater of the two: resident memory may have been free before.
    let bytes = (HEAP.bytes() - heap).max(resident().saturating_sub(pages));
    let mut registry = Registry::default();
    register(&mut registry);
    Contender { name, registry, bytes, times: Vec::new() }
}

fn contenders(series: usize) -> [Contender; 3] {
    let theirs = TheirFamily::<TheirRequest, TheirCounter>::default();
    let mixed = TheirFamily::<TheirRequest, windrow_prometheus::Counter>::default();
    let ours = Arc::new(Family::<Request, Counter>::new().with_max_series(series));
    [
        make(
            "prometheus-client: Family of Counter",
            series,
            |request| _ = theirs.get_or_create(&request).inc(),
            |registry| registry.register("requests", "Requests", theirs.clone()),
        ),
        make(
            "prometheus-client: Family of windrow_prometheus::Counter",
            series,
            |request| mixed.get_or_create(&request).increment(),
            |registry| registry.register("requests", "Requests", mixed.clone()),
        ),
        make(
            "windrow: Family of Counter",
            series,
            |TheirRequest { method, route, status }| {
                let method = if method == TheirMethod::GET { Method::Get } else { Method::Post };
                ours.with(Request { method, route: &route, status }).increment();
            },
            |registry| {
                register(registry, "requests", "Requests", Arc::clone(&ours)).expect("a new name");
            },
        ),
    ]
}

/// Takes a text, and keeps nothing of it but its length and the most that the heap held meanwhile.
#[derive(Default)]
struct Watch {
    length: usize,
    most: usize,
}

impl Write for Watch {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.length += text.len();
        self.most = self.most.max(HEAP.bytes());
        Ok(())
    }
}

fn options() -> Result<(usize, usize), lexopt::Error> {
    let (mut series, mut rounds) = (10_000, 15);
    let mut arguments = Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("series") => series = arguments.value()?.parse()?,
            Long("rounds") => rounds = arguments.value()?.parse()?,
            other => return Err(other.unexpected()),
        }
    }
    if series == 0 || rounds == 0 {
        return Err("--series and --rounds must be above 0".into());
    }
    Ok((series, rounds))
}

fn millis(time: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() * 1e3)
}

fn main() {
    let (series, rounds) = match options() {
        Ok(options) => options,
        Err(wrong) => {
            eprintln!("scrape: {wrong}");
            std::process::exit(2);
        }
    };
    print_caption("scrape");
    let mut contenders = contenders(series);
    let mut rows = Vec::new();
    let mut text = String::new();
    for contender in &mut contenders {
        let (mut watch, before) = (Watch::default(), HEAP.bytes());
        encode(&mut watch, &contender.registry).expect("a watch takes all");
        text.reserve(watch.length);
        rows.push(vec![
            contender.name.to_owned(),
            (contender.bytes / series).to_string(),
            ((watch.most - before) / series).to_string(),
        ]);
    }
    for _ in 0..rounds {
        for contender in &mut contenders {
            text.clear();
            let took = time(|| encode(&mut text, &contender.registry).expect("a string takes all"));
            contender.times.push(took);
            let samples = text.lines().filter(|line| line.starts_with("requests_total{")).count();
            assert_eq!(samples, series, "{} has lost series", contender.name);
        }
    }
    for (row, contender) in rows.iter_mut().zip(&mut contenders) {
        contender.times.sort_unstable();
        let times = &contender.times;
        let range = format!("{} to {}", millis(times[0]), millis(times[times.len() - 1]));
        row.extend([millis(times[times.len() / 2]), range]);
    }
    let head =
        ["contender", "bytes a series", "more in a scrape", "ms of CPU a scrape: median", "range"];
    print_table(&head, &rows);
    println!("\n{series} series, {rounds} rounds; {} bytes of text.", text.len());
}

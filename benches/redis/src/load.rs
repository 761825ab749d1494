//! A load of one and a half times the limit, on one, two and eight processes, against each
//! algorithm.

use std::env;
use std::error::Error;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use windrow::gate::Admission;
use windrow::{AtMost, Histogram};
use windrow_benches::terminal::print_table;
use windrow_redis::SharedGate;

use super::book::{BUCKETS, Book, Wall};
use super::client::TIMES;
use super::engine::Engine;

/// The parts of the load, in turn.
const PARTS: [f64; 4] = [20.0, 1.0, 5.0, 2.0];

/// The buckets before those that count: for the start of the processes, and a burst.
const WARM_UP: u64 = 3 * BUCKETS;

/// The algorithms: the client's word, and the table's.
const ALGORITHMS: [(&str, &str); 5] = [
    ("rations", "`SharedGate`"),
    ("gcra", "GCRA script, one caller"),
    ("gcra64", "GCRA script, 64 callers"),
    ("window", "window script, one caller"),
    ("window64", "window script, 64 callers"),
];

pub(super) fn run(seconds: u64) -> Result<(), Box<dyn Error>> {
    let engine = Engine::start()?;
    let mut rows = Vec::new();
    for limit in [100_000, 1_000_000] {
        for processes in [1, 2, 8] {
            for (word, algorithm) in ALGORITHMS {
                eprint!("{limit}, {processes} processes, {word}          \r");
                let figures = cell(&engine, limit, processes, word, seconds)?;
                let heads = [limit.to_string(), processes.to_string(), algorithm.to_owned()];
                rows.push(heads.into_iter().chain(figures).collect());
            }
        }
    }
    let heads = [
        "limit",
        "processes",
        "algorithm",
        "admitted/s",
        "calls/s",
        "worst, % over",
        "p50, us",
        "p99, us",
    ];
    print_table(&heads, &rows);
    // A call that does nothing, as often as that of one process with the larger limit.
    let [.., p50, p99] = cell(&engine, 1_000_000, 1, "clock", seconds)?;
    println!("\nThe reading of the clock in each time: p50 {p50} us, p99 {p99} us.");
    Ok(())
}

/// Returns the figures of one cell of the table.
fn cell(
    engine: &Engine,
    limit: u64,
    processes: usize,
    word: &str,
    seconds: u64,
) -> Result<[String; 5], Box<dyn Error>> {
    let (url, name) = (engine.url(), format!("{word}-{limit}-{processes}"));
    if word == "rations" {
        // A limit's first start is cold: that is over before the load begins.
        let gate = SharedGate::builder(AtMost(limit)).name(&name).connect(&url)?;
        let begun = Instant::now();
        while gate.admit_blocking(1, Duration::from_secs(1)) != Admission::Now {
            if begun.elapsed() > Duration::from_secs(20) {
                return Err("a shared gate stays cold".into());
            }
        }
    }
    let wall = Wall::new();
    let from = wall.bucket(Instant::now()) + WARM_UP;
    // What a shared gate grants comes again after a spare bucket: whole turns of that count.
    let counted = (seconds * BUCKETS).next_multiple_of(BUCKETS + 1);
    let to = from + counted;
    let parts: Vec<f64> = PARTS.into_iter().cycle().take(processes).collect();
    let mut clients = Vec::new();
    for part in &parts {
        let rate = limit as f64 * 1.5 * part / parts.iter().sum::<f64>();
        let task = format!("{url} {word} {name} {limit} {rate} {from} {to}");
        let mut command = Command::new(env::current_exe()?);
        clients.push(command.args(["--client", &task]).stdout(Stdio::piped()).spawn()?);
    }
    sleep(wall.until(from));
    let before = engine.calls()?;
    sleep(wall.until(to));
    let calls = engine.calls()? - before;

    let (mut book, nanoseconds) = (Book::default(), Histogram::with_scale(TIMES));
    for client in clients {
        let output = client.wait_with_output()?;
        if !output.status.success() {
            return Err(format!("a client of {name} has failed").into());
        }
        for line in String::from_utf8(output.stdout)?.lines() {
            let (kind, numbers) = line.split_once(' ').ok_or("a line has a kind")?;
            let numbers: Vec<u64> = numbers.split(' ').map(str::parse).collect::<Result<_, _>>()?;
            let &[first, a, b, c] = &numbers[..] else { return Err("four numbers".into()) };
            match kind {
                "book" => book.merge(first, [a, b, c]),
                _ => nanoseconds.record_many(first, a),
            }
        }
    }
    let over = (book.worst() as f64 / limit as f64 - 1.0) * 100.0;
    let microseconds = |part: f64| {
        let time = nanoseconds.quantile(part);
        time.map_or("-".to_owned(), |time| format!("{:.2}", time as f64 / 1e3))
    };
    Ok([
        (book.admitted(from, to) * BUCKETS / counted).to_string(),
        (calls * BUCKETS / counted).to_string(),
        if over > 0.0 { format!("{over:.2}") } else { "0".to_owned() },
        microseconds(0.5),
        microseconds(0.99),
    ])
}

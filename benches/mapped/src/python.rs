//! A scrape of the counters of 500 processes that have ended: by Python's multiprocess mode, which
//! has a file for each, and of one mapped file.

use std::error::Error;
use std::process::Command;

use windrow::export::Catalog;
use windrow_benches::harness::time;
use windrow_benches::lab::entries::{Entry, measure, print_rows};
use windrow_benches::lab::stats::{Sample, Spread, digits};
use windrow_mapped::{File, FileSource, Reader};
use windrow_prometheus::{Exposition, Format};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/multiprocess.py");
const PROCESSES: u32 = 500;
const COUNTERS: u32 = 20;
const ROUNDS: usize = 41;

pub(super) fn run() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir_in("/dev/shm")?;
    let mut command = Command::new("python3");
    command.arg(SCRIPT).arg(folder.path());
    let output = command.args([PROCESSES, COUNTERS].map(|number| number.to_string())).output();
    let theirs: Vec<f64> = match &output {
        Ok(output) if output.status.success() => {
            let lines = str::from_utf8(&output.stdout)?.lines();
            lines.map(str::parse).collect::<Result<_, _>>()?
        }
        _ => {
            println!("not run: `python3` with `prometheus_client`: {output:?}");
            return Ok(());
        }
    };
    let path = folder.path().join("f");
    let file = File::open(&path)?;
    for route in 0..COUNTERS {
        let counter = file.counter("calls", &[("route", &format!("/{route}"))])?;
        counter.add(PROCESSES.into());
    }
    let mut ours = [Entry::new("mapped").column(|| {
        let mut text = Ok(Vec::new());
        let sample = time(|| text = scrape(&path)).each(1_000_000);
        let text = String::from_utf8(text.expect("a scrape")).expect("a text");
        assert_eq!(text.matches(&format!(" {PROCESSES}\n")).count(), COUNTERS as usize);
        sample
    })];
    measure("scrapes", ROUNDS, &mut ours);
    let of_python = |&ns: &f64| Sample { ns, running: 1.0 };
    let theirs = Spread::of(&theirs.iter().map(of_python).collect::<Vec<_>>()).median;
    println!("A scrape of {COUNTERS} counters of {PROCESSES} processes: Python {theirs:.2} ms\n");
    print_rows(&["scrape", "ms", "of Python's"], &ours, |ours| {
        let cost = ours.cost(0);
        vec![cost.show(), digits(cost.median / theirs)]
    });
    Ok(())
}

/// Opens the file, and returns the text of all its metrics.
fn scrape(path: &std::path::Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut catalog = Catalog::new();
    FileSource::new(Reader::open(path)?).add_to(&mut catalog)?;
    let mut exposition = Exposition::new();
    exposition.register_all(&catalog)?;
    Ok(exposition.encode(Format::negotiate(None)))
}

//! A scrape of the counters of 500 processes that have ended: by Python's multiprocess mode, which
//! has a file for each, and of one mapped file.

use std::error::Error;
use std::process::Command;

use windrow::export::Catalog;
use windrow_benches::harness::time;
use windrow_benches::lab::stats::Spread;
use windrow_benches::terminal::print_table;
use windrow_mapped::{File, FileSource, Reader};
use windrow_prometheus::{Exposition, Format};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/multiprocess.py");
const PROCESSES: u32 = 500;
const COUNTERS: u32 = 20;
const ROUNDS: usize = 41;

pub(super) fn run(python: &str) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir_in("/dev/shm")?;
    let mut command = Command::new(python);
    command.arg(SCRIPT).arg(folder.path());
    let output = command.args([PROCESSES, COUNTERS].map(|number| number.to_string())).output();
    let theirs: Vec<f64> = match &output {
        Ok(output) if output.status.success() => {
            let lines = str::from_utf8(&output.stdout)?.lines();
            lines.map(str::parse).collect::<Result<_, _>>()?
        }
        _ => {
            println!("not run: {python} with `prometheus_client`: {output:?}");
            return Ok(());
        }
    };
    let path = folder.path().join("f");
    let file = File::open(&path)?;
    for route in 0..COUNTERS {
        let counter = file.counter("calls", &[("route", &format!("/{route}"))])?;
        counter.add(PROCESSES.into());
    }
    let mut ours = Vec::new();
    for _ in 0..ROUNDS {
        let mut text = Ok(Vec::new());
        ours.push(time(|| text = scrape(&path)).as_secs_f64() * 1e3);
        let text = String::from_utf8(text?)?;
        assert_eq!(text.matches(&format!(" {PROCESSES}\n")).count(), COUNTERS as usize);
    }
    let of = |figures: &[f64]| Spread::of(figures.iter().copied());
    let theirs = of(&theirs);
    let ratio = Spread::of(ours.iter().map(|ours| ours / theirs.median));
    let case = format!("{COUNTERS} counters of {PROCESSES} processes");
    let row = vec![case, theirs.show_median(), of(&ours).show_median(), ratio.show()];
    print_table(&["scrape", "Python, ms", "mapped, ms", "ratio"], &[row]);
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

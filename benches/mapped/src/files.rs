//! Opening a file, registering names, and reading 10 000 counters.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;

use windrow_benches::harness::time;
use windrow_benches::lab::stats::Spread;
use windrow_benches::terminal::print_table;
use windrow_mapped::{File, FileBuilder, Reader};

const ROUNDS: usize = 101;
const COUNTERS: u32 = 10_000;

pub(super) fn run() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir_in("/dev/shm")?;
    let path = folder.path().join("f");
    File::builder().locked_rows(1).open(&path)?;
    let mut rows = Vec::new();
    let mut add = |what: String, milliseconds: Vec<f64>| {
        rows.push(vec![what, Spread::of(milliseconds.into_iter()).show()]);
    };
    add("creating a file".to_owned(), creating(folder.path()));
    add("opening it to add".to_owned(), each(|| drop(black_box(File::open(&path)))));
    add(
        "opening it to read, and reading".to_owned(),
        each(|| drop(black_box(Reader::open(&path).and_then(|reader| reader.read())))),
    );
    let processors = std::thread::available_parallelism()?.get() as u32;
    for wanted in [processors + 1, 64, 256] {
        let path = folder.path().join(wanted.to_string());
        let file = File::builder().locked_rows(wanted.saturating_sub(processors).max(1));
        let registered = registered(file, &path)?;
        add(format!("registering {COUNTERS} names, {wanted} rows"), vec![registered]);
        let reader = Reader::open(&path)?;
        reader.read()?;
        add(
            format!("reading {COUNTERS} counters, {wanted} rows"),
            each(|| drop(black_box(reader.read()))),
        );
    }
    print_table(&["CPU time in ms", "median (least to greatest)"], &rows);
    Ok(())
}

/// Returns the milliseconds of some work, in each round.
fn each(mut work: impl FnMut()) -> Vec<f64> {
    (0..ROUNDS).map(|_| time(&mut work).as_secs_f64() * 1e3).collect()
}

fn creating(folder: &Path) -> Vec<f64> {
    let mut number = 0;
    each(|| {
        number += 1;
        drop(black_box(File::open(folder.join(format!("new-{number}")))));
    })
}

/// Returns the milliseconds of registering all names, with one add to each counter.
fn registered(file: FileBuilder, path: &Path) -> Result<f64, Box<dyn Error>> {
    let file = file.open(path)?;
    let mut result = Ok(());
    let spent = time(|| {
        result = (0..COUNTERS).try_for_each(|number| {
            let counter = file.counter(&format!("counter_{number}"), &[("route", "cart")])?;
            counter.add(1);
            Ok::<(), windrow_mapped::MappedError>(())
        });
    });
    result?;
    Ok(spent.as_secs_f64() * 1e3)
}

//! Opening a file, registering names, and reading 10 000 counters.

use std::error::Error;
use std::hint::black_box;
use std::path::Path;

use windrow_benches::harness::time;
use windrow_benches::lab::entries::{Entry, measure, print};
use windrow_mapped::{File, MappedError, Reader};

const ROUNDS: usize = 101;
const COUNTERS: u32 = 10_000;

pub(super) fn run() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir_in("/dev/shm")?;
    let path = folder.path().join("f");
    let _file = File::builder().locked_rows(1).open(&path)?;
    let opened = || drop(black_box(File::open(&path)));
    let mut entries = vec![of("opening a file to add".to_owned(), opened)];
    let processors = std::thread::available_parallelism()?.get() as u32;
    for rows in [processors + 1, 64] {
        let path = folder.path().join(rows.to_string());
        register(&path, rows.saturating_sub(processors).max(1))?;
        let reader = Reader::open(&path)?;
        let read = move || drop(black_box(reader.read()));
        entries.push(of(format!("reading {COUNTERS} counters, {rows} rows"), read));
    }
    let new = folder.path().join("new");
    entries.push(of(format!("registering {COUNTERS} names"), move || {
        let _ = std::fs::remove_file(&new); // that of the round before
        register(&new, 1).expect("a new file");
    }));
    measure("files", ROUNDS, &mut entries);
    print(&["CPU time in ms", "median (least to greatest)"], &entries);
    Ok(())
}

fn of<'w>(name: String, mut work: impl FnMut() + 'w) -> Entry<'w> {
    Entry::new(name).column(move || time(&mut work).each(1_000_000))
}

/// Makes a file with all names, and adds once to each counter.
fn register(path: &Path, locked_rows: u32) -> Result<(), MappedError> {
    let file = File::builder().locked_rows(locked_rows).open(path)?;
    (0..COUNTERS).try_for_each(|number| {
        file.counter(&format!("counter_{number}"), &[("route", "cart")])?.add(1);
        Ok(())
    })
}

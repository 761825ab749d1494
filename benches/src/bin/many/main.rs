//! The cost of being many: `many DIRECTORY [--most N] [--only PART]` writes a page with a table for
//! each part, and a picture of each column, into the directory.
//!
//! `cargo run --release -p windrow-benches --features limits --bin many -- DIRECTORY`. Each decade
//! from 1 to a million is measured once, `--most N` stops at that one. Where things are few, a
//! thousand are made in several sets.

mod keys;
mod page;
mod series;
mod windows;

use std::error::Error;
use std::path::PathBuf;

use cpu_time::ThreadTime;

use lexopt::Arg::{Long, Value};
use lexopt::{Parser, ValueExt};
use windrow_benches::heap::Counting;

#[global_allocator]
static HEAP: Counting = Counting::new();

/// A kind of thing of which there are many.
struct Part {
    name: &'static str,
    title: &'static str,
    /// The text above the table.
    about: &'static str,
    columns: &'static [Column],
    /// Returns a row for each contender of which this number can be made.
    measure: fn(usize) -> Vec<Row>,
}

/// A figure of each row.
struct Column {
    head: &'static str,
    /// The end of the picture's name.
    picture: &'static str,
}

const fn column(head: &'static str, picture: &'static str) -> Column {
    Column { head, picture }
}

/// The figures of a contender for some number of things: one for each column.
struct Row {
    contender: &'static str,
    count: usize,
    figures: Vec<f64>,
}

const PARTS: [&Part; 3] = [&series::PART, &windows::PART, &keys::PART];

/// The number of times that something is done at random.
const AT_RANDOM: usize = 1_000_000;

struct Asked {
    directory: PathBuf,
    most: usize,
    only: Option<String>,
}

fn asked() -> Result<Asked, lexopt::Error> {
    let (mut directory, mut most, mut only) = (None, 1_000_000, None);
    let mut arguments = Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("most") => most = arguments.value()?.parse()?,
            Long("only") => only = Some(arguments.value()?.string()?),
            Value(word) if directory.is_none() => directory = Some(word.into()),
            other => return Err(other.unexpected()),
        }
    }
    let names = PARTS.map(|part| part.name);
    if only.as_ref().is_some_and(|only| !names.contains(&only.as_str())) {
        return Err(format!("the parts are {names:?}").into());
    }
    let directory = directory.ok_or("there is `many DIRECTORY`")?;
    Ok(Asked { directory, most, only })
}

/// Returns the processor time of `work`, divided by the number of `times` that it does something,
/// in nanoseconds.
fn nanos(times: usize, work: impl FnOnce()) -> f64 {
    let begun = ThreadTime::now();
    work();
    begun.elapsed().as_nanos() as f64 / times as f64
}

/// Returns the number of sets that are measured together, so that times are long enough.
fn sets(count: usize) -> usize {
    (1_000 / count).max(1)
}

/// Returns numbers of things at random.
fn at_random(count: usize) -> Vec<u32> {
    let mut random = fastrand::Rng::with_seed(7);
    let count = u32::try_from(count).expect("a million at most");
    (0..AT_RANDOM).map(|_| random.u32(..count)).collect()
}

/// Returns the bytes on the heap that `make` has asked for and not given back.
fn bytes<T>(make: impl FnOnce() -> T) -> (T, usize) {
    HEAP.stop(false);
    let before = HEAP.bytes();
    let all = make();
    let bytes = HEAP.bytes() - before;
    HEAP.stop(true);
    (all, bytes)
}

fn main() -> Result<(), Box<dyn Error>> {
    let Asked { directory, most, only } = asked()?;
    HEAP.stop(true);
    let decades: Vec<usize> =
        (0..7).map(|exponent| 10_usize.pow(exponent)).filter(|count| *count <= most).collect();
    let chosen = |part: &&Part| only.as_ref().is_none_or(|only| only == part.name);
    page::write(&directory, &decades, PARTS.into_iter().filter(chosen))
}

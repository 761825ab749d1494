//! The cost of being many: `many [--most N] [--only PART]` prints a table for each part. Times are
//! nanoseconds of processor time of one thread, for one of the things; bytes are those asked of the
//! allocator. Columns of windrow's counters are mapped besides: 8 bytes for each core.
//!
//! `cargo run --release -p windrow-benches --features limits --bin many`. Each decade
//! from 1 to a million, or to `--most N`, is measured once. Where things are few, a thousand are
//! made in several sets. Bytes are counted apart from times, since a count makes an allocation
//! longer.

mod keys;
mod part;
mod series;
mod windows;

use part::{Part, Row};
use windrow_benches::lab::progress::Progress;
use windrow_benches::lab::stats::digits;
use windrow_benches::terminal::{options, print_table};

const PARTS: [&Part; 3] = [&series::PART, &windows::PART, &keys::PART];

/// The most things of a kind.
const MOST: usize = 1_000_000;

/// Measures a part, and prints its table.
fn print(part: &Part, most: usize) {
    let mut progress = Progress::begin(part.name);
    let mut rows: Vec<Vec<String>> = Vec::new();
    let decades = (0..7).map(|power| 10_usize.pow(power)).filter(|count| *count <= most);
    for count in decades {
        progress.step("things", count, most);
        for Row { contender, count, figures } in (part.measure)(count) {
            let name = format!("{contender}, {count}");
            rows.push([name].into_iter().chain(figures.into_iter().map(digits)).collect());
        }
    }
    progress.end();
    println!("{}\n", part.about);
    let heads: Vec<&str> = [part.name].into_iter().chain(part.columns.iter().copied()).collect();
    print_table(&heads, &rows);
    println!();
}

fn main() {
    part::HEAP.stop(true);
    let options = options("many", [("most", MOST)], &PARTS.map(|part| part.name));
    for part in PARTS.iter().filter(|part| options.wants(part.name)) {
        print(part, options.numbers[0]);
    }
}

//! The rounds of the programs: in each of them every entry of a table does the work of each of its
//! columns once, in an order that turns by one from round to round.

use super::progress::Progress;
use super::stats::{MARK, Sample, Spread};
use crate::harness::{Rival, WARM_UP, cores, time_adds};
use crate::terminal::print_table;

/// A line of a table: its name, the work of each column, and the samples of that, by round.
pub struct Entry<'w> {
    name: String,
    facts: Vec<String>,
    works: Vec<Box<dyn FnMut() -> Sample + 'w>>,
    samples: Vec<Vec<Sample>>,
}

impl<'w> Entry<'w> {
    /// Returns an entry without columns.
    pub fn new(name: impl Into<String>) -> Entry<'w> {
        Entry { name: name.into(), facts: Vec::new(), works: Vec::new(), samples: Vec::new() }
    }

    /// Adds cells behind the name that are the same in each round.
    #[must_use]
    pub fn facts(mut self, facts: impl IntoIterator<Item = String>) -> Entry<'w> {
        self.facts.extend(facts);
        self
    }

    /// One column more.
    #[must_use]
    pub fn column(mut self, work: impl FnMut() -> Sample + 'w) -> Entry<'w> {
        self.works.push(Box::new(work));
        self.samples.push(Vec::new());
        self
    }

    /// Two columns more: an add of `rival` on one thread, and on one for each core.
    ///
    /// # Panics
    /// The work panics if the rival has lost an add.
    #[must_use]
    pub fn adds(self, rival: &'w dyn Rival, times: u64) -> Entry<'w> {
        [1, cores()].into_iter().fold(self, |entry, threads| {
            let name = entry.name.clone();
            entry.column(move || {
                let before = rival.sum();
                let sample = time_adds(rival, threads, times).each(times);
                // Also lets those that put values aside work them off.
                let added = threads as u64 * (times + WARM_UP);
                assert_eq!(rival.sum() - before, added, "{name} lost adds");
                sample
            })
        })
    }

    /// Returns what the work of a column has taken.
    ///
    /// # Panics
    /// Panics if there was no round.
    pub fn cost(&self, column: usize) -> Spread {
        Spread::of(&self.samples[column])
    }

    /// Returns the ratios of a column to one of another entry.
    ///
    /// # Panics
    /// Panics if there was no round.
    pub fn ratio(&self, column: usize, other: &Entry, of_other: usize) -> Spread {
        Spread::of_ratios(&self.samples[column], &other.samples[of_other])
    }
}

/// Measures all entries.
pub fn measure(title: &str, rounds: usize, entries: &mut [Entry]) {
    let mut progress = Progress::begin(title);
    let count = entries.len();
    for round in 0..rounds {
        progress.step("round", round, rounds);
        for turn in 0..count {
            let Entry { works, samples, .. } = &mut entries[(round + turn) % count];
            for (work, samples) in works.iter_mut().zip(samples) {
                samples.push(work());
            }
        }
    }
    progress.end();
}

/// Prints a table of the costs of all columns.
pub fn print(heads: &[&str], entries: &[Entry]) {
    print_rows(heads, entries, |entry| {
        (0..entry.samples.len()).map(|at| entry.cost(at).show()).collect()
    });
}

/// Prints a table of these cells of each entry, and what its marks mean.
pub fn print_rows(heads: &[&str], entries: &[Entry], cells: impl Fn(&Entry) -> Vec<String>) {
    let row = |entry: &Entry| {
        let fixed = [&entry.name].into_iter().chain(&entry.facts);
        fixed.cloned().chain(cells(entry)).collect()
    };
    let rows: Vec<Vec<String>> = entries.iter().map(row).collect();
    print_table(heads, &rows);
    let is_marked = rows.iter().flatten().any(|cell| cell.starts_with('~'));
    println!("{}", if is_marked { format!("\n{MARK}\n") } else { String::new() });
}

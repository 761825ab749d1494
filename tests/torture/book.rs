//! The book that a writer keeps beside a window.
//!
//! Values are of three sizes, so far apart that a sum tells the number of each. So the numbers of
//! one bucket can be compared with one another, without knowing the adds.

use windrow::Stats;

use testkit::Rng;
use testkit::ledger::{Ledger, Tally};

/// The values. A sum of less than 2^20 of each tells the number of each.
const VALUES: [u64; 3] = [1, 1 << 20, 1 << 40];

/// Mostly the middle one: then a bucket may well have no least or no greatest.
pub(crate) fn some_value(random: &mut Rng) -> u64 {
    match random.u64(..40) {
        0 => VALUES[0],
        1 => VALUES[2],
        _ => VALUES[1],
    }
}

/// Returns an error if count, sum, minimum and maximum cannot all be of the same values.
pub(crate) fn agree(stats: Stats) -> Result<(), String> {
    let each = [stats.sum & 0xf_ffff, stats.sum >> 20 & 0xf_ffff, stats.sum >> 40];
    let there = || (0..VALUES.len()).filter(|index| each[*index] > 0).map(|index| VALUES[index]);
    if stats.count == each.iter().sum() && stats.min == there().min() && stats.max == there().max()
    {
        return Ok(());
    }
    Err(format!("{stats:?} cannot be: the sum is of {each:?} of {VALUES:?}"))
}

/// One writer's adds in the order in which they were made: the quickest way to note them.
#[derive(Default)]
pub(crate) struct Log(Vec<(u64, Tally)>);

impl Log {
    /// Records the adds at a time of the bucket at `start`.
    pub(crate) fn note(&mut self, start: u64, tally: Tally) {
        match self.0.last_mut() {
            Some((last, sum)) if *last == start => sum.merge(tally),
            _ => self.0.push((start, tally)),
        }
    }
}

/// The adds of one writer: by bucket, and the number of values that are late, or may be.
#[derive(Default)]
pub(crate) struct Book {
    pub(crate) pass: Log,
    pub(crate) rt: Log,
    pub(crate) peak: Log,
    /// Values that must be late.
    pub(crate) late: u64,
    /// Values that may be late, these among them.
    pub(crate) maybe_late: u64,
}

/// All writers' books in one.
pub(crate) struct Books {
    pub(crate) pass: Ledger,
    pub(crate) rt: Ledger,
    pub(crate) peak: Ledger,
    pub(crate) late: u64,
    pub(crate) maybe_late: u64,
}

impl Books {
    pub(crate) fn of(books: &[Book]) -> Books {
        let ledger = |log: fn(&Book) -> &Log| {
            let mut ledger = Ledger::default();
            for (start, tally) in books.iter().flat_map(|book| &log(book).0) {
                ledger.note(*start, *tally);
            }
            ledger
        };
        Books {
            pass: ledger(|book| &book.pass),
            rt: ledger(|book| &book.rt),
            peak: ledger(|book| &book.peak),
            late: books.iter().map(|book| book.late).sum(),
            maybe_late: books.iter().map(|book| book.maybe_late).sum(),
        }
    }
}

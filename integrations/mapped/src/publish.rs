//! Publishing an entry by one word, to readers that take no lock.
//!
//! # Promise
//!
//! A reader that has loaded an end finds all entries before it whole.
//!
//! # Why
//!
//! An entry is written behind the end, by one process at a time (which has the lock), and only then
//! the end is stored, by Release. A reader loads the end by Acquire, and no word behind it. The end
//! has the bytes and the columns in one word, so no reader sees one without the other.

use std::sync::atomic::Ordering;

use crate::failpoint::{self, Point};
use crate::layout::entry::Entry;
use crate::layout::header::{END, End};
use crate::layout::table_place;
use crate::system::mapping::Mapping;

/// The words of a file.
pub(crate) trait Words {
    fn load(&self, place: u64, order: Ordering) -> u64;
    fn store(&self, place: u64, word: u64, order: Ordering);
}

impl Words for Mapping {
    fn load(&self, place: u64, order: Ordering) -> u64 {
        self.at(place).load(order)
    }

    fn store(&self, place: u64, word: u64, order: Ordering) {
        self.at(place).store(word, order);
    }
}

/// Returns the end of the entries that are published.
pub(crate) fn end(words: &impl Words) -> End {
    // Acquire: pairs with the store in `publish`.
    End::of(words.load(END, Ordering::Acquire))
}

/// Writes an entry behind the end `before`, and publishes it. This process has the lock.
pub(crate) fn publish(words: &impl Words, entry: &Entry, before: End) {
    let written = entry.words();
    let half = written.len() / 2;
    for (at, word) in written.into_iter().enumerate() {
        if at == half {
            failpoint::reach(Point::HalfWritten);
        }
        // Relaxed: published with the end.
        words.store(table_place(before.bytes) + at as u64 * 8, word, Ordering::Relaxed);
    }
    failpoint::reach(Point::Written);
    // Release: pairs with the load in `end`, and with the fence of a reader.
    words.store(END, entry.end(before).word(), Ordering::Release);
}

#[cfg(test)]
mod tests;

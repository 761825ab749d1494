//! A model of two processes that register and one that reads, by all orders that weak memory
//! allows; and a broken twin, in which the model finds a torn entry.

use std::path::Path;
use std::sync::atomic::Ordering;

use loom::sync::atomic::AtomicU64;
use loom::sync::{Arc, Mutex};
use loom::thread;

use super::{Words, end, publish};
use crate::entries::Entries;
use crate::error::MappedError;
use crate::kind::Kind;
use crate::layout::header::END;
use crate::layout::{Shape, table_place};

const SHAPE: Shape = Shape { plain: 1, locked: 1, columns: 8, table: 48, owners: 1, gauges: 7 };

/// A file of memory: its end, and its table.
struct Modelled {
    end: AtomicU64,
    table: Vec<AtomicU64>,
    /// The lock of the names, which orders those that register, as the kernel's does.
    lock: Mutex<()>,
    /// The order by which the end is stored.
    publishing: Ordering,
}

impl Modelled {
    fn new(publishing: Ordering) -> Modelled {
        let table = (0..SHAPE.table / 8).map(|_| AtomicU64::new(0)).collect();
        Modelled { end: AtomicU64::new(0), table, lock: Mutex::new(()), publishing }
    }

    fn word(&self, place: u64) -> &AtomicU64 {
        match place {
            END => &self.end,
            place => &self.table[((place - table_place(0)) / 8) as usize],
        }
    }

    /// Reads what was published, as a process that opens the file.
    fn catch_up(&self, entries: &mut Entries) -> Result<(), MappedError> {
        entries.catch_up(end(self), SHAPE, Path::new("model"), |place, into| {
            for (at, bytes) in into.chunks_exact_mut(8).enumerate() {
                let word = self.load(place + at as u64 * 8, Ordering::Relaxed);
                bytes.copy_from_slice(&word.to_le_bytes());
            }
            Ok(())
        })
    }

    /// Registers a name, and returns its column.
    fn register(&self, name: &str) -> u32 {
        let mut entries = Entries::default();
        let _lock = self.lock.lock().unwrap();
        self.catch_up(&mut entries).expect("whole entries");
        if let Some(entry) = entries.find(name) {
            return entry.column;
        }
        let entry = entries.next(name, Kind::Counter, SHAPE).unwrap();
        publish(self, &entry, entries.end);
        entry.column
    }
}

impl Words for Modelled {
    fn load(&self, place: u64, order: Ordering) -> u64 {
        self.word(place).load(order)
    }

    fn store(&self, place: u64, word: u64, order: Ordering) {
        let order = if place == END { self.publishing } else { order };
        self.word(place).store(word, order);
    }
}

/// Lets two threads register these names, and a third one read twice.
fn model(names: [&'static str; 2], publishing: Ordering) {
    loom::model(move || {
        let file = Arc::new(Modelled::new(publishing));
        let [first, second] = names;
        let of = Arc::clone(&file);
        let reader = thread::spawn(move || {
            let mut seen = Entries::default();
            for _ in 0..2 {
                of.catch_up(&mut seen).expect("whole entries");
            }
            seen
        });
        let of = Arc::clone(&file);
        let second = thread::spawn(move || of.register(second));
        let first = file.register(first);
        let columns = [first, second.join().unwrap()];
        let mut seen = reader.join().unwrap();
        file.catch_up(&mut seen).expect("whole entries");
        for (name, column) in names.into_iter().zip(columns) {
            assert_eq!(seen.find(name).map(|entry| entry.column), Some(column));
        }
        assert_eq!(columns[0] == columns[1], names[0] == names[1]);
    });
}

#[test]
fn a_reader_finds_whole_entries_while_two_processes_register() {
    model(["a", "b"], Ordering::Release);
}

#[test]
fn two_processes_that_register_one_name_get_one_column() {
    model(["a", "a"], Ordering::Release);
}

#[test]
#[should_panic(expected = "whole entries")]
fn a_twin_that_publishes_without_release_is_caught() {
    model(["a", "b"], Ordering::Relaxed);
}

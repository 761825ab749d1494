//! A hash table of keys, in the order in which they came.
//!
//! Entries stand one behind the other, so that a walk over them is quick. An index by the hash
//! leads to them: open addressing with linear probing, at most half full. The table does not hash:
//! its caller gives the hash with each key.
//!
//! # Comparisons that panic
//!
//! A key's `Eq` is a program's own, and may panic. Where a caller asks for a key of its own, it
//! gets the panic. Where one table is added to another, the keys are those of other callers, and
//! what is under way must not end in the middle: then two keys of one hash whose comparison panics
//! are taken for equal. They are, as far as hashes of 64 bits with a random seed tell.

use std::mem::forget;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::key::Key;
use super::key::sealed::{Kept, Room};

/// The entries by key.
pub(super) struct Table<K: Key + ?Sized, V> {
    /// The number of an entry plus one, or zero. A power of two of them.
    index: Vec<u32>,
    entries: Vec<Entry<<K as Kept>::Stored, V>>,
    /// The parts of the keys that do not stand in the entries.
    keys: <K as Kept>::Room,
}

/// A key, its hash, and its value.
#[derive(Clone, Copy, Debug)]
struct Entry<P, V> {
    hash: u64,
    stored: P,
    value: V,
}

/// The shortest index.
const SHORTEST: usize = 8;

/// Returns the length of the index of a table with at most `keys` keys.
const fn index_for(keys: usize) -> usize {
    let twice = 2 * keys;
    if twice < SHORTEST { SHORTEST } else { twice.next_power_of_two() }
}

impl<K: Key + ?Sized, V: Copy> Table<K, V> {
    /// Returns a table for `keys` keys, which allocates nothing until it has more.
    pub(super) fn with_capacity(keys: usize) -> Table<K, V> {
        Table {
            index: vec![0; index_for(keys)],
            entries: Vec::with_capacity(keys),
            keys: K::Room::with_capacity(keys),
        }
    }

    /// Returns a table without memory, which can hold no key.
    pub(super) fn unmade() -> Table<K, V> {
        Table { index: Vec::new(), entries: Vec::new(), keys: K::Room::default() }
    }

    pub(super) fn is_made(&self) -> bool {
        !self.index.is_empty()
    }

    /// Returns an empty table, which grows as it needs to.
    pub(super) fn growing() -> Table<K, V> {
        Table { index: vec![0; SHORTEST], entries: Vec::new(), keys: K::Room::default() }
    }

    /// Returns the bytes that a table for `keys` keys has allocated.
    pub(super) const fn bytes(keys: usize) -> usize {
        let entry = size_of::<Entry<<K as Kept>::Stored, V>>() + <K as Kept>::Room::BYTES;
        index_for(keys) * size_of::<u32>() + keys * entry
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the number of a key's entry. A hash decides first, so keys are compared only if
    /// their hashes are equal.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as `HeavyKeys::add`
    pub(super) fn find(&self, hash: u64, key: &K) -> Option<usize> {
        let is = |stored: &K::Stored| self.keys.is(stored, key);
        let at = hash as usize & (self.index.len() - 1);
        // Mostly the first place has it.
        let number = (self.index[at] as usize).checked_sub(1)?;
        let entry = &self.entries[number];
        if entry.hash == hash && is(&entry.stored) {
            return Some(number);
        }
        self.find_from(at + 1, hash, is)
    }

    /// Returns the number of an entry that `is` finds, at a place of the index or behind it.
    fn find_from(
        &self,
        mut at: usize,
        hash: u64,
        is: impl Fn(&K::Stored) -> bool,
    ) -> Option<usize> {
        // It ends: half of the index is zero.
        loop {
            at &= self.index.len() - 1;
            let number = (self.index[at] as usize).checked_sub(1)?;
            let entry = &self.entries[number];
            if entry.hash == hash && is(&entry.stored) {
                return Some(number);
            }
            at += 1;
        }
    }

    /// Returns all values, to change them.
    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.entries.iter_mut().map(|entry| &mut entry.value)
    }

    #[inline]
    pub(super) fn value_mut(&mut self, number: usize) -> &mut V {
        &mut self.entries[number].value
    }

    #[inline]
    pub(super) fn value(&self, number: usize) -> V {
        self.entries[number].value
    }

    /// Returns a copy of a key.
    pub(super) fn key(&self, number: usize) -> K::Owned {
        self.keys.owned(&self.entries[number].stored)
    }

    /// Returns all values, in the order of their numbers.
    pub(super) fn values(&self) -> impl ExactSizeIterator<Item = V> {
        self.entries.iter().map(|entry| entry.value)
    }

    /// Adds an entry for a key that has none.
    pub(super) fn push(&mut self, hash: u64, key: &K, value: V) {
        let stored = self.keys.put(key);
        self.push_entry(Entry { hash, stored, value });
    }

    /// Changes the value of another table's key here, beginning with `new` if it has none.
    pub(super) fn merge<W: Copy>(
        &mut self,
        other: &Table<K, W>,
        number: usize,
        new: V,
        change: impl FnOnce(&mut V),
    ) {
        let found = self.find_of(other, number).unwrap_or_else(|| {
            self.push_of(other, number, new);
            self.len() - 1
        });
        change(self.value_mut(found));
    }

    /// Returns the number of the entry of another table's key. Never panics: see the top of the
    /// file.
    pub(super) fn find_of<W: Copy>(&self, other: &Table<K, W>, number: usize) -> Option<usize> {
        let theirs = &other.entries[number];
        self.find_from(theirs.hash as usize, theirs.hash, |mine| {
            let is_equal = AssertUnwindSafe(|| self.keys.is_of(mine, &other.keys, &theirs.stored));
            catch_unwind(is_equal).unwrap_or_else(|panic| {
                // What a panic carries may panic itself when it is dropped.
                let dropped = catch_unwind(AssertUnwindSafe(|| drop(panic)));
                dropped.unwrap_or_else(forget);
                true
            })
        })
    }

    /// Adds an entry for another table's key that has none here.
    pub(super) fn push_of<W: Copy>(&mut self, other: &Table<K, W>, number: usize, value: V) {
        let theirs = &other.entries[number];
        let stored = self.keys.put_from(&other.keys, &theirs.stored);
        self.push_entry(Entry { hash: theirs.hash, stored, value });
    }

    fn push_entry(&mut self, entry: Entry<K::Stored, V>) {
        self.entries.push(entry);
        if 2 * self.entries.len() > self.index.len() {
            self.index.resize(2 * self.index.len(), 0);
            self.renew_index();
        } else {
            self.lead_to(self.entries.len() - 1);
        }
    }

    /// Removes the entries whose values are not to be kept. Allocates nothing.
    pub(super) fn retain(&mut self, keep: impl Fn(V) -> bool) {
        self.entries.retain(|entry| keep(entry.value));
        self.keys.keep(self.entries.iter_mut().map(|entry| &mut entry.stored));
        self.renew_index();
    }

    /// Removes all entries, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.entries.clear();
        self.index.fill(0);
    }

    fn renew_index(&mut self) {
        self.index.fill(0);
        (0..self.entries.len()).for_each(|number| self.lead_to(number));
    }

    /// Makes the index lead to an entry.
    fn lead_to(&mut self, number: usize) {
        let last = self.index.len() - 1;
        let mut at = self.entries[number].hash as usize & last;
        while self.index[at] != 0 {
            at = (at + 1) & last;
        }
        self.index[at] = u32::try_from(number + 1).expect("fewer than 2^32 keys fit the memory");
    }
}

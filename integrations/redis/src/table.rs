//! A table of keys from strangers: at most a number of them, and few steps for each call.
//!
//! A new key that finds its part of the table full looks at eight others, in turn, and takes the
//! place of the first idle one. If all eight are in use it has no place, and the next new key looks
//! further. So new keys of a stranger cost a bounded number of steps each.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex};

use crate::lock::locked;

/// The number of parts, each behind a lock of its own.
const PARTS: usize = 16;

/// The number of keys at which a new one looks.
const LOOKS: usize = 8;

/// A table of keys from strangers.
pub(crate) struct Table<V> {
    hasher: RandomState,
    parts: [Mutex<Part<V>>; PARTS],
    /// The number of keys in a part.
    most: usize,
}

struct Part<V> {
    values: HashMap<Arc<[u8]>, V>,
    /// All keys of `values`, in any order.
    keys: Vec<Arc<[u8]>>,
    /// The key that is looked at next.
    next: usize,
}

impl<V: Clone> Table<V> {
    /// Returns an empty table, for at least this number of keys, and at most 15 more.
    pub(crate) fn new(max_keys: usize) -> Table<V> {
        let part = || Part { values: HashMap::new(), keys: Vec::new(), next: 0 };
        let parts = std::array::from_fn(|_| Mutex::new(part()));
        Table { hasher: RandomState::new(), parts, most: max_keys.div_ceil(PARTS) }
    }

    /// Returns the value of a key, which may be new; `None` if there is no place for it.
    pub(crate) fn get(
        &self,
        key: &[u8],
        is_idle: impl Fn(&V) -> bool,
        new: impl FnOnce() -> V,
    ) -> Option<V> {
        let mut part = locked(&self.parts[self.hasher.hash_one(key) as usize % PARTS]);
        if let Some(value) = part.values.get(key) {
            return Some(value.clone());
        }
        if part.keys.len() >= self.most && !part.make_place(is_idle) {
            return None;
        }
        let (key, value) = (Arc::<[u8]>::from(key), new());
        part.keys.push(key.clone());
        part.values.insert(key, value.clone());
        Some(value)
    }

    /// Returns the number of keys.
    pub(crate) fn len(&self) -> usize {
        self.parts.iter().map(|part| locked(part).keys.len()).sum()
    }
}

impl<V> Part<V> {
    /// Forgets an idle key, if it is one of the next few. Returns whether it did.
    fn make_place(&mut self, is_idle: impl Fn(&V) -> bool) -> bool {
        for _ in 0..LOOKS.min(self.keys.len()) {
            let at = self.next % self.keys.len();
            if self.values.get(&self.keys[at]).is_none_or(&is_idle) {
                self.values.remove(&self.keys.swap_remove(at));
                return true;
            }
            self.next = at + 1;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Asks for a new key, and returns whether it has a place, and the number of looks.
    fn ask(table: &Table<u32>, key: u32, is_idle: impl Fn(&u32) -> bool) -> (bool, usize) {
        let looks = Cell::new(0);
        let counted = |value: &u32| {
            looks.set(looks.get() + 1);
            is_idle(value)
        };
        let value = table.get(&key.to_be_bytes(), counted, || key);
        assert!(value.is_none_or(|value| value == key));
        (value.is_some(), looks.get())
    }

    #[test]
    fn a_new_key_looks_at_eight_others_at_most() {
        let table = Table::new(16_000);
        for key in 0..100_000 {
            let (_, looks) = ask(&table, key, |_| false);
            assert!(looks <= LOOKS, "{looks}");
        }
        assert_eq!(table.len(), 16_000);
        // The idle ones are found, though each look is at few.
        let placed = (100_000..132_000).filter(|key| ask(&table, *key, |old| *old < 16_000).0);
        let placed = placed.count();
        assert!(placed > 10_000, "{placed}");
        assert_eq!(table.len(), 16_000);
        let (is_placed, looks) = ask(&table, 200_000, |_| true);
        assert_eq!((is_placed, looks), (true, 1));
    }

    #[test]
    fn a_key_keeps_its_value_until_it_is_idle() {
        let table = Table::new(1);
        let get = |value, idle| table.get(b"k", |_| idle, || value);
        assert_eq!((get(1, false), get(2, true)), (Some(1), Some(1)));
    }
}

//! Compares what each contender finds with the weights of all keys.

use std::collections::HashMap;

use windrow_benches::heap::Counting;
use windrow_benches::terminal::print_table;

use crate::finds::{CAPACITY, Finds, Found};
use crate::rivals::ALL;
use crate::streams::Stream;

#[global_allocator]
pub(crate) static HEAP: Counting = Counting::new();

/// Prints recall, precision, the greatest error, and bytes, of each contender and stream.
pub(crate) fn print(streams: &[Stream]) {
    let heads = [
        "stream",
        "contender",
        "heavy keys",
        "recall",
        "precision",
        "surely: recall",
        "precision",
        "greatest error",
        "bytes",
    ];
    let mut rows = Vec::new();
    for Stream { name, keys } in streams {
        let truth = Truth::of(keys);
        for (contender, make) in ALL {
            eprint!("{name}: {contender:40}\r");
            let before = HEAP.bytes();
            let finds = make();
            finds.add_all(keys);
            let bytes = HEAP.bytes() - before;
            let found = finds.found();
            truth.check(&found, contender);
            let mut row = vec![(*name).to_owned(), contender.to_owned()];
            row.push(truth.heavy().count().to_string());
            row.extend(truth.shares(found.list.iter().map(|(key, [_, most])| (*key, *most))));
            row.extend(truth.shares(found.list.iter().map(|(key, [least, _])| (*key, *least))));
            row.push(format!("{:.2}", truth.error(&*finds, &found)));
            row.push(bytes.to_string());
            rows.push(row);
        }
    }
    eprint!("{:60}\r", "");
    print_table(&heads, &rows);
}

/// The weights of all keys of a stream.
struct Truth {
    weights: HashMap<u64, u64>,
    total: u64,
}

impl Truth {
    fn of(keys: &[u64]) -> Truth {
        let mut weights = HashMap::new();
        for key in keys {
            *weights.entry(*key).or_default() += 1;
        }
        Truth { weights, total: keys.len() as u64 }
    }

    fn is_heavy(&self, weight: u64) -> bool {
        weight * CAPACITY as u64 > self.total
    }

    /// Returns the keys with more than `total / capacity`.
    fn heavy(&self) -> impl Iterator<Item = u64> {
        self.weights.iter().filter(|(_, weight)| self.is_heavy(**weight)).map(|(key, _)| *key)
    }

    /// Stops the program if a bound is broken.
    fn check(&self, found: &Found, contender: &str) {
        let Some(others) = found.others else { return };
        let held: HashMap<u64, [u64; 2]> = found.list.iter().copied().collect();
        for (key, weight) in &self.weights {
            let [least, most] = held.get(key).copied().unwrap_or([0, others]);
            assert!((least..=most).contains(weight), "{contender} breaks a bound");
        }
    }

    /// Returns which part of the heavy keys is among those of a list that are heavy by it, and
    /// which part of these are.
    fn shares(&self, list: impl Iterator<Item = (u64, u64)>) -> [String; 2] {
        let named: Vec<u64> =
            list.filter(|(_, weight)| self.is_heavy(*weight)).map(|(key, _)| key).collect();
        let hits = named.iter().filter(|key| self.is_heavy(self.weights[key])).count();
        let share = |of: usize| match of {
            0 => "-".to_owned(),
            of => format!("{:.3}", hits as f64 / of as f64),
        };
        [share(self.heavy().count()), share(named.len())]
    }

    /// Returns the greatest error in parts of `total / capacity`: the distance of bounds, or of an
    /// estimate from the weight. (A key that an estimate does not know has none: its weight is the
    /// error.)
    fn error(&self, finds: &dyn Finds, found: &Found) -> f64 {
        let error = if let Some(others) = found.others {
            found.list.iter().map(|(_, [least, most])| most - least).chain([others]).max()
        } else {
            let held: HashMap<u64, [u64; 2]> = found.list.iter().copied().collect();
            let estimate = |key| match held.get(&key) {
                Some([estimate, _]) => *estimate,
                None => finds.estimate(key),
            };
            self.weights.iter().map(|(key, weight)| estimate(*key).abs_diff(*weight)).max()
        };
        error.unwrap_or(0) as f64 * CAPACITY as f64 / self.total as f64
    }
}

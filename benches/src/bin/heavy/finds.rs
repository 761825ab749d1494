//! The interface of a way to find the keys with the most weight, and the room that each has.

/// The capacity of all that have one, unless their name says otherwise.
pub(crate) const CAPACITY: usize = 1_000;

/// The cells of a key in a table of estimates.
pub(crate) const DEPTH: usize = 4;
/// The cells of a table of numbers: 64 KiB, the memory of a summary of windrow.
pub(crate) const CELLS: usize = 8_192;

/// A way to find the keys with the most weight.
pub(crate) trait Finds: Sync {
    /// Adds 1 to a key.
    fn add(&self, key: u64);

    /// Adds 1 to each key, without a virtual call for each.
    fn add_all(&self, keys: &[u64]) {
        for key in keys {
            self.add(*key);
        }
    }

    /// Returns the keys that are known.
    fn found(&self) -> Found;

    /// Returns the estimate of the weight of a key that is not known.
    fn estimate(&self, _key: u64) -> u64 {
        0
    }
}

/// The keys that are known.
#[derive(Default)]
pub(crate) struct Found {
    /// Each key, with bounds of its weight, or with an estimate twice.
    pub(crate) list: Vec<(u64, [u64; 2])>,
    /// The greatest weight of a key that is not in the list; none where weights are estimates.
    pub(crate) others: Option<u64>,
}

impl Found {
    /// Returns estimates.
    pub(crate) fn estimated(list: impl Iterator<Item = (u64, u64)>) -> Found {
        Found { list: list.map(|(key, weight)| (key, [weight; 2])).collect(), others: None }
    }

    /// Returns the weights of all keys.
    pub(crate) fn exact(list: impl Iterator<Item = (u64, u64)>) -> Found {
        Found { others: Some(0), ..Found::estimated(list) }
    }
}

//! Permits that will not be used, on their way back to the ledger.
//!
//! An ask carries those of one bucket. So the others wait here, those of the latest bucket first,
//! since they would count longest. What finds no place counts as used: too much, never too little.

/// The number of buckets of which permits wait: a ration ends within two, and asks come each
/// bucket.
const PLACES: usize = 4;

/// Permits of one bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Return {
    pub(crate) count: u64,
    /// The bucket in which they were granted.
    pub(crate) bucket: u64,
    /// The epoch in which they were granted.
    pub(crate) born: u64,
}

/// Permits that will not be used.
#[derive(Debug, Default)]
pub(super) struct Returns {
    /// The latest bucket last.
    waiting: Vec<Return>,
}

impl Returns {
    /// Adds permits.
    pub(super) fn add(&mut self, new: Return) {
        if new.count == 0 {
            return;
        }
        let is_same = |old: &&mut Return| (old.bucket, old.born) == (new.bucket, new.born);
        if let Some(old) = self.waiting.iter_mut().find(is_same) {
            old.count += new.count;
            return;
        }
        let after = |old: &Return| (old.born, old.bucket) > (new.born, new.bucket);
        let place = self.waiting.iter().position(after).unwrap_or(self.waiting.len());
        self.waiting.insert(place, new);
        if self.waiting.len() > PLACES {
            self.waiting.remove(0);
        }
    }

    /// Takes out those of the latest bucket.
    pub(super) fn next(&mut self) -> Option<Return> {
        self.waiting.pop()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

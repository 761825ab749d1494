//! A counter's numbers.

use std::sync::{Mutex, PoisonError};

use metrics::CounterFn;
use windrow::Counter;

/// The count of one key.
#[derive(Default)]
pub(crate) struct CounterCell {
    count: Counter,
    /// A lock held from reading the count until the difference is added.
    raising: Mutex<()>,
}

impl CounterFn for CounterCell {
    #[inline]
    fn increment(&self, n: u64) {
        self.count.add(n);
    }

    /// Raises the count to `value`, if it is lower.
    ///
    /// Calls are serialized: two calls that read the same count would both add the difference. Adds
    /// during a call come on top, as if they had come after it.
    fn absolute(&self, value: u64) {
        if self.count.lifetime() >= value {
            return; // it never goes back
        }
        let _one = self.raising.lock().unwrap_or_else(PoisonError::into_inner);
        self.count.add(value.saturating_sub(self.count.lifetime()));
    }
}

impl CounterCell {
    pub(crate) fn get(&self) -> u64 {
        self.count.lifetime()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    #[test]
    fn many_raises_to_one_value_at_once_add_it_once() {
        for _ in 0..200 {
            let (cell, begin) = (CounterCell::default(), Barrier::new(4));
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        begin.wait();
                        cell.absolute(1_000);
                    });
                }
            });
            assert_eq!(cell.get(), 1_000);
        }
    }

    #[test]
    fn a_raise_beside_adds_loses_none_of_them() {
        let cell = CounterCell::default();
        thread::scope(|scope| {
            scope.spawn(|| (0..100_000).for_each(|_| cell.increment(1)));
            scope.spawn(|| (0..1_000).for_each(|value| cell.absolute(value)));
        });
        // The raises end at 999 or more; the differences that they add come on top of the adds.
        assert!((100_000..=100_999).contains(&cell.get()), "{}", cell.get());
    }
}

//! A counter's numbers.

use std::sync::{Mutex, PoisonError};

use windrow::Counter;

/// What one key has counted.
#[derive(Default)]
pub(crate) struct CounterCell {
    count: Counter,
    /// Held from reading the count to adding what it lacks.
    raising: Mutex<()>,
}

impl CounterCell {
    #[inline]
    pub(crate) fn add(&self, n: u64) {
        self.count.add(n);
    }

    /// Adds what is missing to `value`, if anything.
    ///
    /// One call at a time: of two that read the same count, both would add the difference. Adds
    /// that run meanwhile come on top, as if they had come after.
    pub(crate) fn raise_to(&self, value: u64) {
        if self.count.lifetime() >= value {
            return; // it never goes back
        }
        let _one = self.raising.lock().unwrap_or_else(PoisonError::into_inner);
        self.count.add(value.saturating_sub(self.count.lifetime()));
    }

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
                        cell.raise_to(1_000);
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
            scope.spawn(|| (0..100_000).for_each(|_| cell.add(1)));
            scope.spawn(|| (0..1_000).for_each(|value| cell.raise_to(value)));
        });
        // The raises end at 999 or more; what they found missing comes on top of the adds.
        assert!((100_000..=100_999).contains(&cell.get()), "{}", cell.get());
    }
}

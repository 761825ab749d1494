//! The published crate fenster, whose window is for one thread, so here it is under a mutex. Its
//! slots begin at the times of its adds, not at multiples of their length, so there is no bucket of
//! a given time: it is in the tables of speed alone.

use std::sync::Mutex;

use fenster::TimeWindow;

use crate::harness::Rival;

/// Nanoseconds in the crate's unit of slots.
const MILLISECOND: u64 = 1_000_000;

/// A window under a mutex, on clock `now`, in nanoseconds.
pub struct Fenster<N> {
    window: Mutex<TimeWindow>,
    now: N,
}

impl<N: Fn() -> u64> Fenster<N> {
    /// `buckets` equal buckets over `interval` nanoseconds.
    pub fn new(interval: u64, buckets: usize, now: N) -> Fenster<N> {
        let length = interval / buckets as u64 / MILLISECOND;
        Fenster { window: Mutex::new(TimeWindow::new(buckets, length, u64::MAX)), now }
    }
}

impl<N: Fn() -> u64 + Send + Sync> Rival for Fenster<N> {
    /// # Panics
    /// If the count overflows.
    #[inline]
    fn add(&self, n: u64) {
        let mut window = self.window.lock().expect("no thread panics in here");
        // The time is read under the lock: the crate subtracts the last one from it.
        window.add_t((self.now)(), n).expect("there is no limit");
    }

    #[inline]
    fn sum(&self) -> u64 {
        self.window.lock().expect("no thread panics in here").count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts() {
        let window = Fenster::new(1_000 * MILLISECOND, 2, || 5_000 * MILLISECOND);
        window.add(40);
        window.add_many(2);
        assert_eq!(window.sum(), 42);
    }
}

//! A gauge's number: one atomic. `set` replaces the values that other threads have set, so striping
//! would gain nothing.

use std::sync::atomic::Ordering;

use metrics::GaugeFn;
use metrics::atomics::AtomicU64;

/// An `f64`, by its bits.
pub(crate) struct GaugeCell(AtomicU64);

impl Default for GaugeCell {
    fn default() -> GaugeCell {
        GaugeCell(AtomicU64::new(0.0_f64.to_bits()))
    }
}

// Relaxed throughout: a gauge publishes only itself.
impl GaugeFn for GaugeCell {
    fn increment(&self, by: f64) {
        let more = |bits| Some((f64::from_bits(bits) + by).to_bits());
        let _always = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
    }

    fn decrement(&self, by: f64) {
        self.increment(-by);
    }

    fn set(&self, value: f64) {
        self.0.store(value.to_bits(), Ordering::Relaxed);
    }
}

impl GaugeCell {
    pub(crate) fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
}

#[allow(clippy::float_cmp, reason = "small whole numbers")]
#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    #[test]
    fn no_increment_of_many_threads_is_lost() {
        const TIMES: u32 = 1_000_000;
        let (gauge, begin) = (GaugeCell::default(), Barrier::new(4));
        thread::scope(|scope| {
            for by in [1.0, 2.0, -1.0, 1.5] {
                let (gauge, begin) = (&gauge, &begin);
                scope.spawn(move || {
                    begin.wait();
                    (0..TIMES).for_each(|_| gauge.increment(by));
                });
            }
        });
        assert_eq!(gauge.get(), 3.5 * f64::from(TIMES));
    }
}

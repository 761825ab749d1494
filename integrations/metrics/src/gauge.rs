//! A gauge's number: one atomic. `set` replaces what others have set, so there is nothing to stripe.

use std::sync::atomic::Ordering;

use metrics::atomics::AtomicU64;

/// An `f64`, by its bits.
pub(crate) struct GaugeCell(AtomicU64);

impl Default for GaugeCell {
    fn default() -> GaugeCell {
        GaugeCell(AtomicU64::new(0.0_f64.to_bits()))
    }
}

// Relaxed throughout: a gauge publishes nothing but itself.
impl GaugeCell {
    pub(crate) fn set(&self, value: f64) {
        self.0.store(value.to_bits(), Ordering::Relaxed);
    }

    pub(crate) fn add(&self, by: f64) {
        let more = |bits| Some((f64::from_bits(bits) + by).to_bits());
        let _always = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
    }

    pub(crate) fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
}

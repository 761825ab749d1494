//! Counters, gauges and extremes under soak.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use windrow::{Counter, Gauge, Maximum, Minimum};

use super::subject::Subject;
use testkit::Rng;

/// The number of adds at a time.
const BURST: u64 = 64;

/// A counter, the sum of its adds, and that of its drains.
#[derive(Default)]
struct Counted {
    counter: Counter,
    added: AtomicU64,
    drained: AtomicU64,
}

impl Subject for Counted {
    fn add(&self, random: &mut Rng) -> u64 {
        let mut added = 0;
        for _ in 0..BURST {
            let n = random.u64(..5);
            self.counter.add(n);
            added += n;
        }
        self.added.fetch_add(added, Ordering::Relaxed);
        BURST
    }

    fn disturb(&self, random: &mut Rng) {
        if random.u64(..2) == 0 {
            self.drained.fetch_add(self.counter.take(), Ordering::Relaxed);
        } else {
            self.counter.sum();
        }
    }

    fn check(&self) -> Result<(), String> {
        let (sum, drained) = (self.counter.sum(), self.drained.load(Ordering::Relaxed));
        let added = self.added.load(Ordering::Relaxed);
        if sum + drained == added {
            return Ok(());
        }
        Err(format!("counter: {added} added, {drained} drained and {sum} left"))
    }
}

/// A gauge, and where it should stand.
#[derive(Default)]
struct Level {
    gauge: Gauge,
    level: AtomicI64,
}

impl Subject for Level {
    fn add(&self, random: &mut Rng) -> u64 {
        let mut moved = 0;
        for _ in 0..BURST {
            let n = random.u64(..9).cast_signed() - 4;
            self.gauge.add(n);
            moved += n;
        }
        self.level.fetch_add(moved, Ordering::Relaxed);
        BURST
    }

    fn disturb(&self, _: &mut Rng) {
        self.gauge.sum();
    }

    fn check(&self) -> Result<(), String> {
        let (found, level) = (self.gauge.sum(), self.level.load(Ordering::Relaxed));
        if found == level { Ok(()) } else { Err(format!("gauge: {found} instead of {level}")) }
    }
}

/// A maximum and a minimum, and their expected values.
struct Range {
    maximum: Maximum,
    minimum: Minimum,
    greatest: AtomicU64,
    least: AtomicU64,
}

impl Subject for Range {
    fn add(&self, random: &mut Rng) -> u64 {
        for _ in 0..BURST {
            let value = random.u64(..);
            self.maximum.record(value);
            self.minimum.record(value);
            self.greatest.fetch_max(value, Ordering::Relaxed);
            self.least.fetch_min(value, Ordering::Relaxed);
        }
        2 * BURST
    }

    fn disturb(&self, _: &mut Rng) {
        let _ = (self.maximum.get(), self.minimum.get());
    }

    fn check(&self) -> Result<(), String> {
        let found = (self.least.load(Ordering::Relaxed), self.greatest.load(Ordering::Relaxed));
        let range = (self.minimum.get().unwrap_or(u64::MAX), self.maximum.get().unwrap_or(0));
        if range == found { Ok(()) } else { Err(format!("range: {range:?} instead of {found:?}")) }
    }
}

/// One of each.
pub(super) fn all() -> [Box<dyn Subject>; 3] {
    let range = Range {
        maximum: Maximum::new(),
        minimum: Minimum::new(),
        greatest: AtomicU64::new(0),
        least: AtomicU64::new(u64::MAX),
    };
    [Box::new(Counted::default()), Box::new(Level::default()), Box::new(range)]
}

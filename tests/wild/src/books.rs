//! One of each kind of number, and their expected totals.

use std::time::Duration;

use windrow::clock::Manual;
use windrow::gate::RationedGate;
use windrow::{Counter, Gate, Gauge, Histogram, InFlight, Maximum, Minimum, SlidingWindow};

use crate::outcome::exact;

windrow::events! {
    /// The events of the window.
    pub enum Seen {
        /// Operations.
        Pass: Count,
        /// Their durations.
        Rt: Value,
    }
}

/// The numbers.
#[derive(Debug)]
pub struct Books {
    /// Each add is one.
    pub counter: Counter,
    /// Goes up by two and down by one.
    pub gauge: Gauge,
    /// The greatest number of an add, and a higher one.
    pub maximum: Maximum,
    /// The least number of an add.
    pub minimum: Minimum,
    /// The distribution of the numbers of adds.
    pub histogram: Histogram,
    /// Its buckets turn while threads add.
    pub window: SlidingWindow<Seen, Manual>,
    /// The window's clock.
    pub clock: Manual,
    /// Grants more than is taken.
    pub rations: RationedGate<Manual>,
    /// The level of guards.
    pub level: InFlight,
}

/// Units that the gate may grant.
const UNITS: u64 = 1 << 40;

impl Books {
    /// Returns books in which nothing stands.
    ///
    /// # Errors
    /// If the window or the gate cannot be built.
    pub fn new() -> Result<Books, String> {
        let clock = Manual::default();
        let window = SlidingWindow::builder().interval(Duration::from_micros(4)).buckets(4);
        let window = window.clock(clock.clone()).build().map_err(|error| error.to_string())?;
        let rations = Gate::builder(UNITS).interval(Duration::from_secs(1000)).buckets(1000);
        let rations = rations.clock(clock.clone()).build_rationed(500);
        Ok(Books {
            counter: Counter::new(),
            gauge: Gauge::new(),
            maximum: Maximum::new(),
            minimum: Minimum::new(),
            histogram: Histogram::new(),
            window,
            clock,
            rations: rations.map_err(|error| error.to_string())?,
            level: InFlight::new(),
        })
    }

    /// Checks that what `drained` took and what is there are the numbers from 1 to `last`, each
    /// recorded `each` times, and a maximum that is one higher.
    ///
    /// # Errors
    /// If a total is not exact.
    pub fn check(&self, last: u64, each: u64, drained: u64) -> Result<(), String> {
        let (count, sum) = (last * each, each * (last * (last + 1) / 2));
        exact("counter", self.counter.sum() + drained, count)?;
        exact("counter, lifetime", self.counter.lifetime(), count)?;
        exact("gauge", self.gauge.sum(), count.cast_signed())?;
        exact("maximum", self.maximum.get(), Some(last + 1))?;
        exact("minimum", self.minimum.get(), Some(1))?;
        exact("histogram, count", self.histogram.count(), count)?;
        exact("histogram, sum", self.histogram.sum(), sum)?;
        exact("window", self.window.lifetime(Seen::Pass).sum, count)?;
        let values = self.window.lifetime(Seen::Rt);
        exact("values", (values.count, values.sum), (count, sum))?;
        exact("rations", self.rations.gate().granted() - self.rations.unused(), count)?;
        exact("level", self.level.level(), 0)
    }
}

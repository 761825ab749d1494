//! A simulated series: what a service's route is like when nothing is wrong, second by second.
//!
//! Traffic follows the time of the day, wanders by some per cent over minutes, comes in clumps, and
//! has a peak at each full hour. Failures wander too, and some come together. Response times are
//! lognormal with a tail of one in a hundred that takes eight times as long; they grow with
//! traffic, wander, and stand still for a second now and then.

use fastrand::Rng;

/// The values of a second of a series, as multiples of what is usual; and what is added.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trouble {
    /// The factor of the rate of operations.
    pub(super) rate: f64,
    /// The factor of all response times.
    pub(super) time: f64,
    /// Shares that fail, and that are refused, beside the usual ones.
    pub(super) failed: f64,
    pub(super) refused: f64,
}

pub(super) const FINE: Trouble = Trouble { rate: 1.0, time: 1.0, failed: 0.0, refused: 0.0 };

/// The properties of a series.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    /// Operations a second, where [`crowd`] is one.
    pub(super) rate: f64,
    /// The usual share of failures.
    pub(super) failed: f64,
    /// True if it is closed from eight in the evening to seven in the morning.
    pub(super) is_closed_by_night: bool,
}

/// The time of a usual operation, in nanoseconds.
const TIME: f64 = 4e6;

/// The standard deviation of the logarithm of a time.
const SPREAD: f64 = 0.5;

/// The part of operations that take longer, and the factor.
const SLOW: (f64, f64) = (0.01, 8.0);

/// A value that wanders around zero: its standard deviation, and the seconds in which it forgets.
struct Wander {
    deviation: f64,
    seconds: f64,
    at: f64,
}

impl Wander {
    fn new(deviation: f64, seconds: f64) -> Wander {
        Wander { deviation, seconds, at: 0.0 }
    }

    fn step(&mut self, random: &mut Rng) -> f64 {
        let keeps = 1.0 - 1.0 / self.seconds;
        self.at = self.at * keeps + normal(random) * self.deviation * (1.0 - keeps * keeps).sqrt();
        self.at
    }
}

/// The traffic of a series, second by second.
pub(super) trait Traffic {
    /// Serves for a second, `at` seconds after midnight of the first day. Counts values above the
    /// bounds.
    fn serve(&mut self, at: u64, trouble: Trouble, bounds: Option<[u64; 3]>) -> Second;

    /// Returns a percentile of this number of values, over seconds with these medians: the last
    /// ones.
    fn percentile(&mut self, part: f64, count: u64, medians: &[f64]) -> f64;
}

pub(super) struct Day {
    kind: Kind,
    random: Rng,
    crowd: Wander,
    luck: Wander,
    pace: Wander,
    /// The median of the times of the last second.
    median: f64,
}

/// The counts of one second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Second {
    pub(super) all: u64,
    pub(super) failed: u64,
    pub(super) refused: u64,
    /// Values, and those above each bound.
    pub(super) values: u64,
    pub(super) above: [u64; 3],
    /// The median of the times.
    pub(super) median: f64,
}

impl Day {
    pub(super) fn new(kind: Kind, seed: u64) -> Day {
        Day {
            kind,
            random: Rng::with_seed(seed),
            crowd: Wander::new(0.06, 240.0),
            luck: Wander::new(0.4, 600.0),
            pace: Wander::new(0.07, 180.0),
            median: TIME,
        }
    }
}

impl Traffic for Day {
    fn serve(&mut self, at: u64, trouble: Trouble, bounds: Option<[u64; 3]>) -> Second {
        let Day { kind, random, .. } = self;
        let hour = (at % 86_400) as f64 / 3_600.0;
        let mut crowd = crowd(hour);
        if kind.is_closed_by_night && !(7.0..20.0).contains(&hour) {
            crowd = 0.002;
        }
        let peak = if at % 3_600 < 20 { 1.4 } else { 1.0 };
        let noise = 1.0 + 0.25 * normal(random);
        let usual = crowd * self.crowd.step(random).exp() * peak * noise.max(0.1);
        let all = poisson(random, kind.rate * usual * trouble.rate);
        let refused = binomial(random, all, (0.002 + trouble.refused).min(1.0));
        let luck = self.luck.step(random).exp();
        let mut failed =
            binomial(random, all - refused, (kind.failed * luck + trouble.failed).min(1.0));
        if kind.failed > 0.0 && random.f64() < 1.0 / 1_800.0 {
            // One client tries the same thing again.
            failed = (failed + random.u64(1..4)).min(all - refused);
        }
        let pause = if random.f64() < 1.0 / 600.0 { 6.0 } else { 1.0 };
        let pace = self.pace.step(random).exp() * (0.8 + 0.3 * crowd);
        self.median = TIME * pace * pause * trouble.time;
        let values = all - refused;
        let (mut above, mut left, mut share) = ([0; 3], values, 1.0);
        for (above, bound) in above.iter_mut().zip(bounds.into_iter().flatten()) {
            let beyond = tail(bound as f64, self.median);
            left = binomial(random, left, (beyond / share).min(1.0));
            (*above, share) = (left, beyond.max(1e-12));
        }
        Second { all, failed, refused, values, above, median: self.median }
    }

    /// Returns an estimate, as random as the values are.
    fn percentile(&mut self, part: f64, count: u64, medians: &[f64]) -> f64 {
        if count == 0 {
            return 0.0;
        }
        let error = (part * (1.0 - part) / count as f64).sqrt() * normal(&mut self.random);
        let part = (part + error).clamp(0.5 / count as f64, 1.0 - 0.5 / count as f64);
        let above = |bound| {
            medians.iter().map(|median| tail(bound, *median)).sum::<f64>() / medians.len() as f64
        };
        let (mut low, mut high) = (TIME / 64.0, TIME * 4096.0);
        for _ in 0..16 {
            let middle = (low * high).sqrt();
            if above(middle) > 1.0 - part { low = middle } else { high = middle }
        }
        (low * high).sqrt()
    }
}

/// Returns the traffic of an hour of the day, as a part of the greatest: least at four in the
/// morning, a sixth; most in the afternoon.
pub(super) fn crowd(hour: f64) -> f64 {
    let angle = (hour - 16.0) / 24.0 * std::f64::consts::TAU;
    0.62 + 0.38 * angle.cos() - 0.08 * (2.0 * angle).cos()
}

/// Returns the part of values above a bound.
fn tail(bound: f64, median: f64) -> f64 {
    let beyond = |median: f64| normal_tail((bound / median).ln() / SPREAD);
    (1.0 - SLOW.0) * beyond(median) + SLOW.0 * beyond(median * SLOW.1)
}

/// Returns the part of a normal distribution above `z`, within one in a hundred thousand
/// (Abramowitz and Stegun, 26.2.17).
fn normal_tail(z: f64) -> f64 {
    if z < 0.0 {
        return 1.0 - normal_tail(-z);
    }
    let t = 1.0 / (1.0 + 0.231_641_9 * z);
    let terms = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let sum = terms.iter().rev().fold(0.0, |sum, term| (sum + term) * t);
    (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt() * sum
}

fn normal(random: &mut Rng) -> f64 {
    let length = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    length * (random.f64() * std::f64::consts::TAU).cos()
}

/// Returns a Poisson count; from thirty on, a normal one.
fn poisson(random: &mut Rng, mean: f64) -> u64 {
    if mean > 30.0 {
        return (mean + mean.sqrt() * normal(random)).round().max(0.0) as u64;
    }
    let (limit, mut product, mut count) = ((-mean).exp(), random.f64(), 0);
    while product > limit {
        product *= random.f64();
        count += 1;
    }
    count
}

/// Returns a binomial count: of few, one by one; of many, by a Poisson or a normal count.
fn binomial(random: &mut Rng, count: u64, share: f64) -> u64 {
    if share <= 0.0 {
        return 0;
    }
    if count <= 20 {
        return (0..count).filter(|_| random.f64() < share).count() as u64;
    }
    let mean = count as f64 * share;
    if share < 0.05 {
        return poisson(random, mean).min(count);
    }
    let found = mean + (mean * (1.0 - share)).sqrt() * normal(random);
    (found.round().max(0.0) as u64).min(count)
}

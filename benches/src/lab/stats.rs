//! Figures of many rounds: their middle and their ends, and whether they can be trusted.

use serde::Serialize;

use crate::harness::Spent;

/// The result of one round for one figure.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Sample {
    /// Nanoseconds of CPU time an operation and thread.
    pub cpu_ns: f64,
    /// Nanoseconds of wall time an operation and thread.
    pub wall_ns: f64,
    /// See [`Spent::running`].
    pub running: f64,
    /// Nanoseconds of CPU time of a read that went on meanwhile; zero if none did.
    pub read_ns: f64,
}

impl Sample {
    /// Returns what `times` operations of each thread come to.
    pub fn new(spent: Spent, read_ns: f64, times: u64) -> Sample {
        let each = |spent: std::time::Duration| spent.as_nanos() as f64 / times as f64;
        Sample {
            cpu_ns: each(spent.cpu),
            wall_ns: each(spent.wall),
            running: spent.running,
            read_ns,
        }
    }

    /// Returns whether the threads were really running at once: the cores were theirs for this
    /// share of the time. It does not depend on the contender, so leaving out other rounds favours
    /// none.
    pub fn good(&self) -> bool {
        self.running >= 0.8
    }
}

/// Fewer good rounds than this say nothing by themselves.
const FEW: usize = 5;

/// Returns the rounds that count, out of pairs of a sample's goodness and a figure: the good ones,
/// or, where there are too few of those, all of them, and then the result is not to be trusted.
fn counting(figures: impl Iterator<Item = (bool, f64)>) -> (Vec<f64>, bool) {
    let all: Vec<(bool, f64)> = figures.collect();
    let good: Vec<f64> = all.iter().filter(|(good, _)| *good).map(|(_, figure)| *figure).collect();
    // In a short run, half.
    if good.len() >= FEW.min(all.len().div_ceil(2)) && !good.is_empty() {
        let trusted = 2 * good.len() >= all.len();
        (good, trusted)
    } else {
        (all.into_iter().map(|(_, figure)| figure).collect(), false)
    }
}

/// The middle and the ends of some figures.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The least.
    pub min: f64,
    /// The middle one, the lower of two.
    pub median: f64,
    /// The greatest.
    pub max: f64,
    /// False if too few of the rounds were good.
    pub trusted: bool,
}

impl Spread {
    /// Returns the spread of figures that all count.
    ///
    /// # Panics
    /// Panics if there are no figures.
    pub fn of(figures: impl Iterator<Item = f64>) -> Spread {
        Spread::over(figures.map(|figure| (true, figure)))
    }

    /// Returns the spread of figures, each with whether its round was good.
    ///
    /// # Panics
    /// Panics if there are no figures.
    pub fn over(figures: impl Iterator<Item = (bool, f64)>) -> Spread {
        let (mut figures, trusted) = counting(figures);
        figures.sort_by(f64::total_cmp);
        let last = figures.len() - 1;
        Spread { min: figures[0], median: figures[last / 2], max: figures[last], trusted }
    }

    /// One figure of `samples`.
    pub fn of_samples(samples: &[Sample], figure: impl Fn(&Sample) -> f64) -> Spread {
        Spread::over(samples.iter().map(|sample| (sample.good(), figure(sample))))
    }

    /// Returns what `combine` makes of the CPU time of `one` and `other`, round by round.
    pub fn of_both(one: &[Sample], other: &[Sample], combine: fn(f64, f64) -> f64) -> Spread {
        let both = one.iter().zip(other);
        Spread::over(
            both.map(|(one, other)| {
                (one.good() && other.good(), combine(one.cpu_ns, other.cpu_ns))
            }),
        )
    }

    /// Returns the median, with the mark of a figure that is not to be trusted.
    pub fn show_median(&self) -> String {
        format!("{}{}", self.mark(), digits(self.median))
    }

    /// Returns the median and the ends.
    pub fn show(&self) -> String {
        let Spread { min, max, .. } = *self;
        format!("{} ({} to {})", self.show_median(), digits(min), digits(max))
    }

    fn mark(&self) -> &'static str {
        if self.trusted { "" } else { "~" }
    }
}

/// The meaning of the mark, for the foot of a table.
pub const MARK: &str = "`~`: in fewer than half of the rounds were the threads really running at once \
    (CPU time over wall time), so the machine was too busy, or too small, to trust the figure.";

/// Returns a figure with three significant digits, and no decimals from 100 on.
pub fn digits(figure: f64) -> String {
    let decimals = match figure.abs() {
        size if size >= 99.5 => 0,
        size if size >= 9.95 => 1,
        size if size >= 0.995 => 2,
        size if size > 0.0 => 3,
        _ => 0,
    };
    format!("{figure:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(cpu_ns: f64, running: f64) -> Sample {
        Sample { cpu_ns, wall_ns: cpu_ns, running, read_ns: 0.0 }
    }

    #[test]
    fn rounds_in_which_threads_took_turns_are_left_out() {
        let samples: Vec<Sample> = (0..20)
            .map(|round| sample(f64::from(round), if round < 6 { 0.5 } else { 0.9 }))
            .collect();
        let spread = Spread::of_samples(&samples, |sample| sample.cpu_ns);
        assert_eq!(spread, Spread { min: 6.0, median: 12.0, max: 19.0, trusted: true });
    }

    #[test]
    fn with_too_few_good_rounds_all_count_and_none_is_trusted() {
        let samples: Vec<Sample> = (0..20)
            .map(|round| sample(f64::from(round), if round < 18 { 0.5 } else { 0.9 }))
            .collect();
        let spread = Spread::of_samples(&samples, |sample| sample.cpu_ns);
        assert_eq!(spread, Spread { min: 0.0, median: 9.0, max: 19.0, trusted: false });
        assert_eq!(spread.show_median(), "~9.00");
    }

    #[test]
    fn a_ratio_is_taken_within_a_round() {
        let one = [sample(2.0, 1.0), sample(20.0, 1.0), sample(4.0, 1.0)];
        let other = [sample(1.0, 1.0), sample(10.0, 1.0), sample(2.0, 1.0)];
        let ratio = Spread::of_both(&one, &other, |one, other| one / other);
        assert_eq!((ratio.min, ratio.max), (2.0, 2.0));
    }
}

//! Figures of many rounds: their middle and their ends, and whether they can be trusted.

/// The CPU time of some work in one round.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Nanoseconds of CPU time, the mean over the threads.
    pub ns: f64,
    /// The share of the wall time in which the cores that the threads could use ran them, from 0 to
    /// 1. If it is low, another process had a core, and the threads took turns on the others.
    pub running: f64,
}

impl Sample {
    /// Returns what one of `times` operations of each thread comes to.
    #[must_use]
    pub fn each(self, times: u64) -> Sample {
        Sample { ns: self.ns / times as f64, ..self }
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
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// Returns the spread of some rounds.
    ///
    /// # Panics
    /// Panics if there are none.
    pub fn of(samples: &[Sample]) -> Spread {
        Spread::over(samples.iter().map(|sample| (sample.good(), sample.ns)))
    }

    /// Returns the spread of the ratios of `one` to `other`, round by round.
    ///
    /// # Panics
    /// Panics if there are no rounds.
    pub fn of_ratios(one: &[Sample], other: &[Sample]) -> Spread {
        let both = one.iter().zip(other);
        Spread::over(both.map(|(one, other)| (one.good() && other.good(), one.ns / other.ns)))
    }

    /// Returns the spread of figures, each with whether its round was good.
    fn over(figures: impl Iterator<Item = (bool, f64)>) -> Spread {
        let (mut figures, trusted) = counting(figures);
        figures.sort_by(f64::total_cmp);
        let last = figures.len() - 1;
        Spread { min: figures[0], median: figures[last / 2], max: figures[last], trusted }
    }

    /// Returns the median, with the mark of a figure that is not to be trusted.
    pub fn show_median(&self) -> String {
        format!("{}{}", if self.trusted { "" } else { "~" }, digits(self.median))
    }

    /// Returns the median and the ends.
    pub fn show(&self) -> String {
        let Spread { min, max, .. } = *self;
        format!("{} ({} to {})", self.show_median(), digits(min), digits(max))
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

    fn sample(ns: f64, running: f64) -> Sample {
        Sample { ns, running }
    }

    #[test]
    fn rounds_in_which_threads_took_turns_are_left_out() {
        let samples: Vec<Sample> = (0..20)
            .map(|round| sample(f64::from(round), if round < 6 { 0.5 } else { 0.9 }))
            .collect();
        let spread = Spread::of(&samples);
        assert_eq!(spread, Spread { min: 6.0, median: 12.0, max: 19.0, trusted: true });
    }

    #[test]
    fn with_too_few_good_rounds_all_count_and_none_is_trusted() {
        let samples: Vec<Sample> = (0..20)
            .map(|round| sample(f64::from(round), if round < 18 { 0.5 } else { 0.9 }))
            .collect();
        let spread = Spread::of(&samples);
        assert_eq!(spread, Spread { min: 0.0, median: 9.0, max: 19.0, trusted: false });
        assert_eq!(spread.show_median(), "~9.00");
    }

    #[test]
    fn a_ratio_is_taken_within_a_round() {
        let one = [sample(2.0, 1.0), sample(20.0, 1.0), sample(4.0, 1.0)];
        let other = [sample(1.0, 1.0), sample(10.0, 1.0), sample(2.0, 1.0)];
        let ratio = Spread::of_ratios(&one, &other);
        assert_eq!((ratio.min, ratio.max), (2.0, 2.0));
    }
}

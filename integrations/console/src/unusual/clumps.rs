//! Clumps: values above a bound that come together, and are less evidence than independent ones.

use super::counts::{Hits, sum};

/// The variance of the counts of a minute's short spans, as a multiple of the variance that
/// independent values would have; in a byte, to the nearest eighth of an octave. The default is
/// unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Clumps(u8);

/// The steps of an octave.
const STEPS: f64 = 8.0;

impl Clumps {
    /// Compares the hits of spans with their mean share. If all values of a minute are hits, or
    /// none is, nothing is known; `has_hits` tells that some are, if only outside of the spans.
    pub(super) fn of(spans: impl Iterator<Item = Hits> + Clone, has_hits: bool) -> Clumps {
        let spans = spans.filter(|(_, trials)| *trials > 0.0);
        let ((hits, trials), count) = (sum(spans.clone()), spans.clone().count());
        if count < 2 || !has_hits || hits >= trials {
            return Clumps::default();
        }
        if hits <= 0.0 {
            return Clumps(1);
        }
        let share = hits / trials;
        let squares = spans
            .map(|(hit, trial)| (hit - trial * share).powi(2) / (trial * share * (1.0 - share)));
        // Of independent values, the mean is one.
        let ratio = squares.sum::<f64>() / (count - 1) as f64;
        Clumps(1 + (ratio.max(1.0).log2() * STEPS).round().min(254.0) as u8)
    }

    /// Returns the multiple, at least 1; `None` if it is unknown.
    pub(super) fn ratio(self) -> Option<f64> {
        self.0.checked_sub(1).map(|steps| (f64::from(steps) / STEPS).exp2())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(hits: [f64; 10]) -> Option<f64> {
        let has_hits = hits.iter().any(|hits| *hits > 0.0);
        Clumps::of(hits.into_iter().map(|hits| (hits, 60.0)), has_hits).ratio()
    }

    #[test]
    fn values_that_come_together_have_a_great_ratio() {
        assert_eq!(ratio([0.0; 10]), None);
        assert_eq!(ratio([60.0; 10]), None);
        assert_eq!(Clumps::of([(5.0, 60.0)].into_iter(), true).ratio(), None);
        assert_eq!(Clumps::of([(0.0, 60.0); 2].into_iter(), true).ratio(), Some(1.0));
        assert_eq!(ratio([6.0; 10]), Some(1.0), "less variance is none");
        assert_eq!(ratio([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]), Some(1.0));
        let burst = ratio([60.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]).unwrap();
        // 54 squared, and nine times 6 squared, over 60 times a tenth times nine tenths; by nine.
        assert!((burst / (3_240.0 / 5.4 / 9.0) - 1.0).abs() < 0.05, "{burst}");
    }

    #[test]
    fn independent_values_have_a_ratio_near_one() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut minute = || {
            let mut hits = [0.0; 10];
            hits.fill_with(|| (0..60).filter(|_| random.f64() < 0.2).count() as f64);
            ratio(hits).unwrap()
        };
        let mean = (0..1_000).map(|_| minute()).sum::<f64>() / 1e3;
        assert!((1.0..1.3).contains(&mean), "{mean}");
    }
}

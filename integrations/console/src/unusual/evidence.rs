//! The evidence in counts that a level has changed: logarithms of likelihood ratios, in nats.
//!
//! By Chernoff's bound, chance alone reaches an evidence of `e` with a probability of at most
//! exp(-e), however low the counts are.

use super::change::What;

/// The number of spans that overlap and yet count as independent, for each that follows another.
const OVERLAP: f64 = 4.0;

/// The least number of hits of a change.
pub(super) const HITS: f64 = 4.0;

/// The two numbers that a user can set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settings {
    /// The least factor of a change, beyond the usual range.
    pub(crate) factor: f64,
    /// The number of false changes of a series a day that are acceptable.
    pub(crate) false_a_day: f64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { factor: 2.0, false_a_day: 0.2 }
    }
}

impl Settings {
    /// Returns the evidence that a change over a span needs: chance brings it in one of the spans
    /// of the days in which one false change is acceptable.
    pub(super) fn evidence(&self, seconds: f64) -> f64 {
        let spans = OVERLAP * 86_400.0 / seconds.max(1.0) * What::ALL.len() as f64;
        (spans / self.false_a_day.max(1e-9)).ln().max(1.0)
    }
}

/// Returns the evidence that `hits` of `count` trials come from a share other than `share`.
pub(super) fn of_share(hits: f64, count: f64, share: f64) -> f64 {
    let part = |seen: f64, expected: f64| {
        if seen > 0.0 { seen * (seen / expected).ln() } else { 0.0 }
    };
    part(hits, count * share) + part(count - hits, count * (1.0 - share))
}

/// Returns the evidence that a count comes from another rate than the one that expects `expected`.
pub(super) fn of_count(count: f64, expected: f64) -> f64 {
    let ratio = if count > 0.0 { count * (count / expected).ln() } else { 0.0 };
    ratio - count + expected
}

/// Finds the beginning of a change from one level to another. `slices` are pairs of hits and trials
/// (or of events and seconds), the newest first. Returns the number of slices that belong to the
/// new level: those for which it is most likely.
pub(super) fn slices_changed(
    slices: impl Iterator<Item = (f64, f64)>,
    from: f64,
    to: f64,
) -> usize {
    let gain = (to / from).ln();
    let (mut sum, mut best, mut changed) = (0.0, 0.0, 0);
    for (index, (hits, trials)) in slices.enumerate() {
        sum += hits * gain - trials * (to - from);
        if sum > best {
            (best, changed) = (sum, index + 1);
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_reaches_an_evidence_as_seldom_as_the_bound_says() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut reached = 0;
        for _ in 0..20_000 {
            let hits = (0..200).filter(|_| random.f64() < 0.02).count() as f64;
            reached += u32::from(hits > 4.0 && of_share(hits, 200.0, 0.02) > 3.0);
        }
        // exp(-3) of 20 000 is 996.
        assert!((1..996).contains(&reached), "{reached}");
    }

    #[test]
    fn what_is_expected_is_no_evidence_and_the_rest_is() {
        assert!(of_share(3.0, 300.0, 0.01).abs() < 1e-9);
        assert!(of_count(30.0, 30.0).abs() < 1e-9);
        assert!((of_share(0.0, 100.0, 0.01) - 1.005).abs() < 1e-3);
        assert!((of_count(0.0, 15.0) - 15.0).abs() < 1e-9);
        assert!(of_count(60.0, 15.0) > 38.0 && of_share(6.0, 6.0, 0.003) > 34.0);
    }

    #[test]
    fn a_change_begins_where_the_new_level_becomes_the_likelier_one() {
        // Of ten a slice, the six newest slices have failures; one older slice has one.
        let hits = [9.0, 10.0, 8.0, 9.0, 10.0, 9.0, 0.0, 0.0, 1.0, 0.0];
        let slices = hits.map(|hits| (hits, 10.0));
        assert_eq!(slices_changed(slices.into_iter(), 0.003, 0.9), 6);
        // Of a rate that falls, too.
        let counts = [1.0, 0.0, 2.0, 11.0, 9.0, 10.0];
        assert_eq!(slices_changed(counts.map(|count| (count, 1.0)).into_iter(), 10.0, 1.0), 3);
    }
}

//! Which histogram has which buckets.

use std::sync::Arc;

use crate::error::BuildError;
use crate::names::{metric_name, metric_name_begin, metric_name_end};

/// The bounds of histograms that nobody has set any for: fit for times in seconds.
pub(crate) const DEFAULT: [f64; 11] =
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// Which names of metrics are meant.
///
/// Names are compared as they are exported, without suffixes: `http.requests` and `http_requests` are the same.
///
/// ```
/// use windrow_metrics::{Matcher, Recorder};
///
/// let recorder = Recorder::builder()
///     .buckets_for(Matcher::Suffix("_bytes".into()), &[1e3, 1e6, 1e9])
///     .build()?;
/// # drop(recorder);
/// # Ok::<(), windrow_metrics::BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Matcher {
    /// The one name.
    Full(String),
    /// All that begin so.
    Prefix(String),
    /// All that end so.
    Suffix(String),
}

impl Matcher {
    fn exported(self) -> Matcher {
        match self {
            Matcher::Full(name) => Matcher::Full(metric_name(&name)),
            Matcher::Prefix(begin) => Matcher::Prefix(metric_name_begin(&begin)),
            Matcher::Suffix(end) => Matcher::Suffix(metric_name_end(&end)),
        }
    }

    /// How narrowly it matches `name`, if it does: a full name before a prefix before a suffix, a longer one first.
    fn rank(&self, name: &str) -> Option<(u8, usize)> {
        match self {
            Matcher::Full(full) => (name == full).then_some((2, 0)),
            Matcher::Prefix(begin) => name.starts_with(begin).then_some((1, begin.len())),
            Matcher::Suffix(end) => name.ends_with(end).then_some((0, end.len())),
        }
    }
}

/// The bounds of all histograms.
pub(crate) struct Buckets {
    default: Arc<[f64]>,
    matched: Vec<(Matcher, Arc<[f64]>)>,
}

impl Buckets {
    /// Checks what was asked for.
    pub(crate) fn new(
        default: &[f64],
        matched: Vec<(Matcher, Vec<f64>)>,
    ) -> Result<Buckets, BuildError> {
        let default = check(default)?;
        let one =
            |(matcher, bounds): (Matcher, Vec<f64>)| Ok((matcher.exported(), check(&bounds)?));
        Ok(Buckets { default, matched: matched.into_iter().map(one).collect::<Result<_, _>>()? })
    }

    /// The bounds of the histogram `name`. Of two equal matchers the later one counts.
    pub(crate) fn of(&self, name: &str) -> Arc<[f64]> {
        let ranked =
            self.matched.iter().filter_map(|(matcher, bounds)| Some((matcher.rank(name)?, bounds)));
        let narrowest = ranked.max_by_key(|(rank, _)| *rank);
        Arc::clone(narrowest.map_or(&self.default, |(_, bounds)| bounds))
    }
}

/// Bounds that ascend. An infinite one at the end is there in any case.
fn check(bounds: &[f64]) -> Result<Arc<[f64]>, BuildError> {
    let bounds = bounds.strip_suffix(&[f64::INFINITY]).unwrap_or(bounds);
    if bounds.is_empty() {
        return Err(BuildError::NoBounds);
    }
    if let Some(&bound) = bounds.iter().find(|bound| !bound.is_finite()) {
        return Err(BuildError::BoundNotFinite { bound });
    }
    if let Some(pair) = bounds.windows(2).find(|pair| pair[0] >= pair[1]) {
        return Err(BuildError::BoundsNotAscending { bound: pair[0], next: pair[1] });
    }
    Ok(Arc::from(bounds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_narrowest_matcher_counts() {
        let full = Matcher::Full("metrics.testing foo".into());
        let (prefix, longer) = (
            Matcher::Prefix("metrics.testing".into()),
            Matcher::Prefix("metrics_testing_2".into()),
        );
        let matched = vec![
            (Matcher::Suffix("foo".into()), vec![1.0]),
            (longer, vec![2.0]),
            (prefix.clone(), vec![0.0]),
            (prefix, vec![3.0]),
            (full, vec![4.0]),
            (Matcher::Suffix("2xx".into()), vec![5.0]),
        ];
        let buckets = Buckets::new(&[9.0, f64::INFINITY], matched).expect("sound bounds");
        let cases = [
            ("metrics_testing_foo", 4.0),
            ("metrics_testing_bar", 3.0),
            ("metrics_testing_2_foo", 2.0),
            ("metrics_testin_foo", 1.0),
            ("answers_2xx", 5.0),
            ("metrics_wee", 9.0),
        ];
        for (name, bound) in cases {
            assert_eq!(*buckets.of(name), [bound], "{name}");
        }
    }
}

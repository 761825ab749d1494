//! The assignment of buckets to histograms.

use std::sync::Arc;

use windrow::histogram::Scale;

use crate::error::BuildError;
use crate::names::{metric_name, metric_name_begin, metric_name_end};

/// The shape of a histogram: the cells or buckets in which it counts.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// The cells of a scale, whose values are whole numbers of steps: a value of 1 has `steps`.
    Cells { scale: Scale, steps: u32 },
    /// Bounds that the program has chosen, without finer cells.
    Bounds(Arc<[f64]>),
}

impl Shape {
    /// The default shape: nanoseconds, given as seconds.
    pub(crate) const DEFAULT: Shape = Shape::Cells { scale: Scale::DEFAULT, steps: 1_000_000_000 };

    /// Returns the shape if its bounds ascend. Leaves out an infinite bound at the end, because
    /// every histogram has that one anyway.
    fn checked(self) -> Result<Shape, BuildError> {
        match self {
            Shape::Cells { steps: 0, .. } => Err(BuildError::NoSteps),
            Shape::Cells { .. } => Ok(self),
            Shape::Bounds(bounds) => check(&bounds).map(Shape::Bounds),
        }
    }
}

/// Selects metrics by name.
///
/// Names are compared as they are exported, without suffixes: `http.requests` and `http_requests`
/// are the same.
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
    /// Matches exactly this name.
    Full(String),
    /// Matches all names with this prefix.
    Prefix(String),
    /// Matches all names with this suffix.
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

    /// Returns the rank of the match with `name`, if it matches: a full name before a prefix before
    /// a suffix, and a longer matcher before a shorter one.
    fn rank(&self, name: &str) -> Option<(u8, usize)> {
        match self {
            Matcher::Full(full) => (name == full).then_some((2, 0)),
            Matcher::Prefix(begin) => name.starts_with(begin).then_some((1, begin.len())),
            Matcher::Suffix(end) => name.ends_with(end).then_some((0, end.len())),
        }
    }
}

/// The shapes of all histograms.
#[derive(Clone, Debug)]
pub(crate) struct Buckets {
    pub(crate) default: Shape,
    pub(crate) matched: Vec<(Matcher, Shape)>,
}

impl Buckets {
    /// Checks the shapes, and makes matchers compare exported names.
    pub(crate) fn checked(self) -> Result<Buckets, BuildError> {
        let one = |(matcher, shape): (Matcher, Shape)| Ok((matcher.exported(), shape.checked()?));
        let matched = self.matched.into_iter().map(one).collect::<Result<_, _>>()?;
        Ok(Buckets { default: self.default.checked()?, matched })
    }

    /// Returns the shape of the histogram `name`. Of two equal matchers the later one counts.
    pub(crate) fn of(&self, name: &str) -> Shape {
        let ranked =
            self.matched.iter().filter_map(|(matcher, shape)| Some((matcher.rank(name)?, shape)));
        let narrowest = ranked.max_by_key(|(rank, _)| *rank);
        narrowest.map_or(&self.default, |(_, shape)| shape).clone()
    }
}

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
        let bounds = |bounds: &[f64]| Shape::Bounds(Arc::from(bounds));
        let matched = vec![
            (Matcher::Suffix("foo".into()), bounds(&[1.0])),
            (longer, bounds(&[2.0])),
            (prefix.clone(), Shape::DEFAULT),
            (prefix, bounds(&[3.0])),
            (full, bounds(&[4.0])),
            (Matcher::Suffix("2xx".into()), bounds(&[5.0])),
        ];
        let default = bounds(&[9.0, f64::INFINITY]);
        let buckets = Buckets { default, matched }.checked().expect("sound bounds");
        let cases = [
            ("metrics_testing_foo", 4.0),
            ("metrics_testing_bar", 3.0),
            ("metrics_testing_2_foo", 2.0),
            ("metrics_testin_foo", 1.0),
            ("answers_2xx", 5.0),
            ("metrics_wee", 9.0),
        ];
        for (name, bound) in cases {
            let Shape::Bounds(bounds) = buckets.of(name) else { panic!("{name}") };
            assert_eq!(*bounds, [bound], "{name}");
        }
    }
}

//! The course of a change: whether it is getting worse.

use super::change::{Change, Course};
use super::evidence::of_share;
use super::minutes::{Minute, Minutes};
use super::what::{Of, What};

/// The age in milliseconds from which a change has a course.
const KNOWN: u64 = 240_000;

/// The least factor between the last two minutes and the two before.
const FACTOR: f64 = 1.25;

/// Compares the last two minutes of a change with the two before.
pub(super) fn course(change: &Change, minutes: &Minutes) -> Course {
    let newest: Vec<_> = minutes.newest().take(4).collect();
    let [now, .., then] = newest[..] else { return Course::New };
    if now.end < change.since + KNOWN || then.start() < change.since {
        return Course::New;
    }
    let (now, then) = newest.split_at(2);
    let sum = |minutes: &[&Minute]| {
        let counts = minutes.iter().map(|minute| minute.hits(change.of));
        counts.fold((0.0, 0.0), |sum: (f64, f64), of| (sum.0 + of.0, sum.1 + of.1))
    };
    let percentile = |minutes: &[&Minute]| {
        minutes
            .iter()
            .map(|minute| f64::from(minute.percentiles[change.of.percentile()]))
            .fold(0.0, f64::max)
    };
    let share = |(hits, trials): (f64, f64)| hits / f64::max(trials, 1.0);
    let [before, after] = match change.of {
        Of::Above(_) => [percentile(then), percentile(now)],
        _ => [share(sum(then)), share(sum(now))],
    };
    let is_chance = match change.of {
        Of::Failed | Of::Refused => {
            let ((hits, trials), usual) = (sum(now), share(sum(then)).clamp(1e-6, 0.999));
            of_share(hits, trials, usual) < 3.0
        }
        _ => false,
    };
    let rises = after > before * FACTOR;
    let falls = after * FACTOR < before;
    match (rises || falls) && !is_chance {
        false => Course::Steady,
        true if rises == (change.what != What::Quiet) => Course::Worse,
        true => Course::Better,
    }
}

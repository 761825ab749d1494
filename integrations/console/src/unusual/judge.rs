//! The judgement whether a span shows a change: by its distance from the usual range, and by its
//! evidence.

use super::change::{Of, What};
use super::counts::{Hits, Sum};
use super::evidence::{HITS, of_count, of_share};
use super::levels::{ABOVE, Levels};

/// The least span in seconds that shows a change of a rate: operations come in clumps.
const LEAST: f64 = 10.0;

/// A change that a span shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) what: What,
    pub(super) of: Of,
    /// The levels of the compared numbers: shares, or rates.
    pub(super) from: f64,
    pub(super) to: f64,
    /// In seconds.
    pub(super) span: f64,
}

/// Returns the change of this kind that a span shows, if it shows one. `rest` has the hits and
/// trials of a share without the seconds or the minute with most hits.
pub(super) fn judge(
    levels: &Levels,
    what: What,
    sum: impl Fn(Of) -> Option<Sum>,
    rest: impl Fn(Of) -> Hits,
) -> Option<Found> {
    let of_share = |of, from, usual: f64, far: f64, clumps: f64| {
        let ((hits, trials), span) = sum(of)?;
        if hits < HITS {
            return None;
        }
        let is_shown = |(hits, trials): (f64, f64), part: f64| {
            hits > far * trials
                && of_share(hits, trials, usual) > levels.settings.evidence(span) * clumps * part
        };
        let is_it = is_shown((hits, trials), 1.0) && is_shown(rest(of), 0.5);
        is_it.then(|| Found { what, of, from, to: hits / trials, span })
    };
    let share = |of| {
        let level = levels.of(of)?;
        let far = levels.settings.factor * level.high;
        // A share that is usually this high cannot grow by the factor.
        if far >= 1.0 {
            return None;
        }
        of_share(of, level.middle, level.high, far, level.clumps)
    };
    match what {
        What::Failing => share(Of::Failed),
        What::Refused => share(Of::Refused),
        What::Slow => {
            levels.bounds()?;
            let above = |at: usize| {
                let (of, part) = (Of::Above(at), ABOVE[at]);
                of_share(of, part / 2.0, part, part, levels.clumps(at, sum(of)?.1))
            };
            (0..ABOVE.len()).rev().find_map(above)
        }
        What::Quiet | What::Busy => judge_rate(levels, what, sum(Of::Rate)?),
    }
}

fn judge_rate(levels: &Levels, what: What, sum: Sum) -> Option<Found> {
    let level = levels.of(Of::Rate)?;
    let ((count, seconds), span) = sum;
    if seconds < LEAST {
        return None;
    }
    let (is_far, expected) = if what == What::Quiet {
        // Against the end of the range, if that is nearer than the level.
        let expected = level.middle.min(level.low * levels.settings.factor);
        (count * levels.settings.factor < level.low * seconds, expected)
    } else {
        let is_far = count >= HITS && count > levels.settings.factor * level.high * seconds;
        (is_far, level.high)
    };
    let needed = levels.settings.evidence(span) * level.clumps;
    let is_it = is_far && of_count(count, expected * seconds) > needed;
    is_it.then(|| Found { what, of: Of::Rate, from: level.middle, to: count / seconds, span })
}

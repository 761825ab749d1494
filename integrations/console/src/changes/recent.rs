//! The last minute of a series, by the second.

use std::collections::VecDeque;

use super::PERCENTILES;
use super::judge::HITS;
use super::minutes::Of;

/// The number of looks that are kept.
const KEPT: usize = 64;

/// All-time counts at a look, modulo 2^32, because only differences are used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Look {
    /// In milliseconds of the window's clock.
    pub(super) at: u64,
    pub(super) all: u32,
    pub(super) failed: u32,
    pub(super) refused: u32,
    pub(super) values: u32,
    /// The values above each bound that have come since the first look.
    pub(super) above: [u32; PERCENTILES],
}

impl Look {
    /// Returns hits and trials since an earlier look.
    pub(super) fn since(&self, earlier: &Look, of: Of) -> (f64, f64) {
        let [hits, trials] = match of {
            Of::Failed => [(self.failed, earlier.failed), (self.all, earlier.all)],
            Of::Refused => [(self.refused, earlier.refused), (self.all, earlier.all)],
            Of::Above(at) => [(self.above[at], earlier.above[at]), (self.values, earlier.values)],
            Of::Rate => {
                let count = f64::from(self.all.wrapping_sub(earlier.all));
                return (count, seconds(earlier.at, self.at));
            }
        };
        let [hits, trials] = [hits, trials].map(|(now, then)| f64::from(now.wrapping_sub(then)));
        (hits, trials.max(hits)) // operations that fail may be counted sooner than all
    }
}

pub(super) fn seconds(from: u64, to: u64) -> f64 {
    to.saturating_sub(from) as f64 / 1e3
}

/// The time between two looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span<'r> {
    last: &'r Look,
    then: &'r Look,
    seconds: f64,
}

impl Span<'_> {
    /// Returns whether there are hits enough to judge.
    pub(super) fn has_hits(&self, of: Of) -> bool {
        self.last.since(self.then, of).0 >= HITS
    }

    /// Returns hits and trials, and the time in which they came.
    pub(super) fn sum(&self, of: Of) -> ((f64, f64), f64) {
        (self.last.since(self.then, of), self.seconds)
    }
}

/// The looks, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Recent {
    looks: VecDeque<Look>,
    /// The number of looks that ever were.
    count: u64,
    /// The all-time counts above each bound at the last look; unknown after new bounds.
    all_time: Option<[u32; PERCENTILES]>,
}

impl Recent {
    /// Adds a look, with the all-time counts above each bound.
    pub(super) fn push(&mut self, look: Look, above: [u32; PERCENTILES]) {
        self.all_time = Some(above);
        self.count += 1;
        if self.looks.len() == KEPT {
            self.looks.pop_front();
        }
        self.looks.push_back(look);
    }

    /// Counts the values above each bound that have come since the last look. `above` has the
    /// all-time counts: those of the interval would have to be told what left it meanwhile.
    pub(super) fn count_above(&self, look: &mut Look, above: [u32; PERCENTILES]) {
        let Some(last) = self.looks.back() else { return };
        let before = self.all_time.unwrap_or(above);
        for at in 0..above.len() {
            let come = above[at].wrapping_sub(before[at]);
            look.above[at] = last.above[at].wrapping_add(come);
        }
    }

    pub(super) fn clear(&mut self) {
        self.looks.clear();
        self.all_time = None;
    }

    /// Forgets the values above the bounds, because these have changed.
    pub(super) fn forget_above(&mut self) {
        self.all_time = None;
        let last = self.looks.back().map_or([0; PERCENTILES], |last| last.above);
        self.looks.iter_mut().for_each(|look| look.above = last);
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn last(&self) -> Option<&Look> {
        self.looks.back()
    }

    /// Returns the newest looks that cover `seconds`; `None` if less than that time is known.
    pub(super) fn span(&self, seconds: usize) -> Option<Span<'_>> {
        let last = self.looks.back()?;
        let from = last.at.checked_sub(seconds as u64 * 1_000)?;
        // There is about one look a second.
        let at = self.looks.len().checked_sub(seconds + 1)?;
        let then = &self.looks[at];
        // After a gap, the looks are older than they seem.
        let is_near = then.at + 2_000 + seconds as u64 * 200 > from;
        is_near.then(|| Span { last, then, seconds: self::seconds(then.at, last.at) })
    }

    /// Returns the sum of the newest looks at a share, without the two that have found most hits.
    pub(super) fn rest(&self, of: Of, looks: usize) -> (f64, f64) {
        let (mut sum, mut most) = ((0.0, 0.0), [(0.0, 0.0); 2]);
        for (counts, _) in self.slices(of).take(looks) {
            sum = (sum.0 + counts.0, sum.1 + counts.1);
            if counts.0 > most[0].0 {
                most = [counts, most[0]];
            } else if counts.0 > most[1].0 {
                most[1] = counts;
            }
        }
        (sum.0 - most[0].0 - most[1].0, sum.1 - most[0].1 - most[1].1)
    }

    /// Returns hits and trials between looks, and the time of the earlier look, the newest first.
    pub(super) fn slices(&self, of: Of) -> impl Iterator<Item = ((f64, f64), u64)> {
        let pairs = self.looks.iter().rev().zip(self.looks.iter().rev().skip(1));
        pairs.map(move |(now, then)| (now.since(then, of), then.at))
    }
}

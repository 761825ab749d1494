//! The last minute of a series, by the second.

use std::collections::VecDeque;

use super::change::Of;
use super::clumps::Clumps;
use super::counts::{Counts, Hits, Sum, sum};
use crate::shown::layout::PERCENTILES;

/// The number of looks that are kept.
const KEPT: usize = 64;

/// The number of looks of a span in which values come together: those of the shortest span that is
/// compared.
const TOGETHER: usize = 6;

/// The all-time counts at a look; of the values above each bound, those that have come since the
/// first look.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Look {
    /// In milliseconds of the window's clock.
    pub(super) at: u64,
    pub(super) counts: Counts,
}

impl Look {
    /// Returns the time since an earlier look, and its counts.
    pub(super) fn since(&self, earlier: &Look) -> Span {
        let seconds = self.at.saturating_sub(earlier.at) as f64 / 1e3;
        Span { counts: self.counts.since(&earlier.counts), seconds }
    }
}

/// The time between two looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) counts: Counts,
    pub(super) seconds: f64,
}

impl Span {
    /// Returns hits and trials, and the time in which they came.
    pub(super) fn sum(&self, of: Of) -> Sum {
        (self.counts.hits(of, self.seconds), self.seconds)
    }
}

/// The looks, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Recent {
    pub(super) looks: VecDeque<Look>,
    /// The number of looks that ever were.
    pub(super) count: u64,
    /// The all-time counts above each bound at the last look; unknown after new bounds.
    all_time: Option<[u32; PERCENTILES]>,
}

impl Recent {
    /// Adds a look, and returns it. `counts` has the all-time counts above each bound: those of the
    /// interval would have to be told what left it meanwhile.
    pub(super) fn push(&mut self, at: u64, counts: Counts) -> Look {
        let last = self.looks.back().map_or([0; PERCENTILES], |last| last.counts.above);
        let before = self.all_time.replace(counts.above).unwrap_or(counts.above);
        let come = |at: usize| counts.above[at].wrapping_sub(before[at]);
        let above = std::array::from_fn(|at| last[at].wrapping_add(come(at)));
        let look = Look { at, counts: Counts { above, ..counts } };
        self.count += 1;
        if self.looks.len() == KEPT {
            self.looks.pop_front();
        }
        self.looks.push_back(look);
        look
    }

    pub(super) fn clear(&mut self) {
        self.looks.clear();
        self.all_time = None;
    }

    /// Forgets the values above the bounds, because these have changed.
    pub(super) fn forget_above(&mut self) {
        self.all_time = None;
        let last = self.looks.back().map_or([0; PERCENTILES], |last| last.counts.above);
        self.looks.iter_mut().for_each(|look| look.counts.above = last);
    }

    /// Returns the newest looks that cover `seconds`; `None` if less than that time is known.
    pub(super) fn span(&self, seconds: usize) -> Option<Span> {
        let last = self.looks.back()?;
        let from = last.at.checked_sub(seconds as u64 * 1_000)?;
        // There is about one look a second.
        let at = self.looks.len().checked_sub(seconds + 1)?;
        let then = &self.looks[at];
        // After a gap, the looks are older than they seem.
        let is_near = then.at + 2_000 + seconds as u64 * 200 > from;
        is_near.then(|| last.since(then))
    }

    /// Returns the sum of the newest looks at a share, without the two that have found most hits.
    pub(super) fn rest(&self, of: Of, looks: usize) -> Hits {
        let mut all: Vec<Hits> = self.slices(of).take(looks).map(|(hits, _)| hits).collect();
        all.sort_by(|one, other| other.0.total_cmp(&one.0));
        sum(all.into_iter().skip(2))
    }

    /// Returns the clumps of the values above a bound since a time, in spans of [`TOGETHER`] looks,
    /// without the two looks that have found most. Looks that are far apart tell nothing.
    pub(super) fn clumps(&self, at: usize, since: u64) -> Clumps {
        let pairs = self.looks.iter().rev().zip(self.slices(Of::Above(at)));
        let near = pairs.take_while(|(look, (_, then))| *then >= since && look.at <= then + 2_000);
        let mut slices: Vec<Hits> = near.map(|(_, (hits, _))| hits).collect();
        let has_hits = slices.iter().any(|(hits, _)| *hits > 0.0);
        for _ in 0..2 {
            let most = slices.iter_mut().max_by(|one, other| one.0.total_cmp(&other.0));
            if let Some(most) = most {
                *most = (0.0, 0.0);
            }
        }
        Clumps::of(slices.chunks_exact(TOGETHER).map(|span| sum(span.iter().copied())), has_hits)
    }

    /// Returns hits and trials between looks, and the time of the earlier look, the newest first.
    pub(super) fn slices(&self, of: Of) -> impl Iterator<Item = (Hits, u64)> {
        let pairs = self.looks.iter().rev().zip(self.looks.iter().rev().skip(1));
        pairs.map(move |(now, then)| (now.since(then).sum(of).0, then.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the clumps of the values above a bound in looks of a second, or of `apart` seconds:
    /// ten values a second, of which `hits` are above.
    fn clumps(apart: u64, hits: impl Fn(u64) -> u32) -> Option<f64> {
        let mut recent = Recent::default();
        let mut above = 0;
        for second in 0..=60 {
            let values = second as u32 * 10;
            let counts = Counts { values, above: [above; 3], ..Counts::default() };
            recent.push(second * apart * 1_000, counts);
            above += hits(second);
        }
        recent.clumps(0, 0).ratio()
    }

    #[test]
    fn values_come_together_in_bursts_and_not_in_pauses() {
        assert_eq!(clumps(1, |_| 0), None);
        assert_eq!(clumps(1, |second| u32::from(second == 30)), Some(1.0));
        assert_eq!(clumps(1, |_| 3), Some(1.0));
        // Two seconds are one pause, or two.
        let pauses = clumps(1, |second| if second == 17 || second == 41 { 10 } else { 1 });
        assert!(pauses.unwrap() < 1.1, "{pauses:?}");
        let burst = clumps(1, |second| if (20..28).contains(&second) { 10 } else { 1 });
        assert!(burst.unwrap() > 5.0, "{burst:?}");
        // Looks that are far apart do not tell.
        assert_eq!(clumps(3, |second| if (20..28).contains(&second) { 10 } else { 1 }), None);
    }

    #[test]
    fn looks_before_a_minute_do_not_belong_to_it() {
        let mut recent = Recent::default();
        for second in 0..=60 {
            let (values, above) = (second as u32 * 10, second.min(20) as u32 * 5);
            let counts = Counts { values, above: [above; 3], ..Counts::default() };
            recent.push(second * 1_000, counts);
        }
        assert!(recent.clumps(0, 0).ratio().is_some());
        assert_eq!(recent.clumps(0, 24_000).ratio(), None);
    }
}

//! The last minute of a series, by the second.

use std::collections::VecDeque;

use super::clumps::Clumps;
use super::evidence::HITS;
use super::what::Of;
use crate::shown::layout::PERCENTILES;

/// The number of looks that are kept.
const KEPT: usize = 64;

/// The number of looks of a span in which values come together: those of the shortest span that is
/// compared.
const TOGETHER: usize = 6;

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

    /// Returns the clumps of the values above a bound since a time, in spans of [`TOGETHER`] looks,
    /// without the two looks that have found most. Looks that are far apart tell nothing.
    pub(super) fn clumps(&self, at: usize, since: u64) -> Clumps {
        let of = Of::Above(at);
        let (mut slices, mut count) = ([(0.0, 0.0); KEPT], 0);
        for (pair, (counts, then)) in self.looks.iter().rev().zip(self.slices(of)) {
            if then < since || pair.at > then + 2_000 {
                break;
            }
            slices[count] = counts;
            count += 1;
        }
        let slices = &mut slices[..count];
        let has_hits = slices.iter().any(|(hits, _)| *hits > 0.0);
        for _ in 0..2 {
            let most = slices.iter_mut().max_by(|one, other| one.0.total_cmp(&other.0));
            if let Some(most) = most {
                *most = (0.0, 0.0);
            }
        }
        let sum = |span: &[(f64, f64)]| {
            span.iter().fold((0.0, 0.0), |sum, of| (sum.0 + of.0, sum.1 + of.1))
        };
        Clumps::of(slices.chunks_exact(TOGETHER).map(sum), has_hits)
    }

    /// Returns hits and trials between looks, and the time of the earlier look, the newest first.
    pub(super) fn slices(&self, of: Of) -> impl Iterator<Item = ((f64, f64), u64)> {
        let pairs = self.looks.iter().rev().zip(self.looks.iter().rev().skip(1));
        pairs.map(move |(now, then)| (now.since(then, of), then.at))
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
            let look =
                Look { at: second * apart * 1_000, values, above: [above; 3], ..Look::default() };
            recent.push(look, look.above);
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
            let look = Look { at: second * 1_000, values, above: [above; 3], ..Look::default() };
            recent.push(look, look.above);
        }
        assert!(recent.clumps(0, 0).ratio().is_some());
        assert_eq!(recent.clumps(0, 24_000).ratio(), None);
    }
}

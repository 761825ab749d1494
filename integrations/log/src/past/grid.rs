//! The lengths of bins, and the bin of a moment.

use std::time::Duration;

use crate::wall::Wall;

const SECOND: i64 = 1_000_000_000;

/// The lengths of bins in seconds. Each divides the next, so bins of one length add up to bins of
/// any later one.
const LENGTHS: [i64; 13] =
    [1, 5, 10, 30, 60, 300, 600, 1_800, 3_600, 10_800, 21_600, 43_200, 86_400];

/// The position of a minute, the finest length of which sums are kept.
const MINUTE: usize = 4;

/// A length of bins. They begin at multiples of it since 1970, in UTC: bin `n` has the moments
/// after `n * length`, up to and including `(n + 1) * length`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Grid(i64);

impl Grid {
    pub(super) const MINUTE: Grid = Grid(LENGTHS[MINUTE] * SECOND);
    pub(super) const DAY: Grid = Grid(86_400 * SECOND);
    /// The longest length: 65 536 days.
    const COARSEST: i64 = Grid::DAY.0 << 16;
    /// The number of bins of that length of which all of time is made.
    const FEWEST: u64 = 4;

    /// Returns the finest grid of which a range has at most `bins` bins. All of time has 4 bins of
    /// the coarsest grid, so `bins` is at least that.
    pub(super) fn of(range: (Wall, Wall), bins: u64) -> Grid {
        let (mut grid, bins) = (Grid(LENGTHS[0] * SECOND), bins.max(Grid::FEWEST));
        while grid.count(range) > bins {
            grid = grid.next();
        }
        grid
    }

    /// Returns whether its bins are shorter than this, and than a day.
    pub(super) fn is_shorter(self, than: Duration) -> bool {
        self.length() < than.min(Grid::DAY.length())
    }

    /// Returns the next coarser grid; the coarsest one itself. Beyond days, it is twice as coarse.
    pub(super) fn next(self) -> Grid {
        let later = LENGTHS.iter().map(|secs| secs * SECOND).find(|length| *length > self.0);
        Grid(later.unwrap_or_else(|| self.0.saturating_mul(2).min(Grid::COARSEST)))
    }

    /// Returns whether bins of this grid are made of whole bins of the other one.
    pub(super) fn has(self, finer: Grid) -> bool {
        self.0 % finer.0 == 0
    }

    pub(super) fn length(self) -> Duration {
        Duration::from_nanos(self.0.unsigned_abs())
    }

    /// Returns the bin of a moment.
    pub(super) fn bin(self, moment: Wall) -> i64 {
        moment.0.saturating_sub(1).div_euclid(self.0)
    }

    /// Returns the bin of this grid in which a bin of a finer grid is.
    pub(super) fn bin_of(self, finer: Grid, bin: i64) -> i64 {
        bin.div_euclid(self.0 / finer.0)
    }

    /// Returns the first bin of a finer grid in a bin of this one.
    pub(super) fn first_of(self, finer: Grid, bin: i64) -> i64 {
        bin.saturating_mul(self.0 / finer.0)
    }

    /// Returns the bins that touch a range, which begins after its first moment: the first, and the
    /// one behind the last.
    pub(super) fn bins(self, (from, to): (Wall, Wall)) -> (i64, i64) {
        let first = from.0.div_euclid(self.0);
        (first, (self.bin(to) + 1).max(first))
    }

    fn count(self, range: (Wall, Wall)) -> u64 {
        let (first, end) = self.bins(range);
        end.abs_diff(first)
    }

    /// Returns the moment after which a bin begins.
    pub(super) fn start(self, bin: i64) -> Wall {
        Wall(bin.saturating_mul(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_few_bins_of_which_finer_ones_are_parts() {
        let hour = 3_600 * SECOND;
        for (length, bins, secs) in [
            (1, 400, 1),
            (hour, 400, 10),
            (24 * hour, 400, 300),
            (24 * hour, 288, 300),
            (24 * hour, 287, 600),
            (7 * 24 * hour, 400, 1_800),
            (100 * 24 * hour, 400, 21_600),
            (1_000 * 24 * hour, 400, 4 * 86_400),
            (i64::MAX, 400, 512 * 86_400),
        ] {
            let range = (Wall(0), Wall(length));
            let grid = Grid::of(range, bins);
            assert_eq!(grid.length().as_secs(), secs, "{length} in {bins}");
            assert!(grid.count(range) <= bins);
        }
        let all = (Wall(i64::MIN), Wall(i64::MAX));
        assert_eq!(Grid::of(all, 0).count(all), 4, "it ends");
        assert_eq!(Grid(Grid::COARSEST).next(), Grid(Grid::COARSEST));
        assert!(Grid::MINUTE.is_shorter(Duration::MAX) && !Grid::DAY.is_shorter(Duration::MAX));
        let mut grid = Grid::of((Wall(0), Wall(1)), 4);
        for _ in 0..20 {
            assert!(grid.next().has(grid) && !grid.has(grid.next()));
            for bin in [-7, -1, 0, 1, 1_000] {
                let coarse = grid.next().bin_of(grid, bin);
                let first = grid.next().first_of(grid, coarse);
                assert!(first <= bin && bin < grid.next().first_of(grid, coarse + 1));
                assert_eq!(grid.start(first), grid.next().start(coarse));
            }
            grid = grid.next();
        }
    }

    /// A bucket is in the bin in which it ended: the end belongs to the bin.
    #[test]
    fn a_bin_has_its_end_and_not_its_beginning() {
        let grid = Grid::MINUTE;
        let at = |secs: i64| Wall(secs * SECOND);
        for (moment, bin) in [(at(60), 0), (Wall(1), 0), (at(0), -1), (Wall(60 * SECOND + 1), 1)] {
            assert_eq!(grid.bin(moment), bin, "{moment:?}");
        }
        assert_eq!(grid.bins((at(0), at(60))), (0, 1));
        assert_eq!(grid.bins((at(59), at(61))), (0, 2));
        assert_eq!(grid.bins((at(60), at(60))), (1, 1), "nothing is in it");
        assert_eq!(grid.bins((at(60), at(0))), (1, 1));
        assert_eq!(grid.bins((at(-1), at(1))), (-1, 1));
    }
}

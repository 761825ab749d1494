//! The order of the lines of one file, by which a reader searches it.
//!
//! Lines are nearly in the order of the ends of their buckets: none ended more than the file's
//! *slack* before any line ahead of it. The first line of the file states the slack, which is a
//! minute as long as that suffices. It does not suffice if the wall clock was set back, or if
//! windows are written seldom and one after the other. Then the file is ended, and the next one
//! gets the slack that this one would have needed. So lasting disorder makes readers read some more
//! lines, and makes no further files.

use std::time::Duration;

use crate::wall::Wall;

/// The least slack of a file.
pub(crate) const LEAST_SLACK: Duration = Duration::from_secs(60);

/// The earliest and the latest time at which buckets ended. Most lines have one bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) first: Wall,
    pub(crate) last: Wall,
}

impl Ends {
    pub(crate) fn at(end: Wall) -> Ends {
        Ends { first: end, last: end }
    }

    /// Returns the ends of both.
    pub(crate) fn and(self, other: Ends) -> Ends {
        Ends { first: self.first.min(other.first), last: self.last.max(other.last) }
    }

    /// Returns whether some may be in a range, which has its end and not its beginning.
    pub(crate) fn touches(self, (from, to): (Wall, Wall)) -> bool {
        from < self.last && self.first <= to
    }
}

/// The order of a file's lines so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    pub(crate) slack: Duration,
    /// The latest end so far.
    newest: Wall,
    /// The slack that the lines so far need.
    needed: Duration,
}

impl Order {
    pub(crate) fn new(slack: Duration) -> Order {
        Order { slack, newest: Wall::FIRST, needed: Duration::ZERO }
    }

    /// Returns whether a line may come next.
    pub(crate) fn takes(&self, ends: Ends) -> bool {
        self.newest.since(ends.first) <= self.slack
    }

    /// Adds the next line.
    pub(crate) fn add(&mut self, ends: Ends) {
        self.needed = self.needed.max(self.newest.since(ends.first));
        self.newest = self.newest.max(ends.last);
    }

    /// Returns the slack for a file that is to hold lines in the order of these, and the next one.
    pub(crate) fn slack_with(mut self, next: Option<Ends>) -> Duration {
        if let Some(ends) = next {
            self.add(ends);
        }
        // Doubled until it suffices: so a file is seldom ended because of it.
        let mut slack = LEAST_SLACK;
        while slack < self.needed {
            slack = slack.saturating_mul(2);
        }
        slack
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: i64) -> Ends {
        Ends::at(Wall::from_millis(secs * 1_000))
    }

    #[test]
    fn a_line_may_end_as_much_before_another_as_the_slack_says() {
        let mut order = Order::new(LEAST_SLACK);
        assert!(order.takes(at(i64::MIN / 1_000)));
        for secs in [100, 40, 90] {
            order.add(at(secs));
        }
        assert!(order.takes(at(40)) && !order.takes(at(39)));
        assert_eq!(order.slack_with(None), LEAST_SLACK);
        assert_eq!(order.slack_with(Some(at(39))), LEAST_SLACK * 2);
        assert_eq!(order.slack_with(Some(at(100 - 3_600))), LEAST_SLACK * 64);
        // For dropped lines, their first end counts against the lines before them, and their last
        // end against the lines behind.
        let Ends { first, last } = Ends { first: at(50).first, last: at(500).last };
        assert!(
            order.takes(Ends { first, last }) && !order.takes(Ends { first: at(39).first, last })
        );
        order.add(Ends { first, last });
        assert!(order.takes(at(440)) && !order.takes(at(439)));
        order.add(at(i64::MIN / 1_000));
        assert!(order.slack_with(None) >= Duration::from_nanos(i64::MAX.unsigned_abs()));
    }
}

//! The order of the lines of one file, which lets a reader search it.
//!
//! Lines are in the order of the ends of their buckets, nearly: none ended more than the file's
//! *slack* before any line ahead of it. The first line of the file says the slack. It is a minute,
//! as long as that is enough. It is not if the wall clock was set back, or if windows are written
//! seldom and one after the other. Then the file is ended, and the next has the slack that this one
//! would have needed. So disorder that goes on costs readers some more lines, and no further files.

use std::time::Duration;

use crate::wall::Wall;

/// The slack of a file in which no more was needed.
pub(crate) const LEAST_SLACK: Duration = Duration::from_secs(60);

/// When the buckets of a line ended: of most lines, there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) first: Wall,
    pub(crate) last: Wall,
}

impl Ends {
    pub(crate) fn at(end: Wall) -> Ends {
        Ends { first: end, last: end }
    }
}

/// The order of a file's lines so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    pub(crate) slack: Duration,
    /// The last end of them all.
    newest: Wall,
    /// The slack that they need.
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

    /// A line comes next.
    pub(crate) fn add(&mut self, ends: Ends) {
        self.needed = self.needed.max(self.newest.since(ends.first));
        self.newest = self.newest.max(ends.last);
    }

    /// Returns the slack for a file that is to hold such lines as this one, and the one that comes
    /// next.
    pub(crate) fn slack_with(mut self, next: Option<Ends>) -> Duration {
        if let Some(ends) = next {
            self.add(ends);
        }
        // Doubled until it is enough: so a file is seldom ended for it.
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
        // Of what was dropped the first counts, and for those behind it the last.
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

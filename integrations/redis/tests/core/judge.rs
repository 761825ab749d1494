//! The judge, which knows only the promise: in each run of `buckets` buckets of the engine's clock
//! at most the limit is used.

/// The uses of a schedule by the time of the engine's clock.
pub(super) struct Judge {
    length: i64,
    buckets: i64,
    /// The uses: time and weight, in the order of time.
    uses: Vec<(i64, u64)>,
    /// The limits: each with the time from which it was in force.
    limits: Vec<(i64, u64)>,
    /// The steps of the engine's clock: each with its time, and by which time it is behind then.
    steps: Vec<(i64, i64)>,
}

impl Judge {
    pub(super) fn new(start: i64, length: u64, buckets: u64, limit: u64) -> Judge {
        Judge {
            length: length.cast_signed(),
            buckets: buckets.cast_signed(),
            uses: Vec::new(),
            limits: vec![(i64::MIN, limit)],
            steps: vec![(start, 0)],
        }
    }

    /// Notes a use; `count` may be lowered later by what is put back.
    pub(super) fn used(&mut self, at: u64, count: u64) {
        self.uses.push((at.cast_signed(), count));
    }

    pub(super) fn stepped(&mut self, at: u64, behind: i64) {
        self.steps.push((at.cast_signed(), behind));
    }

    pub(super) fn limited(&mut self, at: u64, limit: u64) {
        if self.limits.last().is_some_and(|(_, last)| *last != limit) {
            self.limits.push((at.cast_signed(), limit));
        }
    }

    /// Returns the number of all uses.
    pub(super) fn total(&self) -> u64 {
        self.uses.iter().map(|(_, count)| count).sum()
    }

    /// Returns the largest sum over the limit, of all runs that begin before `end`; zero if none
    /// is. A run begins with a bucket of the clock of that moment, and goes on in real time.
    pub(super) fn over(&self, end: u64) -> u64 {
        let mut sums = vec![0];
        for (_, count) in &self.uses {
            sums.push(sums[sums.len() - 1] + count);
        }
        let before = |at: i64| sums[self.uses.partition_point(|(time, _)| *time < at)];
        let mut worst = 0;
        for (place, &(from, behind)) in self.steps.iter().enumerate() {
            let until = self.steps.get(place + 1).map_or(end.cast_signed(), |step| step.0);
            let mut begin = (from - behind).div_euclid(self.length) * self.length + behind;
            while begin < until {
                let over = begin + self.buckets * self.length;
                if begin >= from {
                    let sum = before(over) - before(begin);
                    worst = worst.max(sum.saturating_sub(self.limit(begin, over)));
                }
                begin += self.length;
            }
        }
        worst
    }

    /// Returns the largest limit that was in force when what is used in a run was granted.
    fn limit(&self, begin: i64, over: i64) -> u64 {
        let from = begin - 2 * self.length;
        let first = self.limits.partition_point(|(at, _)| *at <= from) - 1;
        let in_force = self.limits[first..].iter().take_while(|(at, _)| *at < over);
        in_force.map(|(_, limit)| *limit).max().unwrap_or(0)
    }
}

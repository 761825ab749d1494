//! The judge, which knows only the promise: in each run of `buckets` buckets of the engine's clock
//! at most the limit is used.
//!
//! A run begins where the clock begins a bucket, and goes on in real time: also where the clock
//! falls back meanwhile, and shows buckets again. One kind of run is not judged: the clock falls
//! back during it, and no ask has seen the bucket with which it began. No script can know of that
//! bucket. By the numbers that the clock shows, the promise holds there, too: these buckets came
//! twice, and are counted as one.

/// The uses of a schedule by the time of the engine's clock.
pub(super) struct Judge {
    length: i64,
    buckets: i64,
    /// The uses: time and weight, in the order of time.
    uses: Vec<(i64, u64)>,
    /// The limits: each with the time from which it was in force.
    limits: Vec<(i64, u64)>,
    /// The steps of the engine's clock, in the order of time.
    steps: Vec<Step>,
}

/// A step of the engine's clock.
struct Step {
    at: i64,
    /// The time by which the clock is behind that of the schedule from then on.
    behind: i64,
    /// The newest bucket that an ask had seen before.
    seen: i64,
}

impl Judge {
    pub(super) fn new(start: i64, length: u64, buckets: u64, limit: u64) -> Judge {
        Judge {
            length: length.cast_signed(),
            buckets: buckets.cast_signed(),
            uses: Vec::new(),
            limits: vec![(i64::MIN, limit)],
            steps: vec![Step { at: start, behind: 0, seen: i64::MAX }],
        }
    }

    /// Notes a use; `count` may be lowered later by what is put back.
    pub(super) fn used(&mut self, at: u64, count: u64) {
        self.uses.push((at.cast_signed(), count));
    }

    pub(super) fn stepped(&mut self, at: u64, behind: i64, seen: u64) {
        let seen = i64::try_from(seen).unwrap_or(i64::MAX);
        self.steps.push(Step { at: at.cast_signed(), behind, seen });
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
        for (place, &Step { at: from, behind, .. }) in self.steps.iter().enumerate() {
            let next = self.steps.get(place + 1);
            let until = next.map_or(end.cast_signed(), |step| step.at);
            let mut bucket = (from - behind).div_euclid(self.length);
            loop {
                let begin = bucket * self.length + behind;
                let over = begin + self.buckets * self.length;
                let is_unseen = next.is_some_and(|step| over > step.at && bucket > step.seen);
                if begin >= until {
                    break;
                }
                if begin >= from && !is_unseen {
                    let sum = before(over) - before(begin);
                    worst = worst.max(sum.saturating_sub(self.limit(begin, over)));
                }
                bucket += 1;
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

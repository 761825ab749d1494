//! A judge of what a gate answers. It knows times, grants, limits and geometries, and what the
//! documentation of [`Gate`](windrow::Gate) promises of them; it does not know how a gate decides.

use std::time::Duration;

use windrow::gate::Admission;

/// The grant of one call.
struct Grant {
    n: u64,
    /// The gate's time at which the caller goes on: of a wait, its end by the clock.
    at: u64,
    /// The latest time as of which the gate may count it.
    latest: u64,
    waits: bool,
    /// A geometry has changed after it had left the interval: the gate need not know of it.
    may_be_forgotten: bool,
}

pub(crate) struct Judge {
    length: u64,
    buckets: u64,
    limit: u64,
    /// The start of the latest bucket that a clock has shown to a call that asks for what may fit;
    /// or the time of a change of the geometry, if that is later.
    reached: u64,
    /// The end of the last wait that was granted before the last change of the geometry; or as of
    /// when that was made.
    until: u64,
    /// The rules that stay.
    manner: Manner,
    grants: Vec<Grant>,
    /// The buckets and the weights of turns whose callers have given up, under the terms that hold.
    vacant: Vec<(u64, u64)>,
}

#[derive(Clone, Copy, Default)]
struct Manner {
    /// The grant may be used until its bucket ends.
    is_rationed: bool,
    /// The limit holds in each span of time that is a bucket shorter than the interval.
    is_strict: bool,
    /// The resolution of the clock.
    resolution: u64,
}

impl Judge {
    pub(crate) fn new(length: u64, buckets: u64, limit: u64) -> Judge {
        let (manner, grants) = (Manner::default(), vec![]);
        Judge { length, buckets, limit, reached: 0, until: 0, manner, grants, vacant: vec![] }
    }

    pub(crate) fn rationed(self) -> Judge {
        Judge { manner: Manner { is_rationed: true, ..self.manner }, ..self }
    }

    /// Returns a judge of a gate that keeps its limit in every span of time.
    pub(crate) fn strict(self) -> Judge {
        Judge { manner: Manner { is_strict: true, ..self.manner }, ..self }
    }

    /// Returns a judge of a gate on a clock that first shows `now`, and has this resolution in
    /// nanoseconds.
    pub(crate) fn on_a_clock(self, now: u64, resolution: u64) -> Judge {
        let reached = self.start_of(now);
        Judge { reached, manner: Manner { resolution, ..self.manner }, ..self }
    }

    pub(crate) fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
        self.vacant.clear();
    }

    /// A turn was given back, which was granted `at` a time under the terms that hold.
    pub(crate) fn vacated(&mut self, at: u64, n: u64) {
        match self.vacant.iter_mut().find(|turn| turn.0 == at) {
            Some(turn) => turn.1 += n,
            None => self.vacant.push((at, n)),
        }
    }

    fn interval(&self) -> u64 {
        self.length * self.buckets
    }

    fn start_of(&self, at: u64) -> u64 {
        at / self.length * self.length
    }

    /// The gate's time, once a clock has shown `now` to it.
    fn time(&mut self, now: u64) -> u64 {
        let time = now.max(self.reached);
        self.reached = self.reached.max(self.start_of(time));
        time
    }

    /// Returns the first bucket, not before that of `time` nor before anything that was granted, in
    /// whose run `n` fits, if each grant counts where `place` says.
    fn first(&self, time: u64, n: u64, place: impl Fn(&Grant) -> Option<u64>) -> u64 {
        let places: Vec<_> =
            self.grants.iter().filter_map(|grant| Some((place(grant)?, grant.n))).collect();
        let last = places.iter().map(|(at, _)| *at).fold(time, u64::max);
        let mut start = self.start_of(last);
        let in_run = |start: u64| {
            let counts = |at: u64| self.start_of(at) + self.interval() > start;
            places.iter().filter(|(at, _)| counts(*at)).map(|(_, n)| n).sum::<u64>()
        };
        while in_run(start) + n > self.limit {
            start += self.length;
        }
        start
    }

    /// Returns the most in any run of buckets as long as an interval, of which one contains `at`.
    fn most_in_a_run_with(&self, at: u64) -> u64 {
        let at = self.start_of(at);
        let in_run = |first: u64, start: u64| start >= first && start < first + self.interval();
        let known = || self.grants.iter().filter(|grant| !grant.may_be_forgotten);
        let starts = known().map(|grant| self.start_of(grant.at));
        let from = |first: u64| -> u64 {
            let counts = known().filter(|grant| in_run(first, self.start_of(grant.at)));
            counts.map(|grant| grant.n).sum()
        };
        starts.filter(|first| in_run(*first, at)).map(from).max().unwrap_or(0)
    }

    /// Returns the most in any span of time that contains `at`, and is as long as the interval
    /// without the bucket that a strict gate has more.
    fn most_in_a_span_with(&self, at: u64) -> u64 {
        let span = self.interval() - self.length;
        let known = || self.grants.iter().filter(|grant| !grant.may_be_forgotten);
        let from = |first: u64| -> u64 {
            known().filter(|it| it.at >= first && it.at - first < span).map(|it| it.n).sum()
        };
        let firsts = known().map(|it| it.at).filter(|first| *first <= at && at - first < span);
        firsts.map(from).max().unwrap_or(0)
    }

    /// Judges what a call has answered that asks for `n` when the clock shows `now`.
    pub(crate) fn asked(
        &mut self,
        now: u64,
        n: u64,
        max_wait: u64,
        answer: Admission,
    ) -> Result<(), String> {
        if n == 0 || n > self.limit {
            let refused = Admission::Refused { retry_after: None };
            let expected = if n == 0 { Admission::Now } else { refused };
            return wrong(answer != expected, || format!("asked for {n}: {answer:?}"));
        }
        let time = self.time(now);
        // Not before `earliest`: there it is over. Not after `latest`: there it fits, however late
        // all counts.
        let earliest = self.first(time, n, |grant| (!grant.may_be_forgotten).then_some(grant.at));
        let latest = self.first(time, n, |grant| Some(grant.latest));
        // A time is told from the clock's reading on, and allows for its resolution.
        let resolution = self.manner.resolution;
        let told_for = |at: u64| at.saturating_sub(now) + resolution;
        let is_in_time =
            |at: u64| at <= time || at - now <= self.interval() && told_for(at) <= max_wait;
        let at = match answer {
            Admission::Now => time,
            Admission::After(wait) => {
                let wait = wait.as_nanos() as u64;
                let distance = wait.saturating_sub(resolution);
                wrong(wait > max_wait || distance > self.interval(), || format!("after {wait}"))?;
                wrong(now + distance <= time, || format!("a wait of {wait} for what is now"))?;
                now + distance
            }
            Admission::Refused { retry_after } => {
                wrong(is_in_time(latest), || format!("needless: {n} fits at {latest}"))?;
                let current = self.start_of(time);
                let has_room = |turn: &&(u64, u64)| turn.0 >= current && turn.1 >= n;
                let vacant = self.vacant.iter().filter(has_room).find(|turn| is_in_time(turn.0));
                wrong(vacant.is_some(), || format!("needless: {n} fits in {vacant:?}"))?;
                let told = retry_after.unwrap_or(Duration::MAX);
                let (least, most) = (nanos(told_for(earliest)), nanos(told_for(latest)));
                return wrong(told < least || told > most, || {
                    format!("retry after {told:?}: {n} fits from {least:?} to {most:?}")
                });
            }
        };
        if at < earliest && self.takes_vacant(self.start_of(at), n) {
            return Ok(()); // it counts already
        }
        wrong(at < earliest, || format!("over: {n} at {at}, which fits from {earliest}"))?;
        wrong(self.start_of(at) > latest, || format!("needless: {n} fits at {latest}, not {at}"))?;
        self.granted(n, at, matches!(answer, Admission::After(_)))
    }

    fn takes_vacant(&mut self, start: u64, n: u64) -> bool {
        let turn = self.vacant.iter_mut().find(|turn| turn.0 == start && turn.1 >= n);
        turn.map(|turn| turn.1 -= n).is_some()
    }

    fn granted(&mut self, n: u64, at: u64, waits: bool) -> Result<(), String> {
        self.grants.push(Grant { n, at, latest: at, waits, may_be_forgotten: false });
        let most = self.most_in_a_run_with(at);
        wrong(most > self.limit, || format!("over: {most} of {} in a run", self.limit))?;
        let most = if self.manner.is_strict { self.most_in_a_span_with(at) } else { 0 };
        wrong(most > self.limit, || format!("over: {most} of {} in a span", self.limit))
    }

    /// Judges whether a gate was retired at `now`, when the clock does not show a new bucket.
    pub(crate) fn retired(&mut self, now: u64, is_retired: bool) -> Result<(), String> {
        let start = self.start_of(now.max(self.reached));
        let counts = |at: u64| self.start_of(at) + self.interval() > start;
        let known = || self.grants.iter().filter(|grant| grant.n > 0);
        let must_stay = known().any(|grant| !grant.may_be_forgotten && counts(grant.at));
        let may_stay = known().any(|grant| counts(grant.latest));
        wrong(is_retired && must_stay, || format!("retired at {now}"))?;
        wrong(!is_retired && !may_stay, || format!("needless: not retired at {now}"))
    }

    /// Judges an admission or a refusal at `now` by a gate that hands out rations; `left` is the
    /// rest of the limit that it then reports.
    pub(crate) fn let_through(
        &mut self,
        now: u64,
        n: u64,
        is_granted: bool,
        left: u64,
    ) -> Result<(), String> {
        let time = self.time(now);
        if is_granted {
            return self.granted(n, time, false);
        }
        wrong(n <= left, || format!("needless: {n} of {left} is refused"))
    }

    /// Judges the statistics of a gate with rations: of its grants, `unused` lies in rations.
    pub(crate) fn counts(
        &self,
        now: u64,
        counted: u64,
        left: u64,
        unused: u64,
    ) -> Result<(), String> {
        let time = now.max(self.reached);
        let is_in = |at: u64| self.start_of(at) + self.interval() > self.start_of(time);
        let known = self.grants.iter().filter(|grant| !grant.may_be_forgotten && is_in(grant.at));
        let least: u64 = known.map(|grant| grant.n).sum();
        let late = self.grants.iter().filter(|grant| is_in(grant.latest));
        let most = late.map(|grant| grant.n).sum::<u64>() + unused;
        let is_counted = (least..=most).contains(&counted);
        wrong(!is_counted, || format!("counts {counted}: from {least} to {most}"))?;
        let is_behind = self.start_of(time) < self.start_of(self.last(time).max(self.until));
        let least = if is_behind { 0 } else { self.limit.saturating_sub(most) };
        wrong(left < least, || format!("needless: {left} left of {least}"))
    }

    /// Returns when the last wait ends; or `time`.
    fn last(&self, time: u64) -> u64 {
        let waits = self.grants.iter().filter(|grant| grant.waits);
        waits.map(|grant| grant.at).fold(time, u64::max)
    }

    /// Grants that lie in rations when the geometry changes may stay counted at that time.
    pub(crate) fn kept(&mut self, unused: u64) {
        let latest = self.until;
        let grant = Grant { n: unused, at: 0, latest, waits: false, may_be_forgotten: true };
        self.grants.push(grant);
    }

    /// The geometry was changed at `now`.
    pub(crate) fn reconfigured(&mut self, now: u64, length: u64, buckets: u64) {
        // A gate knows its time to the bucket: if the clock is behind, its end may have been shown.
        let is_behind = now < self.reached;
        let time = if is_behind { self.start_of(self.reached) + self.length - 1 } else { now };
        let last = self.last(time).max(self.until);
        let new = Judge { manner: self.manner, ..Judge::new(length, buckets, self.limit) };
        // Rations are used until the last bucket that was opened ends: it is as if the change came
        // then.
        let end = self.start_of(last) + self.length - 1;
        let last = if self.manner.is_rationed { end.max(time) } else { last };
        let until = if self.manner.is_rationed { last } else { time.max(self.until) };
        let grants = std::mem::take(&mut self.grants);
        // A gate knows two intervals until the last wait: older grants that it still knows count at
        // their beginning.
        let oldest = new.start_of(last).saturating_sub((2 * buckets - 1) * length);
        let in_grants = |grant: Grant| {
            let at = if grant.waits { grant.at } else { grant.at.min(time) };
            let end = self.start_of(grant.latest) + self.length - 1;
            // As late as it can have been: at the end of its bucket, or now, or when the last wait
            // from before ends.
            let mut latest = grant.latest.max(end.min(until));
            if new.start_of(latest) + new.interval() > new.start_of(time) {
                latest = latest.max(oldest);
            }
            let has_left = self.start_of(at) + self.interval() <= self.start_of(time);
            Grant { at, latest, may_be_forgotten: grant.may_be_forgotten || has_left, ..grant }
        };
        let grants = grants.into_iter().map(in_grants).collect();
        *self = Judge { reached: time, until: last, grants, ..new };
    }
}

fn wrong(is_wrong: bool, how: impl FnOnce() -> String) -> Result<(), String> {
    if is_wrong { Err(how()) } else { Ok(()) }
}

fn nanos(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

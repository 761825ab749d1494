//! Limits in full precision, counted one by one, from the promises.

use std::ops::RangeInclusive;

/// A limit, an interval in nanoseconds, and a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limit {
    pub(super) count: u64,
    pub(super) interval: u64,
    pub(super) burst: u64,
}

/// The end of each limit, in the unit that makes its period a whole number: a nanosecond divided by
/// the limit.
pub(super) type Ends = Vec<i128>;

/// The limits, and the turns that they have granted.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) limits: Vec<Limit>,
    pub(super) ends: Ends,
    /// The moment and the weight of each turn whose caller has given up.
    vacant: Vec<(u64, u64)>,
    /// The latest moment of a turn that was ever vacant.
    latest_vacant: u64,
    turns: Vec<Granted>,
    /// The last moment that a caller was told, or one that is over. A [`Pace`](windrow::Pace) knows
    /// no more of it than its end tells.
    told: i128,
    is_pace: bool,
    /// The limits before each change, and the time from which on the next ones hold alone.
    changes: Vec<(Vec<Limit>, u64)>,
}

/// A turn that a call's own exchange has made, and that is not undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Granted {
    moment: u64,
    weight: u64,
    /// The number of changes before it.
    changes: usize,
}

/// The ends before a call and behind it, and the number of changes before it.
#[derive(Clone, Debug)]
pub(super) struct Undo {
    from: Ends,
    told: i128,
    to: Ends,
    changes: usize,
    moment: u64,
}

/// The answer to a call.
#[derive(Clone, Debug)]
pub(super) enum Expected {
    /// By its own call.
    Taken {
        moment: u64,
        undo: Option<Undo>,
    },
    Vacant {
        moment: u64,
    },
    Refused(Option<u64>),
}

impl Model {
    pub(super) fn new(limits: &[Limit], is_pace: bool) -> Model {
        Model {
            ends: vec![0; limits.len()],
            limits: limits.to_vec(),
            vacant: Vec::new(),
            latest_vacant: 0,
            turns: Vec::new(),
            told: 0,
            is_pace,
            changes: Vec::new(),
        }
    }

    /// Returns the last time that the limiter knows.
    fn last_time(&self) -> i128 {
        if self.is_pace { i128::from(i64::MAX) } else { i128::from(u64::MAX) }
    }

    /// Returns the ends behind a call, and its moment; `None` if it never fits.
    pub(super) fn behind(&self, now: u64, n: u64) -> Option<(Ends, u64)> {
        let (mut behind, mut due) = (self.ends.clone(), i128::from(now));
        for (limit, end) in self.limits.iter().zip(&mut behind) {
            let count = i128::from(limit.count);
            if n > limit.burst {
                return None;
            }
            *end = (*end).max(i128::from(now) * count);
            *end += i128::from(n) * i128::from(limit.interval);
            if *end > self.last_time() * count {
                return None;
            }
            let over = *end - i128::from(limit.burst) * i128::from(limit.interval);
            due = due.max(-(-over).div_euclid(count)); // rounded up
        }
        Some((behind, u64::try_from(due).expect("no earlier than now")))
    }

    /// Answers a call that may wait for `longest` by a reading of the clock.
    pub(super) fn call(&mut self, now: u64, n: u64, longest: Option<u64>) -> Expected {
        if n == 0 {
            return Expected::Taken { moment: now, undo: None };
        }
        let Some((behind, due)) = self.behind(now, n) else { return Expected::Refused(None) };
        if due > now {
            let Some(longest) = longest else { return Expected::Refused(Some(due - now)) };
            let latest = now.saturating_add(longest);
            if let Some(moment) = self.take_vacant(n, now + 1..=latest.min(due - 1)) {
                return Expected::Vacant { moment };
            }
            if due > latest {
                return Expected::Refused(Some(due - now));
            }
        }
        let changes = self.changes.len();
        self.turns.push(Granted { moment: due, weight: n, changes });
        let from = std::mem::replace(&mut self.ends, behind);
        let (to, told) = (self.ends.clone(), self.told);
        if self.is_pace {
            let limit = self.limits[0];
            self.told = told.max((to[0] - limit.span()).div_euclid(i128::from(limit.count)));
        } else if due > now {
            self.told = due.into();
        }
        let undo = Undo { from, told, to, changes, moment: due };
        Expected::Taken { moment: due, undo: Some(undo) }
    }

    /// Takes a weight of the earliest vacant turn that has it, with a moment in `moments`. Forgets
    /// earlier ones, which may come again if the clock steps back; but if all are earlier, there is
    /// no look at them.
    pub(super) fn take_vacant(&mut self, n: u64, moments: RangeInclusive<u64>) -> Option<u64> {
        if self.latest_vacant < *moments.start() {
            return None;
        }
        self.vacant.retain(|turn| turn.0 >= *moments.start());
        let has_it = |turn: &&mut (u64, u64)| turn.0 <= *moments.end() && turn.1 >= n;
        let turn = self.vacant.iter_mut().filter(has_it).min_by_key(|turn| turn.0)?;
        turn.1 -= n;
        let moment = turn.0;
        self.vacant.retain(|turn| turn.1 > 0);
        Some(moment)
    }

    /// Gives a turn back: as if it had never been, if no call and no change is behind it. Otherwise
    /// it is vacant, unless it is at the end of time. Returns whether it is given back.
    pub(super) fn give_back(
        &mut self,
        now: u64,
        (moment, weight): (u64, u64),
        undo: Option<Undo>,
    ) -> bool {
        if let Some(Undo { from, told, to, changes, moment }) = undo
            && (changes, &to) == (self.changes.len(), &self.ends)
        {
            (self.ends, self.told) = (from, told);
            let undone = Granted { moment, weight, changes };
            let at = self.turns.iter().rposition(|turn| *turn == undone).expect("it was granted");
            self.turns.remove(at);
            return true;
        }
        if moment == u64::MAX {
            return false;
        }
        self.latest_vacant = self.latest_vacant.max(moment);
        self.vacant.retain(|turn| turn.0 >= now);
        match self.vacant.iter_mut().find(|turn| turn.0 == moment) {
            Some(turn) => turn.1 += weight,
            None => self.vacant.push((moment, weight)),
        }
        true
    }

    /// Changes a limit. Returns false, and changes nothing, if time ends before what is in use is
    /// over.
    pub(super) fn change(&mut self, now: u64, at: usize, limit: Limit) -> bool {
        let old = self.limits[at];
        if old == limit || is_same(old, limit) {
            return true;
        }
        let (mut limits, mut ends) = (self.limits.clone(), self.ends.clone());
        let (count, next) = (i128::from(old.count), i128::from(limit.count));
        let start = i128::from(now) * count;
        let told = -(old.span() - ends[at]).div_euclid(count); // rounded up
        let told = if self.is_pace { self.told } else { self.told.min(told) };
        limits[at] = limit;
        ends[at] = if ends[at] <= start {
            -(-ends[at]).div_euclid(count) * next
        } else {
            let from = told.max(i128::from(now));
            let in_use = scaled((ends[at] - from * count).max(0), limit, old);
            let in_use = from * next + in_use;
            if told > i128::from(now) { in_use.max(told * next + limit.span()) } else { in_use }
        };
        // Slower limits have at least the burst, at the moment from which a faster one admits.
        let mut order: Vec<usize> = (0..limits.len()).collect();
        let period = |at: &usize| limits[*at].period();
        order.sort_by(|one, other| {
            let ((a, b), (c, d)) = (period(one), period(other));
            (a * d).cmp(&(c * b))
        });
        for slow in &order {
            for fast in &order {
                let ((a, b), (c, d)) = (period(fast), period(slow));
                if a * d >= c * b {
                    continue;
                }
                let (quick, other) = (limits[*fast], limits[*slow]);
                let burst = i128::from(quick.burst.min(other.burst)) * i128::from(quick.interval);
                let least = (ends[*fast] - (quick.span() - burst)).max(0);
                // From parts of the quick one, rounded up to a part of the other.
                let (parts, whole) = (least / quick.unit(), i128::from(quick.count) / quick.unit());
                let factor = i128::from(other.count) / other.unit();
                let rest = -(-(parts % whole * factor)).div_euclid(whole);
                let parts = (parts / whole * factor + rest) * other.unit();
                let rounded = -(-parts).div_euclid(i128::from(other.count));
                if rounded > i128::from(now) && parts > ends[*slow] {
                    ends[*slow] = parts;
                }
            }
        }
        let last_time = self.last_time();
        let last = |(limit, end): (&Limit, &i128)| *end <= last_time * i128::from(limit.count);
        if !limits.iter().zip(&ends).all(last) {
            return false;
        }
        self.ends = ends;
        let before = std::mem::replace(&mut self.limits, limits);
        self.changes.push((before, now.max(told.try_into().unwrap_or(0))));
        true
    }

    /// Panics if the turns of some span are above some limit. For one limit of whole periods, and a
    /// clock that has not stepped back, across the changes, too.
    pub(super) fn judge(mut self, is_across: bool) {
        self.turns.sort_unstable();
        let all: Vec<Vec<Limit>> = self
            .changes
            .iter()
            .map(|(limits, _)| limits.clone())
            .chain([self.limits.clone()])
            .collect();
        for (changes, limits) in all.iter().enumerate() {
            let turns: Vec<&Granted> =
                self.turns.iter().filter(|turn| turn.changes == changes).collect();
            for limit in limits {
                for first in 0..turns.len() {
                    let mut weight = 0;
                    for turn in &turns[first..] {
                        weight += turn.weight;
                        let span = u128::from(turn.moment - turns[first].moment) + 1; // with both
                        // A moment is rounded up, but not that of one limit of whole periods.
                        let span =
                            if limits.len() == 1 && limit.is_whole() { span - 1 } else { span };
                        let periods = span * u128::from(limit.count) / u128::from(limit.interval);
                        let most = u128::from(limit.burst) + periods;
                        assert!(
                            u128::from(weight) <= most,
                            "{weight} in {span} ns under {limit:?}"
                        );
                    }
                }
            }
        }
        if !is_across || !all.iter().all(|limits| limits.len() == 1 && limits[0].is_whole()) {
            return;
        }
        for first in 0..self.turns.len() {
            let (mut weight, from) = (0, self.turns[first].moment);
            for turn in &self.turns[first..] {
                weight += turn.weight;
                let (mut most, mut at, mut burst) = (0.0, from, 0);
                let ends = self.changes.iter().map(|(_, until)| *until).chain([u64::MAX]);
                for (limits, until) in all.iter().zip(ends) {
                    let until = until.min(turn.moment);
                    let part = until.saturating_sub(at);
                    most += part as f64 * limits[0].count as f64 / limits[0].interval as f64;
                    at = at.max(until);
                    burst = burst.max(limits[0].burst);
                }
                assert!(weight as f64 <= burst as f64 + most + 1e-3, "{weight} of {self:?}");
            }
        }
    }
}

impl Limit {
    fn span(&self) -> i128 {
        i128::from(self.burst) * i128::from(self.interval)
    }

    fn unit(&self) -> i128 {
        let (mut one, mut other) = (self.interval, self.count);
        while other > 0 {
            (one, other) = (other, one % other);
        }
        i128::from(one)
    }

    fn period(&self) -> (i128, i128) {
        (i128::from(self.interval), i128::from(self.count))
    }

    pub(super) fn is_whole(&self) -> bool {
        self.interval.is_multiple_of(self.count)
    }
}

/// Returns whether they are one rate and burst, in other numbers.
fn is_same(one: Limit, other: Limit) -> bool {
    let ((a, b), (c, d)) = (one.period(), other.period());
    a * d == b * c && one.burst == other.burst
}

/// Returns the time ahead under another rate, in its units, rounded up to what its periods need.
fn scaled(ahead: i128, to: Limit, from: Limit) -> i128 {
    let ahead = ahead / from.unit(); // without a rest
    let (period, factor) =
        (i128::from(from.interval) / from.unit(), i128::from(to.interval) / to.unit());
    let (whole, rest) = (ahead / period, ahead % period);
    (whole * factor + -(-(rest * factor)).div_euclid(period)) * to.unit()
}

//! The changes of a series that go on, from their beginning to their end.

use super::change::{Change, Course, Of, What};
use super::counts::sum;
use super::evidence::of_share;
use super::judge::Found;
use super::levels::{ABOVE, Levels};
use super::record::{Minute, Minutes, Record};

/// The time in milliseconds for which nothing must be left of a change before it has ended; and in
/// which a change that begins again is still the one before.
const CALM: u64 = 60_000;
const AGAIN: u64 = 300_000;

/// The ages, in milliseconds, at which a change is usual: that of any, and that of more traffic,
/// which a morning brings.
const OLD: u64 = 86_400_000;
const HOUR: u64 = 3_600_000;

/// The age in milliseconds from which a change has a course.
const KNOWN: u64 = 240_000;

/// The least factor between the last two minutes and the two before.
const FACTOR: f64 = 1.25;

/// The changes of a series.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// The changes that go on.
    pub(super) on: Vec<Change>,
    /// The changes that have ended last, of each kind: their beginning and their end.
    ended: [Option<(u64, u64)>; What::ALL.len()],
}

impl Changes {
    pub(super) fn is_on(&self, what: What) -> bool {
        self.on.iter().any(|change| change.what == what)
    }

    /// Returns the end of the last change that has ended.
    pub(super) fn ended(&self) -> Option<u64> {
        self.ended.iter().flatten().map(|(_, end)| *end).max()
    }

    /// Returns the end of the last change of this kind; zero if there was none.
    pub(super) fn ended_of(&self, what: What) -> u64 {
        self.ended[what as usize].map_or(0, |(_, end)| end)
    }

    /// Begins a change that a span has shown.
    pub(super) fn begin(&mut self, found: Found, levels: &Levels, record: &mut Record, now: u64) {
        let Found { what, of, from, to, span } = found;
        let again = self.ended[what as usize].filter(|(_, end)| now < end + AGAIN);
        let since =
            again.map_or_else(|| record.beginning(of, [from, to], span, now), |(since, _)| since);
        if again.is_some() {
            self.ended[what as usize] = None;
        }
        record.minutes.mark(what, since);
        let from = match what {
            What::Slow => levels.usual.percentiles[of.percentile()].map_or(0.0, |of| of.middle),
            _ => from,
        };
        // Yesterday, if that shows it as well.
        let yesterday = levels.season.yesterday.filter(|rate| match what {
            What::Quiet => *rate > to * 2.0,
            What::Busy => *rate * 2.0 < to,
            _ => false,
        });
        let from = yesterday.unwrap_or(from);
        let (course, yesterday) = (Course::New, yesterday.is_some());
        self.on.push(Change { what, since, from, to, course, yesterday, span, of, calm: None });
        self.on.sort_by_key(|change| change.what);
    }

    /// Brings the changes up to date, and ends those of which nothing is left.
    pub(super) fn follow(&mut self, levels: &Levels, record: &Record, now: u64) {
        self.on.retain_mut(|change| {
            set_level(change, record, now.saturating_sub(change.since));
            let is_calm = is_calm(change, levels, record);
            change.calm = is_calm.then(|| change.calm.unwrap_or(now));
            let ends = change.calm.is_some_and(|calm| now >= calm + CALM);
            if ends {
                self.ended[change.what as usize] = change.calm.map(|calm| (change.since, calm));
            }
            !ends
        });
    }

    /// Ends the changes that are so old that they are usual. Their minutes are to be learned before
    /// the next look, or it would find them anew.
    pub(super) fn end_old(&mut self, minutes: &mut Minutes, now: u64) {
        self.on.retain(|change| {
            let usual = if change.what == What::Busy { HOUR } else { OLD };
            let is_old = now.saturating_sub(change.since) > usual;
            if is_old {
                minutes.unmark(change.what);
            }
            !is_old
        });
    }

    /// Compares the last two minutes of each change with the two before.
    pub(super) fn set_courses(&mut self, minutes: &Minutes) {
        for change in &mut self.on {
            change.course = course(change, minutes);
        }
    }
}

/// Sets the current level of a change of this age.
fn set_level(change: &mut Change, record: &Record, age: u64) {
    if change.what == What::Slow {
        change.to = f64::from(record.percentiles[change.of.percentile()]);
        return;
    }
    // Only what belongs to it.
    let seconds = (age as f64 / 1e3).clamp(6.0, change.span.max(60.0));
    let (hits, trials) = record.newest(change.of, seconds);
    if trials > 0.0 {
        change.to = hits / trials;
    }
}

/// Returns whether the last span shows nothing of a change. Without operations, it shows none.
fn is_calm(change: &Change, levels: &Levels, record: &Record) -> bool {
    let Some(level) = levels.of(change.of) else { return false };
    let (hits, trials) = record.newest(change.of, change.span.max(60.0));
    if trials <= 0.0 {
        return true;
    }
    let (now, half) = (hits / trials, levels.settings.factor.sqrt());
    match change.what {
        What::Failing | What::Refused | What::Busy => now < level.high * half,
        What::Slow => (0..ABOVE.len()).all(|at| {
            let (hits, trials) = record.newest(Of::Above(at), change.span.max(60.0));
            hits <= ABOVE[at] * trials
        }),
        What::Quiet => now * half > level.low,
    }
}

/// Compares the last two minutes of a change with the two before.
fn course(change: &Change, minutes: &Minutes) -> Course {
    let newest: Vec<_> = minutes.newest().take(4).collect();
    let [now, .., then] = newest[..] else { return Course::New };
    if now.end < change.since + KNOWN || then.start() < change.since {
        return Course::New;
    }
    let (now, then) = newest.split_at(2);
    let sum = |minutes: &[&Minute]| sum(minutes.iter().map(|minute| minute.hits(change.of)));
    let percentile = |minutes: &[&Minute]| {
        let of_minute = |minute: &&Minute| minute.percentiles[change.of.percentile()];
        f64::from(minutes.iter().map(of_minute).fold(0.0, f32::max))
    };
    let share = |(hits, trials): (f64, f64)| hits / f64::max(trials, 1.0);
    let [before, after] = match change.of {
        Of::Above(_) => [percentile(then), percentile(now)],
        _ => [share(sum(then)), share(sum(now))],
    };
    let is_chance = match change.of {
        Of::Failed | Of::Refused => {
            let ((hits, trials), usual) = (sum(now), share(sum(then)).clamp(1e-6, 0.999));
            of_share(hits, trials, usual) < 3.0
        }
        _ => false,
    };
    let rises = after > before * FACTOR;
    let falls = after * FACTOR < before;
    match (rises || falls) && !is_chance {
        false => Course::Steady,
        true if rises == (change.what != What::Quiet) => Course::Worse,
        true => Course::Better,
    }
}

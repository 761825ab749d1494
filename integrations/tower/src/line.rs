//! The line of the refused requests: each is told to come back when its place has its turn.
//!
//! # Promise
//!
//! A place is never earlier than the moment at which the request would be admitted if no other
//! came, and at most [`LONGEST`] later.
//!
//! # Why
//!
//! Requests that are refused together would all be told the same moment. They would come back
//! together, and all but a few would be refused again. So each refused request takes a place behind
//! the one before it, at the distance that the limit needs to admit it.
//!
//! The line ends at a point in time, which one word holds, so places that are past need no removal.
//! A line that has become too long begins anew at its head. So clients that never come back hold up
//! no other for longer than [`LONGEST`], and the places are spread evenly over that time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use windrow::Timestamp;

/// The longest time for which a refused request is told to wait for those before it.
pub(crate) const LONGEST: Duration = Duration::from_secs(30);

/// The line of the requests that a gate or a pace has refused.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// The end of the line, in nanoseconds of the gate's clock.
    end: AtomicU64,
}

impl Line {
    pub(crate) const fn new() -> Line {
        Line { end: AtomicU64::new(0) }
    }

    /// Takes the next place, and returns the time until its turn. The request would be admitted
    /// after `wait` if no other came, and the next one stands `takes` behind it.
    pub(crate) fn join(&self, now: Timestamp, wait: Duration, takes: Duration) -> Duration {
        let head = now.as_nanos().saturating_add(nanos(wait));
        let last = head.saturating_add(nanos(LONGEST));
        let place_at = |end| if (head..=last).contains(&end) { end } else { head };
        let next = |end| Some(place_at(end).saturating_add(nanos(takes)));
        // Relaxed: the word publishes nothing. The closure always has a next one.
        let end = self.end.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        wait + Duration::from_nanos(place_at(end.unwrap_or_default()) - head)
    }
}

/// Returns a time in nanoseconds, or the greatest number.
fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn places_stand_one_behind_the_other() {
        let line = Line::new();
        let join = |at: u64, wait| line.join(Timestamp::from_millis(at), wait * MS, 10 * MS);
        assert_eq!(
            [join(0, 5), join(0, 5), join(1, 4), join(1, 4)].map(|it| it.as_millis()),
            [5, 15, 24, 34]
        );
        assert_eq!(join(45, 3), 3 * MS, "the line has come to its end");
        assert_eq!(join(20, 3), 38 * MS, "a clock that steps back");
    }

    #[test]
    fn a_line_that_is_too_long_begins_anew() {
        let line = Line::new();
        let join = || line.join(Timestamp::from_secs(7), MS, Duration::from_secs(1));
        for _ in 0..3 {
            for place in 0..=30 {
                assert_eq!(join(), MS + Duration::from_secs(place));
            }
        }
    }

    /// Times beyond what a timestamp holds neither overflow nor make a wait shorter.
    #[test]
    fn at_the_end_of_time_a_wait_is_the_true_one() {
        let line = Line::new();
        for (now, wait, takes) in [
            (u64::MAX, MS, MS),
            (u64::MAX, Duration::MAX, MS),
            (u64::MAX - 1, MS, Duration::MAX),
            (0, MS, Duration::MAX),
            (0, Duration::MAX, Duration::ZERO),
        ] {
            assert_eq!(line.join(Timestamp::from_nanos(now), wait, takes), wait);
        }
    }

    #[test]
    fn no_two_threads_take_one_place() {
        let line = Line::new();
        let join = || (0..1_000).map(|_| line.join(Timestamp::from_secs(1), MS, MS)).collect();
        let mut places: Vec<Duration> = thread::scope(|scope| {
            let other = scope.spawn(join);
            let mut all: Vec<_> = join();
            all.extend(other.join().expect("a thread"));
            all
        });
        places.sort_unstable();
        assert!(places.iter().eq(&(1..=2_000).map(|place| place * MS).collect::<Vec<_>>()));
    }
}

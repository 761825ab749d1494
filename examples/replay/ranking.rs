//! A window that follows a log, and the busiest of the buckets that have left it.

use std::time::Duration;

use windrow::clock::Manual;
use windrow::kind::EventKind;
use windrow::{Event, SlidingWindow, Stats, Timestamp, snapshot::BucketSnapshot};

use crate::entry::Entry;

/// The greatest time by which a line may lead those before it, for the window to follow.
pub(crate) const LEAD: Duration = Duration::from_secs(30 * 24 * 3_600);

windrow::events! {
    /// The events of a line of the log.
    pub(crate) enum Log {
        /// A request: every line.
        Request: Count,
        /// A status of 400 to 499.
        ClientError: Count,
        /// A status of 500 and above.
        ServerError: Count,
        /// The size of the body.
        Bytes: Count,
        /// The response time in microseconds.
        Time: Value,
    }
}

/// A bucket that no line can change any more.
pub(crate) type Bucket = BucketSnapshot<Log>;

/// Counts lines and ranks the buckets by requests.
pub(crate) struct Ranking {
    window: SlidingWindow<Log, Manual>,
    clock: Manual,
    /// The newest time seen.
    newest: Timestamp,
    /// The buckets with the most requests, busiest first; the earlier first where they are equal.
    pub(crate) busiest: Vec<Bucket>,
    places: usize,
    /// The requests in all buckets that were ranked, whether they won a place or not.
    pub(crate) ranked: u64,
}

impl Ranking {
    /// Ranks the busiest `places` of all buckets of this `length`, keeping 60 open to lines that
    /// come late.
    pub(crate) fn new(length: Duration, places: usize) -> Ranking {
        let clock = Manual::default();
        let window = SlidingWindow::builder()
            .interval(60 * length)
            .buckets(60)
            .max_lead(LEAD)
            .clock(clock.clone())
            .build()
            .expect("60 times a length makes 60 buckets, and a manual clock suits any");
        let newest = Timestamp::default();
        Ranking { window, clock, newest, busiest: Vec::new(), places, ranked: 0 }
    }

    /// Counts a line in the bucket of its own time.
    pub(crate) fn count(&mut self, entry: &Entry) {
        if entry.at > self.newest && entry.at - self.newest <= LEAD {
            self.advance(entry.at);
        }
        // Where the line is older than others before it, this sets the clock back: the window
        // back-dates the adds into the bucket that they name or, if that has left, counts them
        // late. It does the same with a line that leads the newest bucket by more than the window
        // follows.
        self.clock.set(entry.at);
        self.window.add(Log::Request, 1);
        match entry.status {
            400..=499 => self.window.add(Log::ClientError, 1),
            500.. => self.window.add(Log::ServerError, 1),
            _ => {}
        }
        self.window.add(Log::Bytes, entry.bytes);
        if let Some(time) = entry.time {
            self.window.record(Log::Time, time);
        }
    }

    /// Begins at the time of the first line.
    pub(crate) fn begin(&mut self, at: Timestamp) {
        self.clock.set(at);
        self.window.clear().expect("there is memory for 60 buckets more");
        self.newest = at;
    }

    /// Moves on to a newer time, ranking the buckets that leave the window by it.
    fn advance(&mut self, to: Timestamp) {
        self.clock.set(self.newest);
        let interval = self.window.interval();
        let length = interval / self.window.buckets() as u32;
        let current = self.newest - Duration::from_nanos(self.newest.as_nanos() % bucket(length));
        if to >= current + length {
            let oldest = to - Duration::from_nanos(to.as_nanos() % bucket(length));
            self.rank(|start| start + interval <= oldest);
        }
        self.newest = to;
    }

    /// Ranks the buckets that are still in the window: the log is at its end.
    pub(crate) fn finish(&mut self) {
        self.clock.set(self.newest);
        self.rank(|_| true);
    }

    fn rank(&mut self, leaves: impl Fn(Timestamp) -> bool) {
        for bucket in self.window.snapshot().buckets() {
            let requests = bucket.sum(Log::Request);
            if requests == 0 || !leaves(bucket.start()) {
                continue;
            }
            self.ranked += requests;
            let place = self.busiest.partition_point(|held| held.sum(Log::Request) >= requests);
            if place < self.places {
                self.busiest.insert(place, bucket.clone());
                self.busiest.truncate(self.places);
            }
        }
    }

    /// Everything ever counted.
    pub(crate) fn lifetime<K: EventKind>(&self, event: Event<Log, K>) -> Stats {
        self.window.lifetime(event)
    }

    /// Returns the requests that came too late for their bucket.
    pub(crate) fn late(&self) -> u64 {
        self.window.late(Log::Request).count
    }
}

fn bucket(length: Duration) -> u64 {
    length.as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranking(seconds: &[u64]) -> Ranking {
        let mut ranking = Ranking::new(Duration::from_secs(1), 2);
        ranking.begin(Timestamp::from_secs(1_000));
        for second in seconds {
            let at = Timestamp::from_millis(1_000 * second);
            ranking.count(&Entry { at, status: 404, bytes: 10, time: Some(*second) });
        }
        ranking.finish();
        ranking
    }

    fn busiest(ranking: &Ranking) -> Vec<(u64, u64)> {
        let pair =
            |bucket: &Bucket| (bucket.start().as_nanos() / 1_000_000_000, bucket.sum(Log::Request));
        ranking.busiest.iter().map(pair).collect()
    }

    #[test]
    fn the_busiest_come_first() {
        let ranking = ranking(&[1_000, 1_001, 1_001, 1_002, 1_002, 1_002, 1_003]);
        assert_eq!(busiest(&ranking), [(1_002, 3), (1_001, 2)]);
        assert_eq!(ranking.lifetime(Log::ClientError).count, 7);
        assert_eq!(ranking.lifetime(Log::Bytes).sum, 70);
        assert_eq!(ranking.lifetime(Log::Time).max, Some(1_003));
    }

    #[test]
    fn a_line_out_of_order_counts_in_its_own_second() {
        let ranking = ranking(&[1_000, 1_050, 1_001, 1_001, 1_059, 1_000, 1_000]);
        assert_eq!(busiest(&ranking), [(1_000, 3), (1_001, 2)]);
        assert_eq!((ranking.ranked, ranking.late()), (7, 0));
    }

    #[test]
    fn a_line_too_late_is_late_and_not_lost() {
        let ranking = ranking(&[1_000, 1_060, 1_000, 1_001, 90_000, 1_060, 90_000]);
        assert_eq!(busiest(&ranking), [(90_000, 2), (1_000, 1)]);
        assert_eq!((ranking.ranked, ranking.late()), (5, 2));
        assert_eq!(ranking.lifetime(Log::Request).count, 7);
    }
}

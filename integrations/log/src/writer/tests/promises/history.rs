//! Histories: the lines handed to a log, and the ends of its processes.

use fastrand::Rng;

/// A second, in milliseconds.
pub(super) const SECOND: i64 = 1_000;

/// The beginning of histories, in milliseconds since 1970.
pub(super) const BEGIN: i64 = 1_800_000_000_000;

/// A bucket. Its number is its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bucket {
    pub(super) number: u64,
    /// The end of the bucket, in milliseconds since 1970.
    pub(super) end: i64,
    pub(super) length: i64,
}

/// An event of a history.
#[derive(Clone, Debug)]
pub(super) enum Event {
    /// Buckets have closed, and are written at this time.
    Write(i64, Vec<Bucket>),
    Flush,
    /// The process is killed, and another one begins.
    Kill,
}

/// Writes about a second apart, of buckets of a second, a minute, an hour and a day, which ended
/// since the last; with processes that are killed. The wall clock may be set, back and forth.
pub(super) fn history(rng: &mut Rng, is_set: bool) -> Vec<Event> {
    let (mut now, mut number) = (BEGIN, 0);
    let mut events = Vec::new();
    for _ in 0..40 {
        now += rng.i64(1..3) * SECOND;
        match rng.u8(..20) {
            0 => events.push(Event::Kill),
            1 => events.push(Event::Flush),
            2 if is_set => now -= [90, 3_600][rng.usize(..2)] * SECOND,
            3 if is_set => now += 3_600 * SECOND,
            _ => {}
        }
        let mut over: Vec<Bucket> = (0..rng.usize(..4))
            .map(|_| {
                number += 1;
                let length = [1, 1, 1, 1, 1, 60, 3_600, 86_400][rng.usize(..8)] * SECOND;
                Bucket { number, end: now - rng.i64(0..SECOND), length }
            })
            .collect();
        over.sort_by_key(|bucket| bucket.end);
        events.push(Event::Write(now, over));
    }
    events
}

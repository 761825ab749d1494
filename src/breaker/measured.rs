//! The outcomes by which a breaker is judged, in words: without atomics, and without a clock.
//!
//! The last `n` calls are two rings of bits: whether a call failed, whether it was slow. An
//! interval is a ring of buckets, a word each.

use super::settings::Terms;
use crate::last_calls::{CallTotals, Outcome};
use crate::sync::sized;

/// The words of the two rings of bits, or of the buckets.
const RING: usize = sized(32, 2);
/// All words.
pub(super) const WORDS: usize = 6 + RING;

/// The greatest number of calls.
pub(super) const MOST_CALLS: usize = RING / 2 * 64;
/// The greatest number of buckets.
pub(super) const MOST_BUCKETS: usize = RING;

/// The bits of a number in a bucket's word.
const FIELD: u32 = 21;
/// The greatest number of calls that a bucket counts: at the next one, its numbers are halved.
const FULL: u64 = (1 << FIELD) - 1;

/// The calls by which a breaker is judged.
#[derive(Clone, Copy, Debug)]
pub(super) enum Window {
    /// The last calls: at most [`MOST_CALLS`].
    LastCalls { size: u64 },
    /// Those of an interval, in at most [`MOST_BUCKETS`] buckets of a length in nanoseconds.
    Interval { length: u64, buckets: u64 },
}

/// The calls that were measured. Zeros are those of a new breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Measured {
    /// The generation of the breaker to which the window belongs.
    generation: u64,
    /// The number of calls in the window ever; of an interval, the number of its newest bucket.
    at: u64,
    /// The failed calls and the slow ones of the last calls, packed.
    kept: u64,
    /// All-time totals, by whatever generation.
    pub(super) succeeded: u64,
    pub(super) failed: u64,
    pub(super) slow: u64,
    ring: [u64; RING],
}

impl Measured {
    pub(super) fn of(words: [u64; WORDS]) -> Measured {
        let [generation, at, kept, succeeded, failed, slow, ref ring @ ..] = words;
        Measured { generation, at, kept, succeeded, failed, slow, ring: *ring }
    }

    pub(super) fn words(self) -> [u64; WORDS] {
        let Measured { generation, at, kept, succeeded, failed, slow, ring } = self;
        let mut words = [0; WORDS];
        words[..6].copy_from_slice(&[generation, at, kept, succeeded, failed, slow]);
        words[6..].copy_from_slice(&ring);
        words
    }

    /// Adds an outcome to the all-time totals.
    pub(super) fn count(&mut self, outcome: Outcome) {
        let of_outcome = if outcome.failed { &mut self.failed } else { &mut self.succeeded };
        *of_outcome = of_outcome.wrapping_add(1);
        self.slow = self.slow.wrapping_add(outcome.slow.into());
    }

    /// Records the outcome of a call of a generation, at the time `now`, and returns the totals of
    /// the window. `None` if the window is of a later generation: then nothing changes. A window of
    /// an earlier one begins anew.
    pub(super) fn record(
        &mut self,
        generation: u64,
        outcome: Outcome,
        now: u64,
        terms: &Terms,
    ) -> Option<CallTotals> {
        if generation < self.generation {
            return None;
        }
        if generation > self.generation {
            self.begin_anew();
            self.generation = generation;
        }
        match terms.window {
            Window::LastCalls { size } => self.replace(size, outcome),
            Window::Interval { length, buckets } => {
                self.turn(now / length, buckets);
                let bucket = &mut self.ring[(now / length % buckets) as usize];
                *bucket = counted(*bucket, outcome);
            }
        }
        Some(self.totals(generation, now, terms))
    }

    /// Returns the totals of the window of a generation at the time `now`: none, if it is of an
    /// earlier generation.
    pub(super) fn totals(&self, generation: u64, now: u64, terms: &Terms) -> CallTotals {
        if self.generation < generation {
            return CallTotals::default();
        }
        match terms.window {
            Window::LastCalls { size } => {
                let (failed, slow) = (self.kept >> 32, self.kept & u64::from(u32::MAX));
                CallTotals { calls: self.at.min(size), failed, slow }
            }
            Window::Interval { length, buckets } => {
                let oldest = (now / length).saturating_sub(buckets - 1);
                let newest = self.at;
                let counts = (oldest.max(newest.saturating_sub(buckets - 1))..=newest)
                    .map(|bucket| self.ring[(bucket % buckets) as usize]);
                counts.fold(CallTotals::default(), |sum, bucket| {
                    let [calls, failed, slow] = fields(bucket);
                    CallTotals {
                        calls: sum.calls + calls,
                        failed: sum.failed + failed,
                        slow: sum.slow + slow,
                    }
                })
            }
        }
    }

    fn begin_anew(&mut self) {
        (self.at, self.kept, self.ring) = (0, 0, [0; RING]);
    }

    /// Writes the outcome of a call over that of `size` calls before.
    fn replace(&mut self, size: u64, outcome: Outcome) {
        let place = (self.at % size) as usize;
        let (failed, slow) = self.ring.split_at_mut(RING / 2);
        let failed = exchange_bit(&mut failed[place / 64], place % 64, outcome.failed);
        let slow = exchange_bit(&mut slow[place / 64], place % 64, outcome.slow);
        self.kept = self.kept.wrapping_add(failed << 32).wrapping_add(slow);
        self.at += 1;
    }

    /// Makes room for the bucket with a number. A clock that has stepped back by the whole interval
    /// begins it anew.
    fn turn(&mut self, bucket: u64, buckets: u64) {
        if bucket > self.at {
            for passed in 0..(bucket - self.at).min(buckets) {
                self.ring[((bucket - passed) % buckets) as usize] = 0;
            }
            self.at = bucket;
        } else if self.at - bucket >= buckets {
            self.begin_anew();
            self.at = bucket;
        }
    }
}

/// Sets a bit, and returns what the number of set bits changes by, wrapping.
fn exchange_bit(word: &mut u64, bit: usize, to: bool) -> u64 {
    let before = *word >> bit & 1;
    *word = *word & !(1 << bit) | u64::from(to) << bit;
    u64::from(to).wrapping_sub(before)
}

/// Returns a bucket's calls, failed calls and slow calls.
fn fields(bucket: u64) -> [u64; 3] {
    [0, 1, 2].map(|at| bucket >> (at * FIELD) & FULL)
}

/// Returns a bucket with a call more. A full one is halved first, which keeps its shares.
fn counted(bucket: u64, outcome: Outcome) -> u64 {
    let [calls, failed, slow] = match fields(bucket) {
        [FULL, failed, slow] => [FULL / 2, failed / 2, slow / 2],
        room => room,
    };
    let (failed, slow) = (failed + u64::from(outcome.failed), slow + u64::from(outcome.slow));
    (calls + 1) | failed << FIELD | slow << (2 * FIELD)
}

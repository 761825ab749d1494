//! The outcomes by which a breaker is judged, in words: without atomics, and without a clock.
//!
//! The last `n` calls are two rings of bits: whether a call failed, whether it was slow. An
//! interval is a ring of buckets, a word each.

use super::terms::{Terms, Window};
use crate::last_calls::{CallTotals, Outcome};
use crate::sync::sized;

/// The words of the two rings of bits, or of the buckets.
const RING: usize = sized(32, 2);
/// All words.
pub(super) const WORDS: usize = FIRST + RING;

/// The greatest number of calls.
pub(super) const MOST_CALLS: usize = RING / 2 * 64;
/// The greatest number of buckets.
pub(super) const MOST_BUCKETS: usize = RING;

/// The bits of a number in a bucket's word.
const FIELD: u32 = 21;
/// The greatest number of calls that a bucket counts: at the next one, its numbers are halved.
const FULL: u64 = (1 << FIELD) - 1;

/// The calls that were measured, in the words that are exchanged. Zeros are those of a new breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Measured(pub(super) [u64; WORDS]);

/// The word of the breaker's generation to which the window belongs.
const GENERATION: usize = 0;
/// The number of calls in the window ever; of an interval, the number of its newest bucket.
const AT: usize = 1;
/// The failed calls and the slow ones of the last calls, packed.
const KEPT: usize = 2;
/// All-time totals, of all generations.
const SUCCEEDED: usize = 3;
const FAILED: usize = 4;
const SLOW: usize = 5;
/// The first word of the window's ring.
const FIRST: usize = 6;

impl Measured {
    /// Returns the all-time totals: calls that succeeded, that failed, and that were slow.
    #[inline]
    pub(super) fn ever(&self) -> [u64; 3] {
        [SUCCEEDED, FAILED, SLOW].map(|at| self.0[at])
    }

    /// Adds an outcome to the all-time totals.
    pub(super) fn count(&mut self, outcome: Outcome) {
        let of_outcome = &mut self.0[if outcome.failed { FAILED } else { SUCCEEDED }];
        *of_outcome = of_outcome.wrapping_add(1);
        self.0[SLOW] = self.0[SLOW].wrapping_add(outcome.slow.into());
    }

    /// Records the outcome of a call of a generation, at the time `now`, and returns the totals of
    /// the window. `None` if the window is of a later generation: then nothing changes. A window of
    /// an earlier one begins anew.
    #[inline]
    pub(super) fn record(
        &mut self,
        generation: u64,
        outcome: Outcome,
        now: u64,
        terms: &Terms,
    ) -> Option<CallTotals> {
        if generation < self.0[GENERATION] {
            return None;
        }
        if generation > self.0[GENERATION] {
            self.begin_anew();
            self.0[GENERATION] = generation;
        }
        Some(match terms.window {
            Window::LastCalls { size } => {
                self.replace(size, outcome);
                self.last_calls(size)
            }
            Window::Interval { length, buckets } => {
                let number = now / length;
                self.turn(number, buckets);
                let bucket = self.bucket(number, buckets);
                *bucket = counted(*bucket, outcome);
                // None is too old: the newest one is that of `now`, or a later one.
                sum(&self.0[FIRST..FIRST + buckets as usize])
            }
        })
    }

    /// Returns the totals of the window of a generation at the time `now`: none, if it is of an
    /// earlier generation.
    #[inline]
    pub(super) fn totals(&self, generation: u64, now: u64, terms: &Terms) -> CallTotals {
        if self.0[GENERATION] < generation {
            return CallTotals::default();
        }
        match terms.window {
            Window::LastCalls { size } => self.last_calls(size),
            Window::Interval { length, buckets } => {
                let mut now_on = *self;
                if now / length > self.0[AT] {
                    now_on.turn(now / length, buckets);
                }
                sum(&now_on.0[FIRST..FIRST + buckets as usize])
            }
        }
    }

    #[inline]
    fn last_calls(&self, size: u64) -> CallTotals {
        let (failed, slow) = (self.0[KEPT] >> 32, self.0[KEPT] & u64::from(u32::MAX));
        CallTotals { calls: self.0[AT].min(size), failed, slow }
    }

    #[inline]
    fn begin_anew(&mut self) {
        (self.0[AT], self.0[KEPT]) = (0, 0);
        self.0[FIRST..].fill(0);
    }

    /// Returns the word of a bucket that is in the ring.
    fn bucket(&mut self, number: u64, buckets: u64) -> &mut u64 {
        &mut self.0[FIRST + (number % buckets) as usize]
    }

    /// Writes the outcome of a call over that of `size` calls before.
    fn replace(&mut self, size: u64, outcome: Outcome) {
        let place = (self.0[AT] % size) as usize;
        let (word, bit) = (FIRST + place / 64, place % 64);
        let failed = exchange_bit(&mut self.0[word], bit, outcome.failed);
        let slow = exchange_bit(&mut self.0[word + RING / 2], bit, outcome.slow);
        self.0[KEPT] = self.0[KEPT].wrapping_add(failed << 32).wrapping_add(slow);
        self.0[AT] += 1;
    }

    /// Makes room for the bucket with a number. A clock that has stepped back by the whole interval
    /// begins it anew.
    #[inline]
    fn turn(&mut self, bucket: u64, buckets: u64) {
        let newest = self.0[AT];
        if bucket > newest {
            for passed in 0..(bucket - newest).min(buckets) {
                *self.bucket(bucket - passed, buckets) = 0;
            }
            self.0[AT] = bucket;
        } else if newest - bucket >= buckets {
            self.begin_anew();
            self.0[AT] = bucket;
        }
    }
}

/// Sets a bit, and returns what the number of set bits changes by, wrapping.
fn exchange_bit(word: &mut u64, bit: usize, to: bool) -> u64 {
    let before = *word >> bit & 1;
    *word = *word & !(1 << bit) | u64::from(to) << bit;
    u64::from(to).wrapping_sub(before)
}

/// Returns the sums of buckets.
#[inline]
fn sum(buckets: &[u64]) -> CallTotals {
    buckets.iter().fold(CallTotals::default(), |sum, bucket| {
        let [calls, failed, slow] = fields(*bucket);
        CallTotals { calls: sum.calls + calls, failed: sum.failed + failed, slow: sum.slow + slow }
    })
}

/// Returns a bucket's calls, failed calls and slow calls.
fn fields(bucket: u64) -> [u64; 3] {
    [0, 1, 2].map(|at| bucket >> (at * FIELD) & FULL)
}

/// Returns a bucket with a call more. A full one is halved first, which keeps its shares.
#[inline]
fn counted(bucket: u64, outcome: Outcome) -> u64 {
    let [calls, failed, slow] = match fields(bucket) {
        [FULL, failed, slow] => [FULL / 2, failed / 2, slow / 2],
        room => room,
    };
    let (failed, slow) = (failed + u64::from(outcome.failed), slow + u64::from(outcome.slow));
    (calls + 1) | failed << FIELD | slow << (2 * FIELD)
}

//! Draining: handing out closed buckets, each once, by generation, and within each in the order of
//! their starts.
//!
//! A *cursor* (see `cursor`) says which buckets have had their turn. One drain at a time moves it;
//! another drain that comes meanwhile finds nothing to do, and does not wait. A drain hands out a
//! bucket's own numbers. So a change of geometry, which merges buckets for readers, neither hides
//! one nor has one handed out twice. A ring that forgets the one before (see `change`) begins its
//! turns behind all buckets that had one, in whichever geometry, since a ring last forgot. Where
//! buckets are gone, the carried numbers keep those that still await their turn apart. These come
//! first, since they are the oldest.
//!
//! A bucket that is not final when its turn comes holds up those after it: order is kept. A drain
//! passes over a bucket that holds nothing: a window is built with one, and changes of geometry
//! open others. It passes over a bucket that has left the ring before its turn, and over what is
//! counted in a bucket after its turn. Both are in `lifetime`, and in nothing that was handed out.
//! (If a thread stalls while it closes a bucket, through two changes of geometry, the buckets of
//! the next generation come before it.)
//!
//! Each look continues behind the cursor, in whichever generation that is, so that a drain of many
//! buckets looks at each slot once.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::reclaim::{self, Guard};
use crate::ring::Ring;
use crate::ring::order::bucket_ref::BucketRef;
use crate::ring::order::generation::{Generation, Passed};
use crate::ring::order::slots::{Lookup, Slots};

/// The turn of a bucket.
struct Turn<'r> {
    start: u64,
    /// In nanoseconds.
    length: u64,
    numbers: Numbers<'r>,
    /// The cursor after this turn.
    passed: Passed,
}

enum Numbers<'r> {
    Bucket(BucketRef<'r>),
    Carried(Arc<[u64]>),
}

impl Ring {
    /// Calls `each` with every closed bucket that has not had its turn, until it breaks: with the
    /// start, the length and the numbers. Returns the number of these buckets.
    pub(crate) fn drain(
        &self,
        mut each: impl FnMut(u64, u64, &dyn Fn(usize) -> u64) -> ControlFlow<()>,
    ) -> usize {
        self.close_retired();
        let Some(draining) = self.cursor.drain() else {
            return 0;
        };
        let mut count = 0;
        loop {
            let guard = reclaim::pin_apart();
            let Some(look) = draining.look() else {
                return count;
            };
            let Some(Turn { start, length, numbers, passed }) = self.next_turn(look.passed, &guard)
            else {
                return count;
            };
            if !draining.advance(&look, passed) {
                continue; // the geometry has changed
            }
            drop(guard); // `each` may take its time
            count += 1;
            let goes_on = match numbers {
                Numbers::Bucket(bucket) => {
                    each(start, length, &|position| self.store.number(&bucket, position))
                }
                Numbers::Carried(numbers) => each(start, length, &|position| numbers[position]),
            };
            if goes_on.is_break() {
                return count;
            }
        }
    }

    /// Returns the next turn; `None` if there is none, or none yet.
    #[inline]
    fn next_turn(&self, passed: Passed, guard: &Guard) -> Option<Turn<'_>> {
        let current = self.acquire_current();
        // SAFETY: of a bucket that is current under the guard.
        let generation: &Generation = unsafe { current.generation(guard).deref() };
        if let Some(turn) = carried_turn(generation, passed) {
            return Some(turn);
        }
        // The oldest generation first.
        let older = generation.inherited.iter().rev();
        let older =
            older.map(|old| (old.number, &*old.slots, old.first_turn, old.changes[0].newest));
        let (number, first_turn) = (generation.number, generation.first_turn);
        let present = (number, &*generation.slots, first_turn, current.start());
        for (number, slots, first_turn, newest) in older.chain([present]) {
            let Some(start) = first_start(passed, number, slots, newest) else {
                continue;
            };
            let mut start = start.max(first_turn);
            loop {
                // SAFETY: buckets live as long as the window.
                if let Lookup::Found(bucket) = unsafe { slots.find(start) }
                    && bucket.rank() < current.rank()
                    && !(bucket.is_final() && self.is_empty(&bucket))
                {
                    let is_final = bucket.is_final();
                    let length = slots.geometry.length_at(start);
                    let until = Some(generation.until(passed, start.saturating_add(length)));
                    let passed = Passed { bucket: Some(bucket.rank()), until, ..passed };
                    let numbers = Numbers::Bucket(bucket);
                    return is_final.then_some(Turn { start, length, numbers, passed });
                }
                if start >= newest {
                    break;
                }
                start += slots.geometry.length();
            }
        }
        None
    }
}

/// Returns the turn of the first of a generation's carried numbers that have not had it.
#[inline]
fn carried_turn<'r>(generation: &Generation, passed: Passed) -> Option<Turn<'r>> {
    let number = generation.number;
    let waiting = generation.waiting(passed).next();
    waiting.map(|(start, waiting)| {
        let length = generation.geometry().length_at(start);
        let until = Some(generation.until(passed, start.saturating_add(length)));
        let passed = Passed { carried: Some((number, start)), until, ..passed };
        Turn { start, length, numbers: Numbers::Carried(Arc::clone(waiting)), passed }
    })
}

/// Returns the first start in a generation's slots that has not had its turn, up to `newest`.
#[inline]
fn first_start(passed: Passed, number: u64, slots: &Slots, newest: u64) -> Option<u64> {
    let oldest = slots.geometry.oldest(newest);
    match passed.bucket {
        Some((last, _)) if last > number => None,
        Some((last, start)) if last == number => {
            let next = start.checked_add(slots.geometry.length())?;
            (next <= newest).then_some(next.max(oldest))
        }
        _ => Some(oldest),
    }
}

//! Handing out closed buckets, each once: by generation, and in each in the order of their starts.
//!
//! A *cursor* (see `cursor`) says whose turn has passed. It is moved by one drain at a time; another
//! one that comes meanwhile finds nothing to do, and nobody waits. What is handed out is a bucket's own
//! numbers, so that a change of geometry, which merges buckets for readers, neither hides one nor hands
//! one out twice. Where buckets are gone, what is carried remembers beside its numbers those of them
//! that still await their turn: these come first, since they are the oldest.
//!
//! A bucket whose turn comes while it is not final yet holds up those after it: order is kept. One
//! that has left the ring before its turn is passed over; and so is what is counted in a bucket after
//! its turn. Both are in `lifetime`, and in nothing that was handed out. (Should a thread stand still while
//! it closes a bucket, through two changes of geometry, those of the next generation come before it.)
//!
//! Each look goes on behind the cursor, in whichever generation that is: a drain of many buckets looks
//! at each place once.

use std::sync::Arc;

use crate::reclaim::{self, Guard};
use crate::ring::Ring;
use crate::ring::bucket_ref::BucketRef;
use crate::ring::cursor::Passed;
use crate::ring::generation::Generation;
use crate::ring::slots::Slots;

/// A bucket's turn.
struct Turn<'r> {
    start: u64,
    /// It ends so many nanoseconds after its start.
    length: u64,
    numbers: Numbers<'r>,
    /// Where the cursor is behind it.
    passed: Passed,
}

enum Numbers<'r> {
    Bucket(BucketRef<'r>),
    Carried(Arc<[u64]>),
}

impl Ring {
    /// Hands every closed bucket whose turn has not passed to `each`: its start, its length and its
    /// numbers. Returns how many there were.
    pub(crate) fn drain(&self, mut each: impl FnMut(u64, u64, &dyn Fn(usize) -> u64)) -> usize {
        self.close_retired();
        let Some(draining) = self.cursor.drain() else {
            return 0;
        };
        let mut count = 0;
        loop {
            let guard = reclaim::pin();
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
            match numbers {
                Numbers::Bucket(bucket) => {
                    each(start, length, &|position| self.store.number(&bucket, position));
                }
                Numbers::Carried(numbers) => each(start, length, &|position| numbers[position]),
            }
            count += 1;
        }
    }

    /// The bucket whose turn it is; `None` if there is none, or none yet.
    fn next_turn(&self, passed: Passed, guard: &Guard) -> Option<Turn<'_>> {
        let current = self.acquire_current();
        // SAFETY: of a bucket that is current under the guard.
        let generation: &Generation = unsafe { current.generation(guard).deref() };
        if let Some(turn) = carried_turn(generation, passed) {
            return Some(turn);
        }
        // The oldest generation first.
        let older = generation.inherited.iter().rev();
        let older = older.map(|old| (old.number, &*old.slots, old.changes[0].newest));
        let present = (generation.number, &*generation.slots, current.start());
        for (number, slots, newest) in older.chain([present]) {
            let Some(mut start) = first_start(passed, number, slots, newest) else {
                continue;
            };
            loop {
                // SAFETY: buckets live as long as the window.
                let held = unsafe { slots.acquire(start) };
                if let Some(bucket) = held.filter(|held| held.start() == start)
                    && bucket.rank() < current.rank()
                {
                    let is_final = bucket.is_final();
                    let length = slots.geometry.length_at(start);
                    let passed = Passed { bucket: Some(bucket.rank()), ..passed };
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

/// The first of what a generation carries whose turn has not passed.
fn carried_turn<'r>(generation: &Generation, passed: Passed) -> Option<Turn<'r>> {
    let number = generation.number;
    let waiting = generation.waiting(passed).next();
    waiting.map(|(start, waiting)| Turn {
        start,
        length: generation.geometry().length_at(start),
        numbers: Numbers::Carried(Arc::clone(waiting)),
        passed: Passed { carried: Some((number, start)), ..passed },
    })
}

/// The first start in a generation's slots whose turn has not passed, of those up to `newest`.
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

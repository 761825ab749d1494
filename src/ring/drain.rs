//! Handing out closed buckets, each once, in the order in which they were live.
//!
//! A *cursor* says whose turn has passed. It is moved by one drain at a time; another one that comes
//! meanwhile finds nothing to do, and nobody waits. What is handed out is a header's own numbers, so
//! that a change of geometry, which merges buckets for readers, neither hides one nor hands one out
//! twice.
//!
//! A bucket whose turn comes while it is not final yet holds up those after it: order is kept. One
//! that has left the ring before its turn is passed over; and so is what is counted in a bucket after
//! its turn. Both are in `lifetime`, and in nothing that was handed out. Once a window is drained, a
//! change of geometry carries no numbers over whose turn has not come (see `reconfigure`): they would
//! lose their bucket.

use std::sync::{Mutex, MutexGuard, TryLockError};

use crate::reclaim::{self, Guard};
use crate::ring::Ring;
use crate::ring::generation::Generation;
use crate::ring::hold::Held;
use crate::ring::slots::Slots;

/// Whose turn has passed.
#[derive(Debug, Default)]
pub(super) struct Cursor(Mutex<Passed>);

#[derive(Debug, Default)]
struct Passed {
    /// Somebody has asked for closed buckets.
    begun: bool,
    /// The place of the bucket that was handed out last.
    last: Option<(u64, u64)>,
}

impl Cursor {
    /// Locks it; `None` if somebody is draining.
    fn lock(&self) -> Option<MutexGuard<'_, Passed>> {
        match self.0.try_lock() {
            Ok(passed) => Some(passed),
            // Somebody's callback has panicked: that bucket's turn has passed.
            Err(TryLockError::Poisoned(passed)) => Some(passed.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// A bucket's turn.
enum Turn<'r> {
    /// It can be handed out; it ends so many nanoseconds after its start.
    Ready(Held<'r>, u64),
    /// It is not final yet.
    NotYet,
    /// There is nothing in this slot to hand out.
    Nothing,
}

impl Ring {
    /// Hands every closed bucket whose turn has not passed to `each`: its start, its length and its
    /// numbers. Returns how many there were.
    pub(crate) fn drain(&self, mut each: impl FnMut(u64, u64, &dyn Fn(usize) -> u64)) -> usize {
        self.settle();
        let Some(mut passed) = self.cursor.lock() else {
            return 0;
        };
        passed.begun = true;
        let mut count = 0;
        loop {
            let guard = reclaim::pin();
            let Some((header, length)) = self.next_turn(passed.last, &guard) else {
                return count;
            };
            passed.last = Some(header.place());
            drop(guard); // `each` may take its time
            each(header.start(), length, &|position| header.number(self, position));
            count += 1;
        }
    }

    /// Whether a bucket in these slots, to which nobody writes any more, still waits for its turn; true
    /// if that cannot be told now. In a window that has never been drained nothing waits.
    pub(super) fn awaits_turn(&self, slots: &Slots) -> bool {
        self.cursor.lock().is_none_or(|passed| {
            passed.begun && self.headers(slots).any(|header| Some(header.place()) > passed.last)
        })
    }

    /// The bucket whose turn it is, held, and its length; `None` if there is none, or none yet.
    fn next_turn(&self, cursor: Option<(u64, u64)>, guard: &Guard) -> Option<(Held<'_>, u64)> {
        let current = self.hold_current();
        // SAFETY: of a header that is current under the guard.
        let generation: &Generation = unsafe { current.generation(guard).deref() };
        // The oldest generation first, and in each the oldest bucket; or behind the cursor, if that has
        // come to the present generation.
        let passed = cursor.filter(|(number, _)| *number == generation.number);
        let older = generation.inherited.iter().rev().filter(|_| passed.is_none());
        let older = older.map(|inherited| (&*inherited.slots, inherited.changes[0].newest));
        for (slots, newest) in older.chain([(&*generation.slots, current.start())]) {
            let geometry = slots.geometry;
            let mut start = geometry.oldest(newest);
            if let Some((_, passed)) = passed {
                start = start.max(passed.saturating_add(geometry.length()).min(newest));
            }
            loop {
                // SAFETY: headers live as long as the window.
                let held = unsafe { slots.held(start) };
                match turn(held.filter(|held| held.start() == start), slots, cursor, &current) {
                    Turn::Ready(header, length) => return Some((header, length)),
                    Turn::NotYet => return None,
                    Turn::Nothing => {}
                }
                if start >= newest {
                    break;
                }
                start += geometry.length();
            }
        }
        None
    }
}

/// Whether it is a header's turn, which was found in its slot.
fn turn<'r>(
    found: Option<Held<'r>>,
    slots: &Slots,
    cursor: Option<(u64, u64)>,
    current: &Held<'_>,
) -> Turn<'r> {
    let Some(header) = found else {
        return Turn::Nothing;
    };
    let passed = cursor.is_some_and(|cursor| header.place() <= cursor);
    if passed || header.place() >= current.place() {
        return Turn::Nothing;
    }
    if header.is_final() {
        let length = slots.geometry.length_at(header.start());
        Turn::Ready(header, length)
    } else {
        Turn::NotYet
    }
}

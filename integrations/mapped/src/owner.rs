//! The slots of the processes that have gauges: how a process takes one, and how a reader tells the
//! living from the dead.
//!
//! A process has the values of its gauges in a slot of its own. It holds the slot by a lock of the
//! kernel, and not by its process id, which means something else in another container. The lock
//! ends with the process, so what a dead process has left stays in its slot until the next process
//! takes that.
//!
//! # Promise
//!
//! A reader takes no lock. It finds the words of one owner, and whether that owner lived: never
//! those of a dead one as those of the living, or the other way. A process that is killed while it
//! takes a slot leaves a slot that can be taken.
//!
//! # Why
//!
//! Each slot has a state: even numbers are the generations of its owners, zero before the first. An
//! odd number says that a process is taking it. [`take`] is run by one process at a time, in this
//! order:
//!
//! 1. Store an odd state.
//! 2. Clear the words.
//! 3. Store the next even state.
//! 4. Lock the slot.
//!
//! [`read`] loads the state, asks for the lock, copies the words, asks again if the lock was free,
//! and loads the state again.
//!
//! * If the state is the same, the words are of its generation. For a word of a later one was
//!   written after the odd state, whose store comes before it by a fence, or by Release; and the
//!   reader's fence lets the second load come after the words.
//! * If the lock was held, and the state is the same, the lock was that of the same generation: the
//!   lock of a later one was taken after its even state was stored, and the kernel's own lock
//!   orders the two for the reader.
//! * If the lock was free both times, the owner was dead, or was not yet past step 4 and had added
//!   nothing: the words are what it has left, or zero.
//!
//! So the lock comes last. If it were taken first, a reader could find it held while the words were
//! still those of the dead: the model has that twin.

use std::sync::atomic::Ordering;

use crate::failpoint::{self, Point};

/// The times that a reader reads a slot again that is taken meanwhile. (Each time a process has
/// died. Only a program that writes nonsense could go on.)
const ATTEMPTS: u32 = 100;

/// A slot that a process takes.
pub(crate) trait Slot {
    type Error;

    fn state(&self, order: Ordering) -> u64;
    fn set_state(&self, state: u64, order: Ordering);
    fn fence(&self, order: Ordering);
    /// Returns the number of words, the first of which is for the process id.
    fn words(&self) -> u32;
    fn set_word(&self, word: u32, value: u64, order: Ordering);
    /// Locks the slot, and returns whether it did: false if another process has the lock.
    fn lock(&self) -> Result<bool, Self::Error>;
}

/// Takes a slot that no process has locked, for a process with this id. Returns false if another
/// program has locked it meanwhile.
///
/// No other process takes a slot at the same time: each has another lock while it does.
pub(crate) fn take<S: Slot>(slot: &S, process: u32) -> Result<bool, S::Error> {
    // Relaxed: the last process that took a slot has given back the lock, by the kernel.
    let taking = slot.state(Ordering::Relaxed) | 1;
    slot.set_state(taking, Ordering::Relaxed);
    failpoint::reach(Point::SlotMarked);
    // Release: pairs with the fence of a reader that has found one of the words below.
    slot.fence(Ordering::Release);
    for word in 1..slot.words() {
        if word == slot.words() / 2 {
            failpoint::reach(Point::SlotHalfCleared);
        }
        slot.set_word(word, 0, Ordering::Relaxed); // after the fence
    }
    slot.set_word(0, process.into(), Ordering::Relaxed); // after the fence
    // A state that is damaged may wrap to zero, which would be no owner.
    let taken = taking.checked_add(1).unwrap_or(2);
    // Release: pairs with the first load of a reader, which finds the words clear.
    slot.set_state(taken, Ordering::Release);
    failpoint::reach(Point::SlotPublished);
    slot.lock()
}

/// A slot that a reader looks at.
pub(crate) trait Seen {
    type Error;

    fn state(&mut self, order: Ordering) -> Result<u64, Self::Error>;
    /// Returns whether a process has the slot's lock.
    fn is_locked(&mut self) -> Result<bool, Self::Error>;
    /// Copies the first words of the slot, each by a Relaxed load.
    fn words(&mut self, into: &mut [u64]) -> Result<(), Self::Error>;
    fn fence(&mut self, order: Ordering);
}

/// The owner of a slot, as a reader has found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// No process has had the slot, or a process is taking it.
    None,
    /// The words of a process that lived.
    Live,
    /// The words that a process has left.
    Dead,
}

/// Reads the first words of a slot. If it is none of an owner, the words have no meaning.
pub(crate) fn read<S: Seen>(slot: &mut S, into: &mut [u64]) -> Result<Found, S::Error> {
    for _ in 0..ATTEMPTS {
        // Acquire: pairs with the last store of the state in `take`.
        let before = slot.state(Ordering::Acquire)?;
        if before == 0 {
            return Ok(Found::None);
        }
        let was_locked = slot.is_locked()?;
        slot.words(into)?;
        let is_locked = was_locked || slot.is_locked()?;
        // Acquire: pairs with the fence in `take`, and with the Release of an owner's changes.
        slot.fence(Ordering::Acquire);
        // Relaxed: after the fence.
        if slot.state(Ordering::Relaxed)? == before {
            let is_taking = before % 2 == 1;
            return Ok(match (is_taking, is_locked) {
                (true, _) => Found::None,
                (false, true) => Found::Live,
                (false, false) => Found::Dead,
            });
        }
    }
    Ok(Found::None)
}

#[cfg(test)]
mod tests;

//! The slot in which this process has the values of its gauges.
//!
//! The process takes it with its first gauge, and keeps it until it ends. A word that the kernel
//! clears in each forked child has the slot's number. So a child writes to no word of its parent:
//! the first time that it uses a gauge, it takes a slot of its own, in which all values are zero.
//! If there is none, its values go into memory that no reader sees, and registering a gauge is an
//! error.

use std::os::fd::BorrowedFd;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::error::MappedError;
use crate::failpoint::{self, Point};
use crate::layout::Shape;
use crate::owner;
use crate::system::claim::claim;
use crate::system::forks::Wiped;
use crate::system::forks::own_file::OwnFile;
use crate::system::lock::{SLOTS, is_locked, lock, try_lock};
use crate::system::mapping::Mapping;
use crate::system::opened::Opened;
use crate::system::read;

/// The pause between two looks at another thread that takes the slot.
const PAUSE: Duration = Duration::from_micros(50);

/// The state of a word in which this process has no slot yet, or in a forked child.
const NO_TOKEN: u64 = 0;

/// The state while a thread takes a slot.
const TAKING: u64 = 1;

/// The number of bits of a token that are the slot's number. The others say which of the slots it
/// is that this process and those that it descends from have had.
const SLOT_BITS: u32 = 16;

/// The number that stands for the memory that no reader sees.
const SPARE: u64 = (1 << SLOT_BITS) - 1;

/// An open file that has slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slots {
    pub(crate) file: &'static Opened,
    pub(crate) path: &'static Path,
    pub(crate) mapping: &'static Mapping,
    pub(crate) shape: Shape,
    /// The time to wait for a lock.
    pub(crate) timeout: Duration,
}

/// This process's slot of a file.
#[derive(Debug)]
pub(crate) struct OwnSlot {
    token: Wiped,
    of: Slots,
    /// The open file whose lock says that this process lives.
    lock_file: &'static OwnFile,
    spare: Box<[AtomicU64]>,
    /// The first gauge's word in slot 0, and the distance of that in the next slot, in words. (A
    /// pointer, because a reference to one word gives no right to the others.)
    first: NonNull<AtomicU64>,
    distance: usize,
}

// SAFETY: it has a pointer to atomics that are mapped for ever.
unsafe impl Send for OwnSlot {}
// SAFETY: as above.
unsafe impl Sync for OwnSlot {}

/// A slot that this process has, or had before it was forked. Two that are equal are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token(u64);

impl OwnSlot {
    /// Makes the slot of a file, which is not taken yet.
    pub(crate) fn new(of: Slots) -> Result<OwnSlot, MappedError> {
        let failed = MappedError::failed("prepare for forks with", of.path);
        let token = Wiped::new(NO_TOKEN).map_err(failed)?;
        let lock_file = OwnFile::new().map_err(failed)?;
        let spare = (0..of.shape.gauges).map(|_| AtomicU64::new(0)).collect();
        let first = of.mapping.word(of.shape.word_place(0, 0));
        let distance = of.shape.slot() as usize / 8;
        Ok(OwnSlot { token, of, lock_file, spare, first, distance })
    }

    /// Takes a slot, if this process has none.
    pub(crate) fn ensure(&self) -> Result<(), MappedError> {
        let begun = Instant::now();
        loop {
            // Acquire: pairs with the Release below, of the thread that has taken the slot.
            let token = self.token.word().load(Ordering::Acquire);
            if token == TAKING {
                let waited = begun.elapsed();
                if waited > self.of.timeout * 2 {
                    // A signal handler has interrupted that thread.
                    return Err(MappedError::LockedTooLong {
                        path: self.of.path.to_owned(),
                        waited,
                    });
                }
                sleep(PAUSE);
            } else if token != NO_TOKEN && token & SPARE != SPARE {
                return Ok(());
            } else if self.exchange(token, TAKING) {
                let slot = self.take();
                let next = slot.as_ref().map_or(token, |slot| of(u64::from(*slot)).0);
                // Release: pairs with the load above and that in `token`.
                self.token.word().store(next, Ordering::Release);
                return slot.map(drop);
            }
        }
    }

    /// Returns the slot that this process has; takes one if it has none.
    #[inline]
    pub(crate) fn token(&self) -> Token {
        match self.has() {
            Some(token) => token,
            None => self.token_again(),
        }
    }

    /// Returns the slot that this process has, if it has one.
    #[inline]
    pub(crate) fn has(&self) -> Option<Token> {
        // Acquire: pairs with the Release in `ensure`. So an owner's change comes after its state.
        let token = self.token.word().load(Ordering::Acquire);
        (token > TAKING).then_some(Token(token))
    }

    /// Returns the word of a gauge in a slot.
    ///
    /// # Safety
    /// The word is less than the file's number of gauges.
    #[inline]
    pub(crate) unsafe fn word(&self, token: Token, word: u32) -> &AtomicU64 {
        debug_assert!(word < self.of.shape.gauges);
        let (first, distance) = match token.0 & SPARE {
            SPARE => (self.spare.as_ptr(), 0),
            slot => (self.first.as_ptr().cast_const(), slot as usize * self.distance),
        };
        // SAFETY: by the contract, and because a token has the number of a slot of the file: the
        // mapping has all words of all slots, for ever.
        unsafe { &*first.add(distance + word as usize) }
    }

    #[cold]
    #[inline(never)]
    fn token_again(&self) -> Token {
        if self.ensure().is_err() && self.exchange(NO_TOKEN, TAKING) {
            for word in &self.spare {
                word.store(0, Ordering::Relaxed); // it may be the parent's; published below
            }
            // Release: as in `ensure`.
            self.token.word().store(of(SPARE).0, Ordering::Release);
        }
        // Another thread may be trying again, or have been interrupted by this signal handler.
        self.has().unwrap_or(Token(SPARE))
    }

    fn exchange(&self, from: u64, to: u64) -> bool {
        // Acquire: the thread that was here before has left the open file to this one.
        let (order, failed) = (Ordering::Acquire, Ordering::Relaxed);
        self.token.word().compare_exchange(from, to, order, failed).is_ok()
    }

    /// Takes a slot of the file. One thread of this process at a time does.
    fn take(&self) -> Result<u32, MappedError> {
        let Slots { file, path, shape, timeout, .. } = self.of;
        let open = self.lock_file.open_again(file, path)?;
        let _taking = lock(open, SLOTS, path, timeout)?;
        for slot in self.candidates()? {
            let place = shape.state_place(slot);
            if is_locked(open, place, path)? {
                continue;
            }
            claim(file.get(path)?, path, place, 8)?;
            claim(file.get(path)?, path, shape.slot_place(slot), shape.slot())?;
            if owner::take(&Mapped { of: self.of, slot, open }, std::process::id())? {
                failpoint::reach(Point::SlotLocked);
                return Ok(slot);
            }
        }
        Err(MappedError::OwnersFull { path: path.to_owned(), owners: shape.owners })
    }

    /// Returns all slots: first those in which an owner has left nothing, then those that had no
    /// owner. The others come last, so that readers can see for long what the dead have left.
    fn candidates(&self) -> Result<Vec<u32>, MappedError> {
        let Slots { file, path, shape, .. } = self.of;
        let words_at = |place, words: u32| {
            let mut bytes = vec![0; words as usize * 8];
            read::exactly(file.get(path)?, path, place, &mut bytes)?;
            Ok::<_, MappedError>(bytes)
        };
        let states = words_at(shape.state_place(0), shape.owners)?;
        let slots = words_at(shape.slot_place(0), shape.owners * (shape.gauges + 1))?;
        let rank = |slot: &u32| {
            let (at, bytes) = (*slot as usize, shape.slot() as usize);
            let words = &slots[at * bytes..][..bytes];
            if states[at * 8..at * 8 + 8] == [0; 8] {
                1
            } else if words[8..].iter().all(|byte| *byte == 0) {
                0
            } else {
                2
            }
        };
        let mut all: Vec<u32> = (0..shape.owners).collect();
        all.sort_by_cached_key(rank);
        Ok(all)
    }
}

/// Makes a token that this process has not had, nor any that it descends from.
fn of(slot: u64) -> Token {
    /// A forked child goes on from its parent's number.
    static LAST: AtomicU64 = AtomicU64::new(0);
    let number = LAST.fetch_add(1, Ordering::Relaxed) + 1; // only a number
    Token(number << SLOT_BITS | slot)
}

/// A slot in the mapping.
struct Mapped<'o> {
    of: Slots,
    slot: u32,
    open: BorrowedFd<'o>,
}

impl owner::Slot for Mapped<'_> {
    type Error = MappedError;

    fn state(&self, order: Ordering) -> u64 {
        self.of.mapping.at(self.of.shape.state_place(self.slot)).load(order)
    }

    fn set_state(&self, state: u64, order: Ordering) {
        self.of.mapping.at(self.of.shape.state_place(self.slot)).store(state, order);
    }

    fn fence(&self, order: Ordering) {
        fence(order);
    }

    fn words(&self) -> u32 {
        self.of.shape.gauges + 1
    }

    fn set_word(&self, word: u32, value: u64, order: Ordering) {
        let place = self.of.shape.slot_place(self.slot) + u64::from(word) * 8;
        self.of.mapping.at(place).store(value, order);
    }

    fn lock(&self) -> Result<bool, MappedError> {
        try_lock(self.open, self.of.shape.state_place(self.slot), self.of.path)
    }
}

#[cfg(test)]
mod tests;

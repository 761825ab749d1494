//! The memory of one exemplar, which all threads may write and read at any time.
//!
//! # Theorem
//!
//! 1. A read returns words that one write has written, or nothing.
//! 2. A write and a read take a bounded number of steps, whatever other threads do. A write is lost
//!    only if another thread was in the middle of a write of this slot.
//! 3. A read that begins when a write has returned finds that write or a later one, unless others
//!    are being made.
//!
//! # Why
//!
//! ```text
//!    writer:  version 2k -> 2k + 1       words             version = 2k + 2
//!             exchange, Acquire          stores, Release    store, Release
//!
//!    reader:  version?                   words?            version?
//!             load, Acquire: 2k          loads, Acquire    load, Relaxed: still 2k
//! ```
//!
//! The exchange lets one thread at a time write: a thread that finds the version odd, or changed,
//! gives up (2). Let a reader find the version 2k before and after. It has acquired the write that
//! ended with 2k, so each word is of that write or of a later one. If one was of a later one, the
//! reader would have acquired that word, and with it the odd version that the writer had left
//! before: the second look would not find 2k. So all words are of the write that ended with 2k (1).
//! The exchange acquires the write before it, so the words of two writes have the same order in
//! each word, and the last write is whole.
//!
//! A thread that is interrupted in the middle of a write keeps the slot until it goes on. If the
//! process forks meanwhile, the slot stays empty in the child, which does not have that thread.

use std::array;

use crate::sync::{AtomicU64, Ordering, sized, spin_loop};

/// The attempts of a read that writers overtake.
const ATTEMPTS: usize = sized(8, 2);

/// An exemplar in words: value, time, and ids.
pub(super) type Words = [u64; 5];

/// A slot takes a line of memory, which one core writes.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Slot {
    /// Even, and one more for each beginning and end of a write; zero before the first.
    version: AtomicU64,
    words: [AtomicU64; size_of::<Words>() / 8],
}

impl Slot {
    #[inline]
    pub(super) fn new() -> Slot {
        Slot { version: AtomicU64::new(0), words: array::from_fn(|_| AtomicU64::new(0)) }
    }

    /// Writes an exemplar, unless another thread is writing one.
    #[inline]
    pub(super) fn write(&self, words: Words) {
        // Relaxed: the exchange checks it.
        let version = self.version.load(Ordering::Relaxed);
        // Acquire: pairs with the Release at the end of the write before. So its words are older
        // than these. On failure another thread is writing, or has written, a newer one.
        let (order, failed) = (Ordering::Acquire, Ordering::Relaxed);
        let is_free = version.is_multiple_of(2);
        if !is_free || self.version.compare_exchange(version, version + 1, order, failed).is_err() {
            return;
        }
        for (word, new) in self.words.iter().zip(words) {
            // Release: pairs with the Acquire in `read`. A reader of this word finds the version
            // odd, or changed.
            word.store(new, Ordering::Release);
        }
        // Release: pairs with the Acquire of the exchange, and of the first load in `read`.
        self.version.store(version + 2, Ordering::Release);
    }

    /// Returns the last exemplar; `None` if there is none, or if writers were in the way each time.
    #[inline]
    pub(super) fn read(&self) -> Option<Words> {
        for _ in 0..ATTEMPTS {
            // Acquire: pairs with the Release at the end of `write`: its words are found, or those
            // of a later write.
            let version = self.version.load(Ordering::Acquire);
            if version == 0 {
                return None;
            }
            // Acquire: pairs with the Release of the word in `write`: see above.
            let words = array::from_fn(|at| self.words[at].load(Ordering::Acquire));
            // Relaxed: the loads before it keep it behind them.
            if version.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == version {
                return Some(words);
            }
            spin_loop();
        }
        None
    }
}

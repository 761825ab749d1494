//! One lease: permits that may be used until an end. One word is spent by all threads.
//!
//! # Theorem
//!
//! Each permit of a lease is taken once, before the end of its own lease, or is part of the rest
//! that [`end`](Lease::end) returns.
//!
//! # Why
//!
//! ```text
//!   word   [ number of the lease | permits left ]       an odd number: no lease
//!
//!   take       w -> w - n      if the end that was read after w is not reached
//!   put back   w -> w + n      if the end that was read after w is that of the permits
//!   end        w -> [ odd | 0 ]                         returns what was left
//!   begin      the end;  then  w -> [ next even | n ]
//! ```
//!
//! A number comes once in 2^31 leases. So if an exchange finds the word that it has read, no lease
//! was ended or begun in between. The end is written only between the two, while the number is odd:
//! a thread that reads a later end than its word's has seen (Acquire, Release) that the word was
//! ended, and its exchange fails. One that reads an earlier end than its word's there is not: the
//! word was published after it.

use crate::sync::{AtomicU64, Ordering};

/// The bits for permits.
const BITS: u32 = 32;
/// The largest number of permits of a lease.
pub(crate) const MAX_PERMITS: u64 = (1 << BITS) - 1;

/// Permits that may be used until an end.
#[derive(Debug)]
pub(super) struct Lease {
    word: AtomicU64,
    end: AtomicU64,
}

impl Lease {
    pub(super) fn none() -> Lease {
        Lease { word: AtomicU64::new(1 << BITS), end: AtomicU64::new(0) }
    }

    /// Takes `n` permits at `now`. Returns the end of the lease, by which they can be put back.
    #[inline]
    pub(super) fn take(&self, now: u64, n: u64) -> Option<u64> {
        // Acquire, here and below: pairs with the Release in `begin`, so that the end is this
        // word's or a later one.
        let mut word = self.word.load(Ordering::Acquire);
        loop {
            if word & MAX_PERMITS < n {
                return None;
            }
            // Acquire: pairs with the Release of the end. If it is a later one, the exchange fails.
            let end = self.end.load(Ordering::Acquire);
            if now >= end {
                return None;
            }
            // Relaxed: permits are numbers, and publish nothing.
            let (order, failed) = (Ordering::Relaxed, Ordering::Acquire);
            match self.word.compare_exchange_weak(word, word - n, order, failed) {
                Ok(_) => return Some(end),
                Err(found) => word = found,
            }
        }
    }

    /// Takes up to `most` permits, but at least `least`. Returns their number and the end.
    pub(super) fn take_some(
        &self,
        now: u64,
        least: u64,
        most: impl Fn(u64) -> u64,
    ) -> Option<(u64, u64)> {
        loop {
            // Relaxed, both loads: hints, which `take` reads again. None is older than what that
            // has read, by coherence, so the loop ends.
            let left = self.word.load(Ordering::Relaxed) & MAX_PERMITS;
            if left < least {
                return None;
            }
            let n = most(left).clamp(least, left);
            match self.take(now, n) {
                Some(end) => return Some((n, end)),
                None if now >= self.end.load(Ordering::Relaxed) => return None,
                None => {}
            }
        }
    }

    /// Puts permits back that were taken from the lease with this end. Returns false, without an
    /// effect, if it was ended.
    pub(super) fn put_back(&self, end: u64, n: u64) -> bool {
        let mut word = self.word.load(Ordering::Acquire); // as in `take`
        loop {
            let is_open = (word >> BITS).is_multiple_of(2);
            let is_same = self.end.load(Ordering::Acquire) == end; // as in `take`
            if !is_open || !is_same || (word & MAX_PERMITS) + n > MAX_PERMITS {
                return false;
            }
            let (order, failed) = (Ordering::Relaxed, Ordering::Acquire); // as in `take`
            match self.word.compare_exchange_weak(word, word + n, order, failed) {
                Ok(_) => return true,
                Err(found) => word = found,
            }
        }
    }

    /// Ends the lease, and returns what was left of it. No other thread may end or begin it at the
    /// same time.
    pub(super) fn end(&self) -> u64 {
        let word = self.word.load(Ordering::Relaxed); // the number: only this thread changes it
        let odd = ((word >> BITS) | 1) << BITS;
        // Relaxed: `begin` orders the end after it.
        self.word.swap(odd, Ordering::Relaxed) & MAX_PERMITS
    }

    /// Begins the next lease, of at most [`MAX_PERMITS`], after [`end`](Self::end).
    pub(super) fn begin(&self, end: u64, granted: u64) {
        let odd = self.word.load(Ordering::Relaxed) >> BITS; // only this thread changes it
        // Release: pairs with the loads of the end. A thread that reads it sees the word ended.
        self.end.store(end, Ordering::Release);
        // Release: pairs with the loads of the word. A thread that reads it sees the end.
        let next = odd.wrapping_add(1) << BITS;
        self.word.store(next | granted, Ordering::Release);
    }

    /// Returns the number of permits left, and their end.
    pub(super) fn left(&self) -> (u64, u64) {
        let left = self.word.load(Ordering::Acquire) & MAX_PERMITS; // as in `take`
        (left, self.end.load(Ordering::Relaxed)) // Relaxed: nothing is read behind it
    }
}

//! The lock of a shard: one word, taken by one exchange and given back by one store.
//!
//! # Theorem
//!
//! 1. At each moment at most one [`Guard`] of a lock exists.
//! 2. What a thread does under a lock happens before what the next holder does under it.
//! 3. A guard that is dropped frees the lock, also where a panic drops it. No thread is ever told
//!    of such a panic: what a shard holds is sound at each place where a comparison of keys may
//!    panic (see `summary`).
//!
//! # Why
//!
//! The word is one while there is a guard. Only [`Lock::try_lock`] makes it one, and makes a guard
//! only if its exchange finds zero: 1. The drop of a guard stores zero with Release, and the
//! exchange that finds this has Acquire: 2.
//!
//! # Why not std's
//!
//! An add of a held key spends some five nanoseconds under the lock, so the way in and out counts.
//! std's mutex asks twice whether the thread panics, and gives itself back by a second exchange, to
//! learn whether a thread sleeps until it is woken. Nothing here is woken: a thread that waits
//! looks again by itself. It spins, then yields, then sleeps a twentieth of a millisecond at a
//! time. An add waits only where each shard is locked. A read waits for one add; it sleeps only
//! where the system has taken the core from that add, which lasts longer than such a sleep.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
#[cfg(not(any(loom, shuttle)))]
use std::time::Duration;

use crate::sync::{AtomicU64, Ordering, Witness, overwrite};

/// The looks of a waiting thread that only spin, and those behind them that yield.
#[cfg(not(any(loom, shuttle)))]
const LOOKS: (u32, u32) = (100, 10);

/// The time for which a thread sleeps between two looks then.
#[cfg(not(any(loom, shuttle)))]
const SLEEP: Duration = Duration::from_micros(50);

/// A value that one thread at a time has access to.
pub(super) struct Lock<T> {
    /// One while a thread has the lock, otherwise zero.
    word: AtomicU64,
    witness: Witness,
    value: UnsafeCell<T>,
}

// SAFETY: a value is used by the thread that has the one guard. It goes from thread to thread, so
// it must be `Send`.
unsafe impl<T: Send> Sync for Lock<T> {}

/// Access to a lock's value, until it is dropped.
pub(super) struct Guard<'l, T> {
    lock: &'l Lock<T>,
}

// A panic under the lock leaves the value sound: see the theorem.
impl<T> UnwindSafe for Lock<T> {}
impl<T> RefUnwindSafe for Lock<T> {}

// SAFETY: a shared guard gives out shared references to the value, and nothing else. (The compiler
// would ask for less: for a lock that can be shared.)
unsafe impl<T: Sync> Sync for Guard<'_, T> {}

impl<T> Lock<T> {
    /// Returns a lock that no thread has.
    pub(super) fn new(value: T) -> Lock<T> {
        Lock { word: AtomicU64::new(0), witness: Witness::new(), value: UnsafeCell::new(value) }
    }

    /// Takes the lock if no thread has it.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as `HeavyKeys::add`
    pub(super) fn try_lock(&self) -> Option<Guard<'_, T>> {
        // Acquire: pairs with the Release in `Guard::drop`, so that this thread sees what was done
        // under the lock.
        if self.word.swap(1, Ordering::Acquire) != 0 {
            return None;
        }
        self.witness.renew();
        Some(Guard { lock: self })
    }

    /// Takes the lock, and waits while another thread has it.
    #[inline]
    pub(super) fn lock(&self) -> Guard<'_, T> {
        self.try_lock().unwrap_or_else(|| self.wait())
    }

    #[cold]
    fn wait(&self) -> Guard<'_, T> {
        let mut looks = 0;
        loop {
            pause(looks);
            looks = looks.saturating_add(1);
            // Relaxed: the exchange behind it decides.
            if self.word.load(Ordering::Relaxed) == 0
                && let Some(guard) = self.try_lock()
            {
                return guard;
            }
        }
    }
}

/// Lets time pass before a waiting thread looks again, the more the more often it has looked.
#[cfg(not(any(loom, shuttle)))]
#[inline]
fn pause(looks: u32) {
    let (spins, yields) = LOOKS;
    if looks < spins {
        crate::sync::spin_loop();
    } else if looks < spins + yields {
        crate::sync::yield_now();
    } else {
        std::thread::sleep(SLEEP);
    }
}

/// Lets the other threads of a model run.
#[cfg(any(loom, shuttle))]
fn pause(_looks: u32) {
    crate::sync::yield_now();
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: there is one guard, and it lends the value as itself is lent.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.lock.witness.renew();
        // Release: pairs with the Acquire in `try_lock`, so that the next holder sees what this one
        // has done.
        overwrite(&self.lock.word, 0, Ordering::Release);
    }
}

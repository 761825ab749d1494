//! Where a barrier interrupts a thread, in a model.
//!
//! Loom has no barrier of all processors. What one does to a thread is exact, though: it puts a
//! full fence at the one place of the thread's program where that happens to be. So each thread has
//! a lock. It holds the lock for each of the steps whose order the barrier is for; a barrier takes
//! and releases the lock of each thread. Then what the thread did before comes before the end of
//! the barrier, and what was done before the barrier comes before what the thread does next.
//! Nothing else is ordered: no thread takes the lock of another but in a barrier. (What is not
//! under the lock is ordered less than by a real barrier.)

use std::sync::atomic::AtomicUsize as Unseen;

use crate::sync::{Mutex, Ordering, global, thread_number};

/// More threads than any model has.
const THREADS: usize = if cfg!(loom) { 4 } else { 16 };

struct Places {
    locks: [Mutex<()>; THREADS],
    /// How many threads have come by, and one more. Not a step of the model: which thread has which
    /// lock makes no difference.
    threads: Unseen,
}

global! {
    fn places() -> Places = Places {
        locks: std::array::from_fn(|_| Mutex::new(())),
        threads: Unseen::new(1),
    };
}

thread_number! {
    /// The number of the thread's lock, and one more; zero: the thread has not come by yet.
    MINE
}

/// The thread comes by a place: it can be interrupted before, and again when what this returns is
/// dropped.
pub(super) fn enter() -> impl Sized {
    let number = MINE.with(|mine| {
        if mine.get() == 0 {
            mine.set(places().threads.fetch_add(1, Ordering::Relaxed));
        }
        mine.get() - 1
    });
    assert!(number < THREADS, "more threads than places");
    places().locks[number].lock().unwrap()
}

/// Interrupts every thread: a barrier.
pub(crate) fn interrupt() {
    for lock in &places().locks {
        drop(lock.lock().unwrap());
    }
}

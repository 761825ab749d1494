//! The points at which a barrier interrupts a thread, in a model.
//!
//! Loom has no barrier of all processors. But the effect of one on a thread is well defined: it
//! puts a full fence at the point of the thread's program that it has reached. So each thread has a
//! lock. It holds the lock for each of the steps that the barrier must order; a barrier takes and
//! releases the lock of each thread. Then the thread's earlier steps come before the end of the
//! barrier, and everything before the barrier comes before the thread's next step. No other order
//! arises, because a thread takes the lock of another only in a barrier. (Steps outside of the lock
//! are ordered less than by a real barrier.)

use std::sync::atomic::AtomicUsize as Unseen;

use crate::sync::{Mutex, Ordering, global, thread_number};

/// More threads than any model has.
const THREADS: usize = if cfg!(loom) { 4 } else { 16 };

struct Threads {
    locks: [Mutex<()>; THREADS],
    /// The number of threads that have entered, plus 1. It is not a step of the model, because the
    /// assignment of locks to threads makes no difference.
    threads: Unseen,
}

global! {
    fn threads() -> Threads = Threads {
        locks: std::array::from_fn(|_| Mutex::new(())),
        threads: Unseen::new(1),
    };
}

thread_number! {
    /// The number of the thread's lock, plus 1; zero if the thread has not entered yet.
    MINE
}

/// Enters a step: the thread can be interrupted before it, and again after the result is dropped.
pub(super) fn enter() -> impl Sized {
    let number = MINE.with(|mine| {
        if mine.get() == 0 {
            mine.set(threads().threads.fetch_add(1, Ordering::Relaxed));
        }
        mine.get() - 1
    });
    assert!(number < THREADS, "more threads than locks");
    threads().locks[number].lock().unwrap()
}

/// Executes a barrier: interrupts every thread.
pub(crate) fn interrupt() {
    for lock in &threads().locks {
        drop(lock.lock().unwrap());
    }
}

//! Real threads: a model is tried again and again, on the cores that there are.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

pub use std::{sync, thread_local};

use super::Explored;
use crate::progress::{Progress, number};

/// The number of trials of a model without `WINDROW_TRIALS`.
const TRIALS: usize = 100;

/// The longest pause of a [`turn`], in rounds of an empty loop: about as long as a rotation takes.
const PAUSE: u64 = 2_000;

/// Threads that begin together.
pub mod thread {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    pub use std::thread::{JoinHandle, yield_now};

    /// Starts a thread, and returns when it runs: one that is still being started meets no other.
    pub fn spawn<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> JoinHandle<R> {
        let runs = Arc::new(AtomicBool::new(false));
        let handle = std::thread::spawn({
            let runs = Arc::clone(&runs);
            move || {
                runs.store(true, Ordering::Relaxed); // tells nothing but that it runs
                body()
            }
        });
        while !runs.load(Ordering::Relaxed) {
            yield_now();
        }
        handle
    }
}

std::thread_local! {
    static RANDOM: Cell<u64> = Cell::new(seed());
}

/// Another number for each thread.
fn seed() -> u64 {
    static THREADS: AtomicU64 = AtomicU64::new(0);
    let thread = THREADS.fetch_add(1, Ordering::Relaxed) + 1;
    thread.wrapping_mul(0x9e37_79b9_7f4a_7c15) // not zero; neighbours have little in common
}

/// Returns a random number.
#[must_use]
pub fn random() -> u64 {
    RANDOM.with(|state| {
        let mut x = state.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        state.set(x);
        x
    })
}

/// Stands before each call whose order against other threads' calls matters: pauses for a random
/// time, so that they come in another order each time.
pub fn turn() {
    for _ in 0..random() % PAUSE {
        std::hint::spin_loop();
    }
}

/// Tries a model.
pub(crate) fn run(
    name: &str,
    _preemptions: Option<usize>,
    body: impl Fn() + Send + Sync + 'static,
) -> Explored {
    let trials = number("WINDROW_TRIALS", TRIALS);
    let progress = Progress::begin(name, trials);
    for _ in 0..trials {
        progress.count().note();
        body();
    }
    Explored { executions: trials, orders: "as they came".to_owned() }
}
